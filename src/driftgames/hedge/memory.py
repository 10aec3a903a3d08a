"""Learners that remember more than totals: one pass to weigh, one to learn."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from driftgames._kernels.rounds import PlayRounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.base import ExpertLearner, Floats, Mask


class RememberingLearner(ExpertLearner):
    """A learner whose weights need a memory; what it holds is the learner's own affair."""

    @property
    @abstractmethod
    def _play_rounds(self) -> PlayRounds:
        """The compiled loop of its rounds."""

    def _replay(
        self,
        losses: Floats,
        awake: Mask | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
    ) -> int:
        # weighing may leave a better start for the next in the memory, and a look must not
        memory = self._memory if len(losses) else self._memory.copy()
        return self._play_rounds(
            self._cumulative,
            self._ledger,
            memory,
            losses,
            self._scale,
            self._prior,
            awake,
            learner_losses,
            regret,
            played,
            np.empty((2, self._n_actions)),
        )
