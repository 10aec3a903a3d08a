"""Coverage of intervals beside its target, and what is promised of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames.certificates.certificate import Comparable
from driftgames.core.typing import FloatArray


@dataclass(frozen=True, eq=False)
class CoverageCertificate(Comparable):
    """How far shares of misses are from their target, beside the bounds.

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        How many rounds it ran.
    target, coverage : float
        The wanted share of covered outcomes, and that of the intervals that were played.
    names : tuple of str
        What each line is about: a step size, or a step size that is drawn in every round.
    realised, promised : array
        The distance of the line's share of misses from its target, and the bound on it.
    """

    title: str
    horizon: int
    target: float
    coverage: float
    names: tuple[str, ...]
    realised: FloatArray
    promised: FloatArray

    @property
    def error(self) -> float:
        """The coverage of the played intervals less the target."""
        return self.coverage - self.target

    @property
    def holds(self) -> bool:
        """Whether every line is below its bound, up to rounding."""
        rounding = self.horizon * 2.0**-50 * (1.0 + self.promised)
        return bool(np.all(self.realised <= self.promised + rounding))

    def __str__(self) -> str:
        verdict = "every bound holds" if self.holds else "A BOUND IS BROKEN"
        width = max(map(len, self.names))
        lines = [
            f"{self.title} after {self.horizon:,} rounds: {verdict}",
            f"coverage {self.coverage:.4f}, target {self.target:.4f}",
            f"{'misses less target':{width}}  realised  promised",
        ]
        lines += [
            f"{name:{width}}  {found:8.4f}  {bound:8.4f}"
            for name, found, bound in zip(self.names, self.realised, self.promised, strict=True)
        ]
        return "\n".join(lines)
