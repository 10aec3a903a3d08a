"""A run whose regret to the best action is known over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames.certificates.certificate import Bound, Certificate
from driftgames.core.display import Fields
from driftgames.core.run import Run
from driftgames.core.typing import Axes, Figure, FloatArray, IntArray
from driftgames.potentials import NoBoundError


@dataclass(frozen=True, eq=False, kw_only=True)
class RegretRun(Run[Certificate]):
    """The rounds that one call of `run` played, with the regret over time beside its bound.

    Parameters
    ----------
    checkpoints : array of int, shape (C,)
        The rounds after which the regret is known; the last is the last of the run.
    bound : callable
        ``bound(horizon, epsilon)`` of the learner.
    smallest_epsilon : float
        The epsilon at which the bound covers the regret to the best action.
    """

    checkpoints: IntArray
    bound: Bound
    smallest_epsilon: float

    _bound_name: ClassVar[str] = "bound"

    if TYPE_CHECKING:  # a field of some runs, and computed by others

        @property
        def regret_over_time(self) -> npt.NDArray[np.floating[Any]]:
            """After each checkpoint, the learner's loss less that of the best action so far."""

    @property
    def promised_over_time(self) -> FloatArray:
        """The bound on `regret_over_time`; infinite where nothing is promised."""
        return promised_at(self.bound, self.checkpoints, self.smallest_epsilon)

    @property
    def regret(self) -> float:
        """The regret to the best action after the last round."""
        return _last(self.regret_over_time)

    @property
    def promised(self) -> float:
        """The bound on `regret`; infinite if nothing is promised."""
        return _last(self.promised_over_time)

    def _facts(self) -> Fields:
        known = {"regret": self.regret, "bound": self.promised} if self.n_rounds else {}
        return {**super()._facts(), **known}

    def _columns(self) -> Fields:
        return {
            "round": self.checkpoints,
            "regret": self.regret_over_time,
            "bound": self.promised_over_time,
        }

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the regret over time against its bound."""
        from driftgames.plots.regret import plot_regret_over_time

        return plot_regret_over_time(
            self.checkpoints.astype(np.float64),
            {self.title: self.regret_over_time.astype(np.float64)},
            {self.title: self.promised_over_time},
            what=self._bound_name,
            ax=ax,
        )


def promised_at(bound: Bound, horizons: IntArray, epsilon: float) -> FloatArray:
    """Return the bound after each horizon; infinite where nothing is promised.

    Horizons rise. If not all have a bound, they are asked from the last one on, until one has none:
    a learner that is tuned to its horizon has a bound for the last alone.
    """
    promised = np.full(horizons.size, np.inf)
    if not horizons.size or horizons[0] <= 0:
        return promised
    try:
        return np.asarray(bound(horizons, epsilon))
    except NoBoundError:
        pass
    for i in range(horizons.size - 1, -1, -1):
        try:
            promised[i] = np.asarray(bound(horizons[i : i + 1], epsilon))[0]
        except NoBoundError:
            break
    return promised


def _last(curve: npt.NDArray[np.floating[Any]]) -> float:
    if not curve.size:
        raise ValueError("a run of no rounds has no regret")
    return float(curve[-1])
