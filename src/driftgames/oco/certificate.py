"""The certificate of online convex optimization: both promises of Theorem 6."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftgames._support.checks import FloatArray
from driftgames.certificates import Certificate
from driftgames.certificates.bounds import theorem_6
from driftgames.potentials import NoBoundError, Potential

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EPSILONS = 200


@dataclass(frozen=True)
class ContinuousCertificate:
    """What a run on a convex set achieved beside Theorem 6. [LS14, Thm. 6]

    Parameters
    ----------
    quantiles : Certificate
        The epsilon-regret, to the best point outside the best epsilon of the volume, beside
        its bound, for every epsilon.
    regret : float
        The regret to the best chip. The best point of the set may be a little better than
        that: by no more than the losses change between it and its nearest chip.
    promised : float
        The bound on the regret to the best point.
    epsilon : float
        The epsilon for which that bound is lowest.
    dimension : int
        The dimension of the set.
    """

    quantiles: Certificate
    regret: float
    promised: float
    epsilon: float
    dimension: int

    @classmethod
    def of_run(
        cls,
        title: str,
        horizon: int,
        positions: FloatArray,
        prior: FloatArray | None,
        potential: Potential,
        dimension: int,
        width: float,
    ) -> ContinuousCertificate:
        """Return the certificate of a run from its positions; losses span ``width``."""
        quantiles = Certificate.of_run(
            title,
            horizon,
            positions * width,
            0.0,
            lambda rounds, epsilons: potential.bound(rounds, epsilons) * width,
            prior=prior,
        )
        epsilon, promised = best_epsilon(potential, horizon, dimension)
        regret = float(quantiles.realised.max())
        return cls(quantiles, regret, promised * width, epsilon, dimension)

    @property
    def holds(self) -> bool:
        """Whether both promises were kept."""
        return self.quantiles.holds and self.regret <= self.promised

    def __str__(self) -> str:
        return (
            f"{self.quantiles}\nregret {self.regret:.3f}, at most {self.promised:.3f} in "
            f"dimension {self.dimension} (epsilon {self.epsilon:.3g})"
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the epsilon-regret and its bound over epsilon."""
        return self.quantiles.plot(ax)


def best_epsilon(potential: Potential, horizon: int, dimension: int) -> tuple[float, float]:
    r"""Return the epsilon for which the regret bound of Theorem 6 is lowest, and that bound.

    Epsilons from 1 down to about :math:`T^{-d}` are tried. Where nothing is promised the bound
    is infinite. [LS14, Thm. 6]

    >>> from driftgames.potentials import NormalHedgeDT
    >>> epsilon, bound = best_epsilon(NormalHedgeDT(), 1000, dimension=2)
    >>> round(bound, 1)
    189.8
    """
    lowest = max(-dimension * (math.log(horizon) + 1.0), -690.0)  # e**-690 is still a float
    epsilons = np.exp(np.linspace(0.0, lowest, _EPSILONS))
    try:
        bounds = theorem_6(potential, horizon, epsilons, dimension)
    except NoBoundError:
        return 1.0, math.inf
    best = int(np.argmin(bounds))
    return float(epsilons[best]), float(bounds[best])
