"""Learners with statistics beside their totals: a round is one pass to weigh and one to learn.

The loop is a template of a learner: ``learner.weigh(state, prior, out)`` writes weights and returns
their sum, and ``learner.learn(...)`` updates the memory once the losses are known. The ``state`` is
the cumulative losses, the totals, and the memory, which holds the statistics.

The weight of an action may need its regret and one statistic of that action alone. Then
``chip.weigh(regret, statistic)`` is its weight before its prior, and ``chip.learn(regret,
statistic)`` the statistic after a round with this regret. Both are scalar functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.distribution import settle_weights, times_prior
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.lanes import (
    LANES,
    first,
    fold,
    fold_lesser,
    load,
    load_mask,
    spread,
    store,
)
from driftgames._kernels.ranges import all_inside
from driftgames._kernels.templates import Part, as_part, instantiate
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.rounds.expert_learner import ExpertLearner, Rows
from driftgames.hedge.rounds.totals import LEARNER, close_round

State = tuple[FloatArray, FloatArray, FloatArray]
"""Cumulative losses, totals and memory."""

Weigh = Callable[[State, FloatArray | None, FloatArray], float]
Learn = Callable[[State, FloatArray | None, FloatArray, float, float], None]
PlayRounds = Callable[..., int]
ChipFunction = Callable[[float, float], float]

learner, chip = Part("learner"), Part("chip")


class TwoPassLearner(ExpertLearner):
    """A learner whose weights need statistics beside the totals."""

    _play_rounds: ClassVar[PlayRounds]
    """The compiled loop of its rounds, which is set where its kernels are defined."""

    def _replay(self, *rows: *Rows) -> int:
        # weighing may change the memory, and reading the next distribution must not
        memory = self._memory if len(rows[2]) else self._memory.copy()
        return self._choose_rounds()(
            self._cumulative, self._totals, memory, self._scale, self._prior, *rows, self._buffers
        )

    def _choose_rounds(self) -> PlayRounds:
        """Return the compiled loop for the range of the losses."""
        return self._play_rounds

    def _allocate_scratch(self) -> None:
        super()._allocate_scratch()
        self._buffers = np.empty((2, self._n_actions))


class ChipwiseLearner(TwoPassLearner):
    """A learner that keeps one statistic of each action beside its total."""

    @property
    def _memory_size(self) -> int:
        return self._n_actions


@kernel
def _play_rounds(
    cumulative: FloatArray,
    totals: FloatArray,
    memory: FloatArray,
    scale: tuple[float, float, float, float],
    prior: FloatArray | None,
    losses: npt.NDArray[Any],
    awake: BoolArray | None,
    learner_losses: FloatArray,
    regret: FloatArray,
    played: FloatArray,
    buffers: FloatArray,
) -> int:
    """Play the rows of ``losses`` and return their number; stop at a row out of range.

    A sleeping action is charged the learner's own loss, so its position does not change.
    ``played`` receives the distributions if it has rows for them. Without entries in
    ``learner_losses`` it receives the next distribution, and the totals do not change.
    """
    low, high, offset, factor = scale
    n, rounds = cumulative.size, len(learner_losses)
    p, scaled, state = buffers[0], buffers[1], (cumulative, totals, memory)
    for r in range(max(rounds, 1)):
        if rounds > 0 and not all_inside(losses[r], low, high):
            return r
        whole = learner.weigh(state, prior, p)
        total = settle_weights(p, whole, prior, awake, r)
        if len(played):
            for i in range(n):
                played[r, i] = p[i] / total
        if rounds == 0:
            break
        row = losses[r]
        taken = spread(0.0)
        for i in range(0, n, LANES):
            loss = (load(row, i, offset) - offset) * factor
            store(scaled, i, loss)
            taken = fma(load(p, i, 0.0), loss, taken)
        learner_loss = fold(taken) / total
        if awake is not None:
            for i in range(0, n, LANES):
                loss = choose(load_mask(awake[r], i), load(scaled, i, 0.0), learner_loss)
                store(scaled, i, loss)
        learner_losses[r] = learner_loss
        regret[r] = advance(state, prior, scaled, whole, learner_loss)
    return rounds


@inner_kernel
def advance(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> float:
    """Learn the losses of a round, add them to the totals, and return the regret.

    ``total`` is the sum of all weights, those of sleeping actions included.
    """
    learner.learn(state, prior, losses, total, learner_loss)
    cumulative, totals, _ = state
    least = spread(np.inf)
    for i in range(0, cumulative.size, LANES):
        after = load(cumulative, i, np.inf) + load(losses, i, 0.0)
        store(cumulative, i, after)
        if prior is not None:
            after = choose(load(prior, i, 0.0) > 0.0, after, np.inf)
        least = lesser(after, least)
    return close_round(cumulative, totals, learner_loss, fold_lesser(least))


@inner_kernel
def learn_nothing(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    """Do nothing, for a learner that keeps only totals."""


def compile_rounds(weigh: Weigh, learn: Learn) -> PlayRounds:
    """Return the loop over the rows of a loss matrix for these two functions."""
    return instantiate(_play_rounds, learner=as_part("learner", weigh=weigh, learn=learn))


@inner_kernel
def _weigh_chips(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, memory = state
    lead, total = totals[LEARNER], spread(0.0)
    for i in range(0, out.size, LANES):
        w = chip.weigh(lead - load(cumulative, i, lead), load(memory, i, 1.0))
        w = times_prior(w, prior, i, first(out.size - i))
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def _learn_chips(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    memory = state[2]
    for i in range(0, losses.size, LANES):
        regret = learner_loss - load(losses, i, 0.0)
        store(memory, i, chip.learn(regret, load(memory, i, 0.0)))


def chipwise(weigh: ChipFunction, learn: ChipFunction) -> tuple[Weigh, Learn]:
    """Return both passes of a learner whose weights need one statistic of each action."""
    functions = as_part("chip", weigh=weigh, learn=learn)
    return instantiate(_weigh_chips, chip=functions), instantiate(_learn_chips, chip=functions)


def compile_chipwise(weigh: ChipFunction, learn: ChipFunction) -> PlayRounds:
    """Return the loop for a learner whose weights need one statistic of each action."""
    return compile_rounds(*chipwise(weigh, learn))
