"""Mistakes of an online booster beside what is promised of them."""

from __future__ import annotations

from dataclasses import dataclass

from driftgames.certificates.certificate import Comparable
from driftgames.core.typing import FloatArray


@dataclass(frozen=True, eq=False)
class MistakeCertificate(Comparable):
    """The number of mistakes on a stream beside its bound, which follows from realised edges.

    Parameters
    ----------
    title : str
        What was run.
    horizon : int
        The number of examples.
    realised, promised : float
        The number of mistakes, and the bound on it.
    edges : array
        The edge of each weak learner over chance, under the weights that it was given.
    caveat : str
        How mistakes are counted.

    Examples
    --------
    >>> import numpy as np
    >>> print(MistakeCertificate("Online BBM", 200, 31, 52.5, np.array([0.2, 0.1])))
    Online BBM after 200 examples: the bound holds
    31.0 mistakes, at most 52.5 promised; edges from 0.1000 to 0.2000
    """

    title: str
    horizon: int
    realised: float
    promised: float
    edges: FloatArray
    caveat: str = ""

    @property
    def holds(self) -> bool:
        """Whether there are no more mistakes than promised, up to rounding."""
        rounding = self.horizon * 2.0**-50 * (1.0 + self.promised)
        return bool(self.realised <= self.promised + rounding)

    def __str__(self) -> str:
        verdict = "the bound holds" if self.holds else "THE BOUND IS BROKEN"
        note = f" ({self.caveat})" if self.caveat else ""
        return (
            f"{self.title} after {self.horizon:,} examples: {verdict}{note}\n"
            f"{self.realised:,.1f} mistakes, at most {self.promised:,.1f} promised; "
            f"edges from {self.edges.min():.4f} to {self.edges.max():.4f}"
        )
