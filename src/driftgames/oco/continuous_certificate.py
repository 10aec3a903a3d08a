"""The certificate of online convex optimization: what chips keep of Theorem 6."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from driftgames.certificates import Certificate
from driftgames.certificates.bounds import theorem_2, theorem_6
from driftgames.core.checks import check_integer, check_kind
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.potentials import NoBoundError, Potential

_EPSILONS = 200
_MEASURED = " (known after the run: it holds how far the chips are from there)"


@dataclass(frozen=True)
class ContinuousCertificate(Displayed):
    r"""What a run on a convex set achieved beside what its chips promise. [LS14, Thm. 6]

    .. math:: L - F(x^*) \ \le\ \min_\epsilon\ R_\epsilon + F(x_\epsilon) - F(x^*)

    L is the loss of the learner and F the total loss of a point. Theorem 2 promises the
    epsilon-regret :math:`R_\epsilon` to any number of chips. The second part is measured: how far
    the chip at that epsilon is behind the best point of the set. So with fixed chips the right side
    is known after the run alone, and it is no promise in advance. Theorem 6 replaces the second
    part by :math:`T\epsilon^{1/d}`. That is true of the whole integral and not of a number of
    chips: in many dimensions no chip is near the best point. Walkers are drawn from the whole set,
    so their bound is that of Theorem 6, and a sampling error may break it.

    If some losses were Python functions, the best point of the set is not known. The certificate
    is then about the chips alone, and says nothing of Theorem 6.

    Parameters
    ----------
    quantiles : Certificate
        The epsilon-regret, to the best chip outside the best epsilon of the chips, beside its
        bound, for every epsilon.
    regret : float
        The regret to the best point of the set, or a bound on it where the search for that
        point left a gap. Where the losses were functions, the regret to the best chip.
    promised : float
        The bound on that regret; with fixed chips part of it is measured after the run.
    theorem_6 : float
        The bound of Theorem 6, for the whole integral, at the best epsilon.
    dimension : int
        The dimension of the set.
    over_the_set : bool
        Whether ``regret`` is to the best point of the set.
    integral : bool
        Whether the chips represent the whole integral, so that ``promised`` is known in advance.
    """

    quantiles: Certificate
    regret: float
    promised: float
    theorem_6: float
    dimension: int
    over_the_set: bool
    integral: bool = False

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
        *,
        lowest: float,
        over_the_set: bool,
        integral: bool = False,
    ) -> ContinuousCertificate:
        """Return the certificate of a run from its positions; losses span ``width``.

        ``lowest`` is the lowest position: of the set if ``over_the_set``, else of the chips.
        ``integral`` says that the chips represent the whole integral.
        """
        quantiles = Certificate.of_run(
            title,
            horizon,
            positions * width,
            0.0,
            lambda rounds, epsilons: theorem_2(potential, rounds, epsilons) * width,
            prior=prior,
        )
        whole = best_epsilon(potential, horizon, dimension)[1] * width
        regret = max(float(quantiles.realised.max()), -lowest * width)
        promised = whole if integral else float((quantiles.slack + regret).min())
        return cls(quantiles, regret, promised, whole, dimension, over_the_set, integral)

    @property
    def holds(self) -> bool:
        """Whether both promises were kept; the rounding of the quantiles is allowed for."""
        return self.quantiles.holds and self.regret <= self.promised + self.quantiles.rounding

    @property
    def keeps_theorem_6(self) -> bool | None:
        """Whether the regret is also below what Theorem 6 promises of the whole integral.

        None if the best point of the set is not known, because losses were functions.
        """
        if not self.over_the_set:
            return None
        return self.regret <= self.theorem_6 + self.quantiles.rounding

    def _columns(self) -> Fields:
        return self.quantiles._columns()

    def _preview(self) -> Fields:
        return self.quantiles._preview()

    def _sketch(self) -> Sketch | None:
        return self.quantiles._sketch()

    def __str__(self) -> str:
        to = "point of the set" if self.over_the_set else "chip"
        advance = "" if self.integral or math.isinf(self.promised) else _MEASURED
        kept = {
            True: "kept",
            False: "NOT KEPT by these chips",
            None: "not checked: losses were functions, so the best point of the set is not known",
        }[self.keeps_theorem_6]
        return (
            f"{self.quantiles}\n"
            f"regret to the best {to}: {self.regret:.3f}, at most {self.promised:.3f}{advance}\n"
            f"Theorem 6 for the whole integral in dimension {self.dimension}: "
            f"{self.theorem_6:.3f}, {kept}"
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the epsilon-regret and its bound over epsilon."""
        return self.quantiles.plot(ax)


def best_epsilon(potential: Potential, horizon: int, dimension: int) -> tuple[float, float]:
    r"""Return the epsilon for which the regret bound of Theorem 6 is lowest, and that bound.

    Epsilons from 1 down to about :math:`T^{-d}` are tried. The bound is infinite if the
    potential has none. [LS14, Thm. 6]

    >>> from driftgames.potentials import NormalHedgeDT
    >>> epsilon, bound = best_epsilon(NormalHedgeDT(), 1000, dimension=2)
    >>> round(bound, 1)
    189.8
    """
    check_kind("potential", potential, Potential)
    check_integer("horizon", horizon, least=1)
    check_integer("dimension", dimension, least=1)
    lowest = max(-dimension * (math.log(horizon) + 1.0), -690.0)  # e**-690 is still a float
    epsilons = np.exp(np.linspace(0.0, lowest, _EPSILONS))
    try:
        bounds = theorem_6(potential, horizon, epsilons, dimension)
    except NoBoundError:
        return 1.0, math.inf
    best = int(np.argmin(bounds))
    return float(epsilons[best]), float(bounds[best])
