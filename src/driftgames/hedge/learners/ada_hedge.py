"""AdaHedge: exponential weights whose learning rate follows its own losses."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, lesser
from driftgames._kernels.distribution import times_prior
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames._kernels.lanes import LANES, first, fold, fold_lesser, load, spread, store
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.gap import GapLearner, remember_largest
from driftgames.hedge.rounds.linearised_kernels import compile_mixing
from driftgames.hedge.rounds.totals import LOWEST
from driftgames.hedge.rounds.two_pass import State, compile_rounds

_GAP, _HEADER = 0, 1


class AdaHedge(GapLearner):
    r"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014).

    .. math:: p_{t,i} \propto q_i\,e^{-\eta_t L_{t-1,i}}, \qquad
              \eta_t = \frac{\ln N}{\Delta_{t-1}}, \qquad
              \Delta_t = \Delta_{t-1} + p_t\cdot\ell_t
                         + \frac1{\eta_t}\ln\sum_i p_{t,i}\,e^{-\eta_t\ell_{t,i}}

    where L are cumulative losses and q is the prior. While the gap :math:`\Delta` is zero, the
    actions with the lowest loss are played. The learning rate falls only as fast as the gap
    grows, so the regret stays bounded on easy data.

    Multiplying all losses by a constant, or adding one to a round, changes no distribution. So
    the range of the losses need not be known: ``loss_range=None``. Then no bound is known before
    the run, and the certificate has that of the run, :math:`2\Delta_T`.

    A sleeping action is charged the learner's loss. All weights, those of sleepers included, then
    have the same mean loss as the weights of those awake. So the bounds hold for the rounds in
    which an action is awake.

    S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can,
    hedge if you must", JMLR 15, 2014.

    Examples
    --------
    >>> h = AdaHedge(n_actions=3)
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.64193505, 0.04945477, 0.30861018])
    >>> h = AdaHedge(n_actions=3, loss_range=None)
    >>> h.update([200, 900, 400])
    500.0
    >>> h.distribution()
    array([0.64193505, 0.04945477, 0.30861018])
    """

    title = "AdaHedge"
    sleeps: ClassVar[bool] = True
    _gap_at = _GAP

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.ada_hedge`, in units of loss."""
        self._check_bounded()
        return bounds.ada_hedge(horizon, epsilon, self._n_actions) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        gap = self._rounded_gap
        return bounds.ada_hedge(horizon, epsilon, self._n_actions, gap=gap) * self._width

    @property
    def _memory_size(self) -> int:
        # the gap; without a range the largest total so far
        return _HEADER + (not self._is_bounded)


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, memory = state
    rate, lowest = _learning_rate(memory[_GAP], out.size), totals[LOWEST]
    total = spread(0.0)
    for i in range(0, out.size, LANES):
        w = _term(load(cumulative, i, np.inf) - lowest, rate)
        w = times_prior(w, prior, i, first(LANES))
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    cumulative, totals, memory = state
    if memory.size > _HEADER:
        remember_largest(state, prior, losses, learner_loss)
    rate = _learning_rate(memory[_GAP], losses.size)
    least = spread(np.inf)
    for i in range(0, losses.size, LANES):
        after = load(cumulative, i, np.inf) + load(losses, i, 0.0)
        if prior is not None:
            after = choose(load(prior, i, 0.0) > 0.0, after, np.inf)
        least = lesser(after, least)
    lowest = fold_lesser(least)
    mixed = lowest - totals[LOWEST]
    if rate < np.inf:
        summed = spread(0.0)
        for i in range(0, losses.size, LANES):
            w = _term(load(cumulative, i, np.inf) + load(losses, i, 0.0) - lowest, rate)
            summed += times_prior(w, prior, i, first(LANES))
        mixed -= log(fold(summed) / total) / rate
    # the gap is nonnegative; clip rounding errors
    memory[_GAP] += max(learner_loss - mixed, 0.0)


@scalar
def _learning_rate(gap: float, n: int) -> float:
    # with one action the gap is a rounding error
    return log(float(n)) / gap if gap > 0.0 and n > 1 else np.inf


@scalar
def _term(behind: float, rate: float) -> float:
    """Return the weight of actions that are ``behind`` the best one; lanes without one: 0."""
    if rate == np.inf:
        return choose(behind == 0.0, 1.0, 0.0)
    return exp(-rate * behind)


AdaHedge._play_rounds = staticmethod(compile_rounds(_weigh, _learn))
AdaHedge._mix_rounds = staticmethod(compile_mixing(_weigh, _learn))
