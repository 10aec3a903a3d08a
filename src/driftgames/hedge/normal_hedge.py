"""NormalHedge, which searches for the scale of its weights in every round."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, first, fold, load, spread, store
from driftgames._kernels.ledger import LEAD, LOWEST
from driftgames._kernels.rounds import PlayRounds, rounds_of
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.memory import RememberingLearner


class NormalHedge(RememberingLearner):
    r"""NormalHedge (Chaudhuri, Freund and Hsu, 2009), the baseline of Table 1.

    .. math:: p_{t,i} \propto -[s_{t-1,i}]_-\,e^{[s_{t-1,i}]_-^2/c}, \qquad
              c \text{ such that } \sum_i e^{[s_{t-1,i}]_-^2/c} = N e

    It has no parameters either, but searches for c in every round, and its bound grows with
    the number of actions. [LS14, Tab. 1]

    K. Chaudhuri, Y. Freund and D. Hsu, "A parameter-free hedging algorithm", NeurIPS 2009.

    Examples
    --------
    >>> h = NormalHedge(n_actions=3)
    >>> h.update([0.2, 0.9, 0.4])
    0.5
    >>> h.distribution()
    array([0.93594154, 0.        , 0.06405846])

    Notes
    -----
    Where no regret is positive no c solves the equation, and the uniform distribution is
    played.
    """

    takes_prior: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """NormalHedge."""
        return "NormalHedge"

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.normal_hedge`, in units of loss."""
        return bounds.normal_hedge(horizon, epsilon, self._n_actions) * self._width

    @property
    def _memory_size(self) -> int:
        return 1  # the solution of the last round, near which the next one lies

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
    lead, largest = ledger[LEAD], ledger[LEAD] - ledger[LOWEST]
    if not largest > 0.0:
        for i in range(out.size):
            out[i] = 0.0
        return 0.0
    # relative to the largest regret, so that no scale of regrets over- or underflows
    for i in range(0, out.size, LANES):
        regret = 0.0 - lesser(load(cumulative, i, np.inf) - lead, 0.0)  # 0 - keeps +0
        store(out, i, regret / largest)
    exponent = _solve(out, memory[0])
    memory[0] = exponent
    total = spread(0.0)
    for i in range(0, out.size, LANES):
        ratio = load(out, i, 0.0)
        w = ratio * exp(exponent * fma(ratio, ratio, -1.0))
        store(out, i, w)
        total += w
    return fold(total)


@kernel
def _solve(ratios: FloatArray, guess: float) -> float:
    """Return u with ``mean(exp(u x^2)) = e``, where the largest x is 1.

    The logarithm of the left side is convex and increasing in u, so Newton's method comes
    down to the solution from above after one step. u lies between 1 and ``1 + ln N``. A step
    that leaves the remaining interval is replaced by the middle of that interval.
    """
    n = ratios.size
    low, high = 1.0, 1.0 + log(float(n))
    u = guess if low <= guess <= high else high
    for _ in range(100):
        total, pull = spread(0.0), spread(0.0)
        for i in range(0, n, LANES):
            ratio = load(ratios, i, 0.0)
            square = ratio * ratio
            term = choose(first(n - i), exp(u * (square - 1.0)), 0.0)
            total += term
            pull = fma(square, term, pull)
        summed = fold(total)
        excess = u - 1.0 + log(summed / n)
        if excess > 0.0:
            high = u
        else:
            low = u
        following = u - excess * summed / fold(pull)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - u) <= 1e-14 * u:
            break
        u = following
    return u


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
    """Totals are all that NormalHedge learns."""


_PLAY_ROUNDS = rounds_of(_weigh, _learn)
