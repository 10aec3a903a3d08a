"""AdaHedge: exponential weights whose learning rate follows its own losses."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, greater, lesser
from driftgames._kernels.distribution import settle_weights, times_prior
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import inner_kernel, kernel, scalar
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
from driftgames._kernels.sums import dot_of
from driftgames.certificates import bounds
from driftgames.core.checks import as_read_only
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.loss_base import Slope, slope_at
from driftgames.hedge.totals import LOWEST, ROUNDING_ERROR
from driftgames.hedge.two_pass import State, TwoPassLearner, compile_advance, compile_rounds
from driftgames.potentials import NoBoundError


class AdaHedge(TwoPassLearner):
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
    scale_free: ClassVar[bool] = True
    _memory_size = 1  # the gap

    @property
    def gap(self) -> float:
        """The cumulative mixability gap, on losses in [0, 1], or in units of loss without range."""
        return float(self._memory[0])

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.ada_hedge`, in units of loss."""
        if not self._is_bounded:
            raise NoBoundError("losses without a range have no bound before the run")
        return bounds.ada_hedge(horizon, epsilon, self._n_actions) * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        # in a very easy game the gap is no larger than the rounding errors of the totals
        rounding = ROUNDING_ERROR
        if not self._is_bounded:
            rounding = float(np.abs(self._cumulative).max()) * 2.0**-52
        gap = self.gap + self.t * rounding
        return bounds.ada_hedge(horizon, epsilon, self._n_actions, gap=gap) * self._width

    def run_linearised(
        self,
        forecasts: FloatArray,
        outcomes: FloatArray,
        slope: Slope,
        *,
        awake: BoolArray | None = None,
        distributions: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        r"""Play rounds of forecasts with linearised losses; return predictions and distributions.

        .. math:: \ell_{t,i} = g_t (x_{t,i} - \hat y_t), \qquad \hat y_t = p_t\cdot x_t, \quad
                  g_t = \ell'(\hat y_t, y_t)

        The learner's own loss is 0. An expert that sleeps is charged this, so its position does
        not change; its forecast must be that of an expert awake. `loss_base` has the kinds of
        ``slope``. There are no distributions if they are not asked for.
        """
        mixed = np.empty(len(outcomes))
        played = np.empty((len(outcomes) if distributions else 0, self._n_actions))
        _mix_rounds(
            self._cumulative,
            self._totals,
            self._memory,
            as_read_only(np.ascontiguousarray(forecasts)),
            as_read_only(np.ascontiguousarray(outcomes)),
            slope,
            self._scale[3],
            self._prior,
            None if awake is None else self._check_awake(awake, forecasts.shape),
            mixed,
            played,
            np.empty((2, self._n_actions)),
        )
        return mixed, played


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    cumulative, totals, memory = state
    rate, lowest = _learning_rate(memory[0], out.size), totals[LOWEST]
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
    rate = _learning_rate(memory[0], losses.size)
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
    memory[0] += max(learner_loss - mixed, 0.0)


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
_advance = compile_advance(_learn)


@kernel
def _mix_rounds(
    cumulative: FloatArray,
    totals: FloatArray,
    memory: FloatArray,
    forecasts: FloatArray,
    outcomes: FloatArray,
    slope: Slope,
    factor: float,
    prior: FloatArray | None,
    awake: BoolArray | None,
    mixed: FloatArray,
    played: FloatArray,
    buffers: FloatArray,
) -> None:
    """Play the rows of ``forecasts``; ``mixed`` receives the predictions.

    ``factor`` brings losses into the units of the totals. ``played`` receives the distributions if
    it has rows for them.
    """
    kind, parameter = slope
    n = cumulative.size
    p, losses, state = buffers[0], buffers[1], (cumulative, totals, memory)
    for r in range(len(outcomes)):
        whole = _weigh(state, prior, p)
        total = settle_weights(p, whole, prior, awake, r)
        row = forecasts[r]
        least, most = spread(np.inf), spread(-np.inf)
        for i in range(0, n, LANES):
            store(p, i, load(p, i, 0.0) / total)
            least = lesser(load(row, i, np.inf), least)
            most = greater(load(row, i, -np.inf), most)
        # a rounded mean must not leave the range of the experts
        mean = min(max(dot_of(p, row), fold_lesser(least)), -fold_lesser(-most))
        charge = slope_at(kind, parameter, mean, outcomes[r]) * factor
        for i in range(0, n, LANES):
            loss = charge * (load(row, i, 0.0) - mean)
            if awake is not None:
                loss = choose(load_mask(awake[r], i), loss, 0.0)
            store(losses, i, loss)
        _advance(state, prior, losses, whole, 0.0)
        mixed[r] = mean
        if len(played):
            for i in range(n):
                played[r, i] = p[i]
