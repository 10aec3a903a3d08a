"""The result of a run with contexts or advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.bandit.runs.pull_run import PullRun
from driftgames.core.typing import FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class ContextRun(PullRun):
    """The rounds of one call of `ContextPolicy.run`, in units of loss.

    Parameters
    ----------
    arms, drawn, learner_totals, caveat
        As for `BanditRun`.
    rivals : tuple
        What the regret is to: the arms, or the experts.
    rival_totals : array of shape (C, M)
        The total loss of each rival at each checkpoint.
    """

    rivals: tuple[Any, ...]
    rival_totals: FloatArray

    @property
    def _rival_totals(self) -> FloatArray:
        return self.rival_totals

    @property
    def rival_losses(self) -> FloatArray:
        """The total loss of each rival."""
        return np.asarray(self.rival_totals[-1])
