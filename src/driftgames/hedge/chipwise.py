"""Learners whose weight of an action needs its regret and one statistic of that action alone.

``weigh(regret, statistic)`` is the weight of an action before its prior, and
``learn(regret, statistic)`` the statistic after a round with this regret. Both are scalar
functions, and `specialise` binds these names to a learner's own.
"""

from __future__ import annotations

from collections.abc import Callable

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.jit import inner_kernel, specialise
from driftgames._kernels.lanes import LANES, first, fold, load, spread, store
from driftgames.core.typing import FloatArray
from driftgames.hedge.totals import LEARNER
from driftgames.hedge.two_pass import PlayRounds, State, TwoPassLearner, compile_rounds

ChipFunction = Callable[[float, float], float]

weigh: ChipFunction = NotImplemented  # names for `specialise` to bind
learn: ChipFunction = NotImplemented


class ChipwiseLearner(TwoPassLearner):
    """A learner that keeps one statistic of each action beside its total."""

    @property
    def _memory_size(self) -> int:
        return self._n_actions


def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, memory = state
    lead, total = totals[LEARNER], spread(0.0)
    for i in range(0, out.size, LANES):
        w = weigh(lead - load(cumulative, i, lead), load(memory, i, 1.0))
        if prior is None:
            w = choose(first(out.size - i), w, 0.0)
        else:  # the weight of an action with prior 0 may overflow; it is not used
            share = load(prior, i, 0.0)
            w = choose(share > 0.0, w * share, 0.0)
        store(out, i, w)
        total += w
    return fold(total)


def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    memory = state[2]
    for i in range(0, losses.size, LANES):
        regret = learner_loss - load(losses, i, 0.0)
        store(memory, i, learn(regret, load(memory, i, 0.0)))


def compile_chipwise(weigh: ChipFunction, learn: ChipFunction) -> PlayRounds:
    """Return the loop over the rows of a loss matrix for these two functions."""
    return compile_rounds(
        specialise(_weigh, inner_kernel, weigh=weigh), specialise(_learn, inner_kernel, learn=learn)
    )
