"""The result of a run with contexts or advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit.types import ArmArray
from driftgames.certificates import Certificate
from driftgames.certificates.regret_run import RegretRun
from driftgames.core.typing import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextRun(RegretRun):
    """The rounds of one call of `ContextPolicy.run`, in units of loss.

    Parameters
    ----------
    arms : tuple
        The arms.
    drawn : array of int32, shape (T,)
        The index of the arm that was drawn in each round.
    learner_totals : array of shape (C,)
        The total loss of the player at each checkpoint.
    rivals : tuple
        What the regret is to: the arms, or the experts.
    rival_totals : array of shape (C, M)
        The total loss of each rival at each checkpoint.
    caveat : str
        The sense in which the bound holds.
    """

    arms: tuple[Any, ...]
    drawn: ArmArray
    learner_totals: FloatArray
    rivals: tuple[Any, ...]
    rival_totals: FloatArray
    caveat: str

    @property
    def n_rounds(self) -> int:
        """T."""
        return self.drawn.size

    @property
    def regret_over_time(self) -> FloatArray:
        """At each checkpoint, the player's loss less that of the best rival so far."""
        return np.asarray(self.learner_totals - self.rival_totals.min(axis=1))

    @property
    def learner_loss(self) -> float:
        """The total loss of the player."""
        return float(self.learner_totals[-1])

    @property
    def rival_losses(self) -> FloatArray:
        """The total loss of each rival."""
        return np.asarray(self.rival_totals[-1])

    @property
    def pulls(self) -> npt.NDArray[np.int64]:
        """The number of pulls of each arm."""
        return np.bincount(self.drawn, minlength=len(self.arms))

    def certificate(self) -> Certificate:
        """Return the epsilon-regret to the rivals beside the bound on its mean."""
        return Certificate.of_run(
            self.title,
            self.n_rounds,
            self.rival_losses,
            self.learner_loss,
            self.bound,
            caveat=self.caveat,
        )
