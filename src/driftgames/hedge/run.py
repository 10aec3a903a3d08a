"""The result of `ExpertLearner.run`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.potentials import NoBoundError


@dataclass(frozen=True, eq=False)
class Run:
    """The rounds of one call of `run`.

    Parameters
    ----------
    title : str
        The name of the learner.
    names : tuple of str, or None
        The names of the actions, if there are any.
    first_round : int
        The 1-based number of the first row. It is above 1 if the learner had played before.
    learner_losses : array of shape (T,)
        The learner's loss in each round.
    regret : array of shape (T,)
        After each round, the learner's total loss less that of the best action so far, both
        from the learner's first round on.
    distributions : array of shape (T, N), or None
        The distribution of each round, if ``distributions=True`` was given.
    bound : callable
        ``bound(horizon, epsilon)`` of the learner.
    smallest_epsilon : float
        The epsilon at which the bound covers the regret to the best action.
    """

    title: str
    names: tuple[str, ...] | None
    first_round: int
    learner_losses: npt.NDArray[np.floating[Any]]
    regret: npt.NDArray[np.floating[Any]]
    distributions: npt.NDArray[np.floating[Any]] | None
    bound: Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]
    smallest_epsilon: float

    @property
    def rounds(self) -> npt.NDArray[np.int64]:
        """The 1-based numbers of the rounds."""
        return np.arange(self.first_round, self.first_round + self.learner_losses.size)

    @property
    def promised(self) -> FloatArray:
        """The bound on `regret` after each round; infinite if no bound is known."""
        if not self.rounds.size:
            return np.empty(0)
        try:
            return self.bound(self.rounds, self.smallest_epsilon)
        except NoBoundError:
            return np.full(self.rounds.size, np.inf)

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the regret over time against its bound for any run.

        The bound of `ExpertLearner.certificate` is for this run, and may be lower.
        """
        from driftgames.plots.regret import plot_regret_over_time

        rounds = self.rounds.astype(np.float64)
        regret, promised = {self.title: self.regret.astype(np.float64)}, {self.title: self.promised}
        return plot_regret_over_time(rounds, regret, promised, what="bound for any run", ax=ax)

    def plot_weights(self, *, most: int = 6, ax: Axes | None = None) -> Figure:
        """Draw the probabilities of the ``most`` actions of largest weight over time."""
        from driftgames.plots.regret import plot_weights

        if self.distributions is None:
            raise ValueError("no distributions were kept; run with distributions=True")
        rounds = self.rounds.astype(np.float64)
        kept = self.distributions.astype(np.float64, copy=False)
        names = self.names or [str(action) for action in range(kept.shape[1])]
        return plot_weights(rounds, kept, names, most=most, ax=ax)
