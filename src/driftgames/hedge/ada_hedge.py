"""AdaHedge: exponential weights whose learning rate follows its own losses."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._kernels.exponential import exp
from driftgames._kernels.jit import kernel, lesser, scalar
from driftgames._kernels.ledger import LOWEST, ROUNDING
from driftgames._kernels.rounds import PlayRounds, rounds_of
from driftgames._support.checks import FloatArray
from driftgames.certificates import bounds
from driftgames.hedge.memory import RememberingLearner


class AdaHedge(RememberingLearner):
    r"""AdaHedge (de Rooij, van Erven, Grünwald and Koolen, 2014).

    .. math:: p_{t,i} \propto q_i\,e^{-\eta_t L_{t-1,i}}, \qquad
              \eta_t = \frac{\ln N}{\Delta_{t-1}}, \qquad
              \Delta_t = \Delta_{t-1} + p_t\cdot\ell_t
                         + \frac1{\eta_t}\ln\sum_i p_{t,i}\,e^{-\eta_t\ell_{t,i}}

    where L are cumulative losses and q is the prior. While the gap :math:`\Delta` is zero it
    follows the leaders; the learning rate falls only as fast as mixing costs, so that on easy
    data the regret stays bounded.

    S. de Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can,
    hedge if you must", JMLR 15, 2014.

    Examples
    --------
    >>> h = AdaHedge(n_actions=3)
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.64193505, 0.04945477, 0.30861018])
    """

    @property
    def title(self) -> str:
        """AdaHedge."""
        return "AdaHedge"

    @property
    def gap(self) -> float:
        """The cumulative mixability gap, on losses in [0, 1]."""
        return float(self._memory[0])

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.ada_hedge`, in units of loss."""
        return bounds.ada_hedge(horizon, epsilon, self._n_actions) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        # a very easy game leaves a gap no larger than what its totals were rounded by
        gap = self.gap + self.t * ROUNDING
        return bounds.ada_hedge(horizon, epsilon, self._n_actions, gap=gap) * self._width

    @property
    def _memory_size(self) -> int:
        return 1  # the gap

    @property
    def _play_rounds(self) -> PlayRounds:
        return _PLAY_ROUNDS


@kernel
def _weigh(
    cumulative: FloatArray,
    ledger: FloatArray,
    prior: FloatArray | None,
    memory: FloatArray,
    out: FloatArray,
) -> float:
    rate, lowest = _learning_rate(memory[0], out.size), ledger[LOWEST]
    total = 0.0
    for i in range(out.size):
        w = _term(cumulative[i] - lowest, rate)
        if prior is not None:
            w = w * prior[i] if prior[i] > 0.0 else 0.0
        out[i] = w
        total += w
    return total


@kernel
def _learn(
    cumulative: FloatArray,
    ledger: FloatArray,
    prior: FloatArray | None,
    memory: FloatArray,
    losses: FloatArray,
    total: float,
    learner_loss: float,
) -> None:
    rate = _learning_rate(memory[0], losses.size)
    lowest = np.inf
    for i in range(losses.size):
        after = cumulative[i] + losses[i]
        if prior is not None:
            after = after if prior[i] > 0.0 else np.inf
        lowest = lesser(after, lowest)
    mixed = lowest - ledger[LOWEST]
    if rate < np.inf:
        summed = 0.0
        for i in range(losses.size):
            w = _term(_behind(cumulative[i], losses[i], lowest), rate)
            if prior is not None:
                w = w * prior[i] if prior[i] > 0.0 else 0.0
            summed += w
        mixed -= math.log(summed / total) / rate
    # mixing costs nothing less than nothing, but rounding may say so
    memory[0] += max(learner_loss - mixed, 0.0)


@scalar
def _learning_rate(gap: float, n: int) -> float:
    # a single action leaves no gap but that of rounding
    return math.log(n) / gap if gap > 0.0 and n > 1 else np.inf


@scalar
def _behind(before: float, loss: float, lowest: float) -> float:
    # in a kernel this sum may be re-ordered, and then even the lowest total differs from itself
    return before + loss - lowest


@scalar
def _term(behind: float, rate: float) -> float:
    if rate == np.inf:
        return 1.0 if behind == 0.0 else 0.0
    return exp(-rate * behind)


_PLAY_ROUNDS = rounds_of(_weigh, _learn)
