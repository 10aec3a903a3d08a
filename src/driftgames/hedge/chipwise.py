"""Learners whose weight of an action needs its regret and one statistic of that action alone.

The loop calls ``weigh(regret, statistic)``, the weight of an action before its prior, and
``learn(regret, statistic)``, the statistic after a round with this regret. Both are scalar
functions, and `specialise` binds these names to a learner's own. A round is two passes over
memory: one weighs the actions and adds up the learner's loss, and one learns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.jit import kernel, specialise
from driftgames._kernels.lanes import (
    LANES,
    any_of,
    first,
    fold,
    fold_lesser,
    load,
    load_mask,
    spread,
    store,
)
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.base import ExpertLearner, Floats
from driftgames.hedge.totals import LEARNER, close_round

ChipFunction = Callable[[float, float], float]
PlayRounds = Callable[..., int]

weigh: ChipFunction = NotImplemented  # names for `specialise` to bind
learn: ChipFunction = NotImplemented


class ChipwiseLearner(ExpertLearner):
    """A learner that keeps one statistic of each action beside its total."""

    _play_rounds: ClassVar[PlayRounds]
    """The compiled loop of its rounds, which is set where its kernels are defined."""

    @property
    def _memory_size(self) -> int:
        return self._n_actions

    def _replay(
        self,
        losses: Floats,
        awake: BoolArray | None,
        learner_losses: FloatArray,
        regret: FloatArray,
        played: FloatArray,
    ) -> int:
        return self._play_rounds(
            self._cumulative,
            self._totals,
            self._memory,
            losses if len(losses) else np.zeros((1, self._n_actions), losses.dtype),
            self._scale,
            self._prior,
            awake,
            learner_losses,
            regret,
            played,
        )


def _play_rounds(
    cumulative: FloatArray,
    totals: FloatArray,
    memory: FloatArray,
    losses: npt.NDArray[Any],
    scale: tuple[float, float, float, float],
    prior: FloatArray | None,
    awake: BoolArray | None,
    learner_losses: FloatArray,
    regret: FloatArray,
    played: FloatArray,
) -> int:
    """Play as many rows as ``learner_losses`` has entries; stop at a row out of range.

    Return the number of rows played. A sleeping action is charged the learner's own loss, so
    its position does not change. ``played`` receives the distributions if it has rows for them.
    Without entries in ``learner_losses`` it receives the next distribution, the state does not
    change, and ``losses`` is one row that is not used.
    """
    low, high, offset, factor = scale
    n, rounds = cumulative.size, len(learner_losses)
    for r in range(max(rounds, 1)):
        row, lead = losses[r], totals[LEARNER]
        summed, learner_loss, fallback = 0.0, 0.0, False
        while not summed > 0.0:
            total, taken = spread(0.0), spread(0.0)
            inside = first(LANES)
            for i in range(0, n, LANES):
                entry = load(row, i, low)
                inside = inside & (entry >= low) & (entry <= high)
                if fallback:  # all weights are zero: the prior is played
                    w = spread(1.0)
                else:
                    w = weigh(lead - load(cumulative, i, lead), load(memory, i, 1.0))
                if prior is None:
                    w = choose(first(n - i), w, 0.0)
                else:
                    # the weight of an action with prior 0 may overflow; it is not used
                    share = load(prior, i, 0.0)
                    w = choose(share > 0.0, w * share, 0.0)
                if awake is not None:
                    w = choose(load_mask(awake[r], i), w, 0.0)
                total += w
                taken = fma(w, (entry - offset) * factor, taken)
                if len(played):
                    store(played[r], i, w)
            if rounds > 0 and any_of(~inside):
                return r
            summed = fold(total)
            learner_loss = fold(taken) / summed
            fallback = True
        if len(played):
            for i in range(n):
                played[r, i] /= summed
        if rounds == 0:
            break
        least = spread(np.inf)
        for i in range(0, n, LANES):
            loss = (load(row, i, offset) - offset) * factor
            if awake is not None:
                loss = choose(load_mask(awake[r], i), loss, learner_loss)
            store(memory, i, learn(learner_loss - loss, load(memory, i, 0.0)))
            after = load(cumulative, i, np.inf) + loss
            store(cumulative, i, after)
            if prior is not None:
                after = choose(load(prior, i, 0.0) > 0.0, after, np.inf)
            least = lesser(after, least)
        learner_losses[r] = learner_loss
        regret[r] = close_round(cumulative, totals, learner_loss, fold_lesser(least))
    return rounds


def compile_rounds(weigh: ChipFunction, learn: ChipFunction) -> PlayRounds:
    """Return the loop over the rows of a loss matrix for these two functions."""
    return specialise(_play_rounds, kernel, weigh=weigh, learn=learn)
