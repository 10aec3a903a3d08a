"""What runs of bandits share: the drawn arms, and the totals of the player and of its rivals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.types import ArmArray
from driftgames.certificates import Certificate
from driftgames.certificates.regret_run import RegretRun
from driftgames.core.typing import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class PullRun(RegretRun):
    """Rounds in which an arm was drawn, in units of loss.

    Parameters
    ----------
    arms : tuple
        The arms, in the order of all arrays.
    drawn : array of int32, shape (T,)
        The index of the arm that was drawn in each round.
    learner_totals : array of shape (C,)
        The total loss of the player at each checkpoint.
    caveat : str
        The sense in which the bound holds.
    best_rival : str
        What the regret is to, in words.
    """

    arms: tuple[Any, ...]
    drawn: ArmArray
    learner_totals: FloatArray
    caveat: str
    best_rival: str = "the best arm"

    @property
    @abstractmethod
    def _rival_totals(self) -> FloatArray:
        """The total loss at each checkpoint of everything that the regret is to."""

    @property
    def n_rounds(self) -> int:
        """T."""
        return self.drawn.size

    @property
    def regret_over_time(self) -> FloatArray:
        """At each checkpoint, the player's loss less that of the best rival so far."""
        return np.asarray(self.learner_totals - self._rival_totals.min(axis=1))

    @property
    def learner_loss(self) -> float:
        """The total loss of the player."""
        return float(self.learner_totals[-1])

    @property
    def pulls(self) -> npt.NDArray[np.int64]:
        """The number of pulls of each arm."""
        return np.bincount(self.drawn, minlength=len(self.arms))

    def certificate(self) -> Certificate:
        """Return the epsilon-regret beside the bound, which usually holds for the mean."""
        return Certificate.of_run(
            self.title,
            self.n_rounds,
            self._rival_totals[-1],
            self.learner_loss,
            self.bound,
            caveat=self.caveat,
            rival=self.best_rival,
        )
