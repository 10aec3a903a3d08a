"""Fixed Share with the learning rate of AdaHedge: it tracks, and needs no range of the losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, greater, lesser
from driftgames._kernels.elementary import exp, log, log1p
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.lanes import LANES, fold, fold_lesser, load, spread, store
from driftgames.certificates import bounds
from driftgames.core.checks import check_fraction
from driftgames.core.schema import SHARE, Schema
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.rounds.gap import GapLearner, remember_largest
from driftgames.hedge.rounds.linearised_kernels import compile_mixing
from driftgames.hedge.rounds.share_kernels import copy_weights, share_out, shares_at
from driftgames.hedge.rounds.totals import CLOCK
from driftgames.hedge.rounds.two_pass import State, compile_rounds

_SHARE, _GAP, _WIDTH, _PAID, _HEADER = 0, 1, 2, 3, 4


class AdaFixedShare(GapLearner):
    r"""Fixed Share at the learning rate of AdaHedge, for comparators that switch.

    .. math:: v_i \propto p_{t,i}\,e^{-\eta_t\ell_{t,i}}, \qquad
              u_i \propto q_i^{1-\gamma} v_i^\gamma, \qquad
              p_{t+1} = (1 - \alpha)\,u + \alpha q, \qquad \gamma = \frac{\eta_{t+1}}{\eta_t}

    .. math:: \eta_{t+1} = \min\Bigl\{\eta_t, \frac1{\Delta_t}
              \Bigl(\ln N + (t - 1)\ln\frac1{1-\alpha}\Bigr)\Bigr\}

    where q is the prior and :math:`\Delta` the gap of `AdaHedge`, the sum of
    :math:`p_t\cdot\ell_t + \frac1{\eta_t}\ln\sum_i p_{t,i}\,e^{-\eta_t\ell_{t,i}}`. The rate falls
    so that the gap is no larger than what a sequence of actions costs in the regret. No weight
    falls below :math:`\alpha q_i`. The rate needs no range of the losses (``loss_range=None``), and
    actions may sleep. The regret to a sequence of actions that switches m times is at most
    `run_bound`.

    M. Herbster and M. K. Warmuth, "Tracking the best expert", Machine Learning 32, 1998; S. de
    Rooij, T. van Erven, P. D. Grünwald and W. M. Koolen, "Follow the leader if you can, hedge if
    you must", JMLR 15, 2014.

    Parameters
    ----------
    share : float
        The share :math:`\alpha` in (0, 1). Default: 0.01.

    Examples
    --------
    >>> h = AdaFixedShare(n_actions=2, loss_range=None)
    >>> for row in [[0, 100]] * 40 + [[100, 0]] * 10:
    ...     _ = h.update(row)
    >>> h.distribution().round(3)
    array([0.012, 0.988])
    >>> h.run_bound(switches=1) > h.learner_loss
    True

    Notes
    -----
    A rate that falls returns :math:`u` to the prior: by Hölder's inequality
    :math:`\ln\frac1{u_i} \le (1-\gamma)\ln\frac1{q_i} + \gamma\ln\frac1{v_i}`, which keeps
    :math:`\frac1{\eta_t}\ln\frac1{p_{t,i}}` a potential of the regret at rates that change. Until
    losses differ for the first time the rate is infinite; that round is learnt at the next rate.
    """

    title = "AdaHedge with a fixed share"
    sleeps: ClassVar[bool] = True
    _gap_at = _GAP
    _named_arguments: ClassVar[Schema] = {"share": SHARE}

    def __init__(
        self,
        n_actions: int | None = None,
        *,
        share: float = 0.01,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            n_actions, prior=prior, loss_range=loss_range, gains=gains, dtype=dtype, names=names
        )
        self._share = check_fraction("share", share)
        if self._share == 1.0:
            raise ValueError("share must lie in (0, 1), because at 1 nothing is learnt; got 1")
        self._memory[_SHARE] = self._share

    def bound(
        self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike, *, switches: int = 0
    ) -> FloatArray:
        """Return `bounds.ada_fixed_share`, in units of loss."""
        self._check_bounded()
        found = bounds.ada_fixed_share(
            horizon, epsilon, self._n_actions, self._share, switches=switches
        )
        return found * self._width

    def run_bound(self, switches: int = 0, epsilon: npt.ArrayLike | None = None) -> float:
        """Return the bound of this run on the regret to sequences with ``switches`` switches.

        Every action of the sequence has a prior of at least ``epsilon``. Default: the smallest.
        """
        wanted = self.smallest_epsilon if epsilon is None else epsilon
        with self._lock:
            return float(self._run_bound(wanted, switches))

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        return self._run_bound(epsilon, 0)

    def _run_bound(self, epsilon: npt.ArrayLike, switches: int) -> FloatArray:
        found = bounds.ada_fixed_share_of_run(
            epsilon,
            self._share,
            switches=switches,
            gap=self._rounded_gap,
            width=float(self._memory[_WIDTH]),
            paid=float(self._memory[_PAID]),
        )
        return found * self._width

    @property
    def _memory_size(self) -> int:
        # share, gap, one over the rate, what staying has cost, and the distribution; without a
        # range the largest total so far
        return _HEADER + self._n_actions + (not self._is_bounded)

    def _set_state(self, state: Content) -> None:
        memory = state.get("memory", self._memory)
        if memory.shape == self._memory.shape:
            if memory[_SHARE] != self._share:
                raise ValueError(
                    f"the memory must begin with the share {self._share:g}; got {memory[_SHARE]:g}"
                )
            whole = float(memory[_HEADER : _HEADER + self._n_actions].sum())
            if whole != 0.0 and not abs(whole - 1.0) <= 1e-6:
                raise ValueError(f"the distribution must sum to 1; got {whole:g}")
        super()._set_state(state)


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    return copy_weights(state[2][_HEADER : _HEADER + out.size], out)


@inner_kernel
def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    _, totals, memory = state
    n, width = losses.size, memory[_WIDTH]
    p = memory[_HEADER : _HEADER + n]
    if memory.size > _HEADER + n:
        remember_largest(state, prior, losses, learner_loss)
    least = spread(np.inf)
    for i in range(0, n, LANES):
        occupied = shares_at(prior, n, i) > 0.0
        least = lesser(choose(occupied, load(losses, i, np.inf), np.inf), least)
    lowest, staying = fold_lesser(least), -log1p(-memory[_SHARE])
    begins, complexity = width == 0.0, log(float(n)) + totals[CLOCK] * staying
    if begins:
        memory[_GAP] = max(learner_loss - lowest, 0.0)
        if n == 1 or memory[_GAP] == 0.0:
            return
        width = memory[_GAP] / complexity
    summed = spread(0.0)
    for i in range(0, n, LANES):
        w = shares_at(prior, n, i) if begins else load(p, i, 0.0)
        # an action of prior 0 may be ahead of all others; its weight stays 0
        behind = greater(load(losses, i, np.inf) - lowest, 0.0)
        summed += w * exp(-behind / width)
    log_sum, wider = log(fold(summed)), width
    if not begins:
        mixed = lowest - (log_sum - log(total)) * width
        # the gap is nonnegative; clip rounding errors
        memory[_GAP] += max(learner_loss - mixed, 0.0)
        wider = max(width, memory[_GAP] / complexity)
    summed = spread(0.0)
    for i in range(0, n, LANES):
        q = shares_at(prior, n, i)
        ahead = -log_sum - greater(load(losses, i, np.inf) - lowest, 0.0) / width
        if not begins:
            ahead += log(choose(q > 0.0, load(p, i, 1.0) / q, 1.0))
        w = choose(q > 0.0, q * exp((width / wider) * ahead), 0.0)
        store(p, i, w)
        summed += w
    share_out(p, fold(summed), memory[_SHARE], prior)
    memory[_WIDTH] = wider
    memory[_PAID] += staying * wider


AdaFixedShare._play_rounds = staticmethod(compile_rounds(_weigh, _learn))
AdaFixedShare._mix_rounds = staticmethod(compile_mixing(_weigh, _learn))
