"""The result of `ExpertLearner.run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from driftgames.certificates import Certificate
from driftgames.certificates.regret_run import RegretRun
from driftgames.core.display import Fields, Sketch
from driftgames.core.typing import Axes, Figure


class PlayedLearner(Protocol):
    """What has played a run: an `ExpertLearner`."""

    @property
    def t(self) -> int:
        """The number of rounds played."""

    def certificate(self) -> Certificate:
        """Return the certificate of all rounds."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpertRun(RegretRun):
    """The rounds of one call of `run`.

    Parameters
    ----------
    title : str
        The name of the learner.
    first_round : int
        The 1-based number of the first row. It is above 1 if the learner had played before.
    checkpoints : array of int, shape (T,)
        All rounds.
    bound : callable
        ``bound(horizon, epsilon)`` of the learner.
    smallest_epsilon : float
        The epsilon at which the bound covers the regret to the best action.
    learner : ExpertLearner
        The learner, which may play on.
    names : tuple of str, or None
        The names of the actions, if there are any.
    learner_losses : array of shape (T,)
        The learner's loss in each round.
    regret_over_time : array of shape (T,)
        After each round, the learner's total loss less that of the best action so far, both
        from the learner's first round on.
    distributions : array of shape (T, N), or None
        The distribution of each round, if ``distributions=True`` was given.
    """

    learner: PlayedLearner
    names: tuple[str, ...] | None
    learner_losses: npt.NDArray[np.floating[Any]]
    regret_over_time: npt.NDArray[np.floating[Any]]
    distributions: npt.NDArray[np.floating[Any]] | None

    # the bound of a certificate is for one run, and may be lower
    _bound_name: ClassVar[str] = "bound for any run"

    @property
    def n_rounds(self) -> int:
        """The number of rows."""
        return self.learner_losses.size

    def _columns(self) -> Fields:
        return {**super()._columns(), "learner loss": self.learner_losses}

    def _sketch(self) -> Sketch:
        curves = {"regret": self.regret_over_time, "bound": self.promised_over_time}
        return Sketch(self.rounds, curves, label="round")

    def certificate(self) -> Certificate:
        """Return the certificate of the learner, as long as it has not played on."""
        self._check_current(self.learner.t)
        return self.learner.certificate()

    def plot_weights(self, *, most: int = 6, ax: Axes | None = None) -> Figure:
        """Draw the probabilities of the ``most`` actions of largest weight over time."""
        from driftgames.plots.regret import plot_weights

        if self.distributions is None:
            raise ValueError("no distributions were kept; run with distributions=True")
        rounds = self.rounds.astype(np.float64)
        kept = self.distributions.astype(np.float64, copy=False)
        names = self.names or [str(action) for action in range(kept.shape[1])]
        return plot_weights(rounds, kept, names, most=most, ax=ax)
