"""BOA: exponential weights with a learning rate and a second-order charge for each action."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, greater, lesser, root, size
from driftgames._kernels.elementary import exp, log, log1p
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames._kernels.lanes import LANES, fold, fold_lesser, load, spread, store
from driftgames.certificates import bounds
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.linearised_kernels import compile_mixing
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner
from driftgames.hedge.rounds.share_kernels import shares_at
from driftgames.hedge.rounds.two_pass import State, compile_rounds

_LOG_WEIGHT, _HEADER = 0, 1
_ROOTS, _SCALES = 1, 2  # rows of the memory: L, the root of V, the scale, C
_LEAST_CHARGE = 0.6931471805599453  # ln 2
_ONE_OVER_E, _ROOT_OF_E = 0.36787944117144233, 1.6487212707001282


class BOA(ScaleFreeLearner):
    r"""Bernstein online aggregation (Wintenberger, 2017), with a learning rate per action.

    .. math:: p_{t,i} \propto q_i \eta_{t,i} e^{\eta_{t,i} L_{t-1,i}}, \qquad
              L_{t,i} = L_{t-1,i} + \bar r_{t,i} - \eta_{t,i} \bar r_{t,i}^2, \qquad
              \eta_{t,i} = \min\Bigl\{\frac1{2 S_i}, \sqrt{\frac{\lambda_i}{V_i}}\Bigr\}

    where :math:`r_{t,i} = p_t\cdot\ell_t - \ell_{t,i}` is the regret of a round, :math:`S_i` the
    largest :math:`|r_{\tau,i}|` so far, :math:`\bar r_{t,i}` is :math:`r_{t,i}` clipped to
    :math:`\pm S_i`, :math:`V_i = \sum_{\tau<t} \bar r_{\tau,i}^2`, q is the prior and
    :math:`\lambda_i = \max\{\ln\frac1{q_i}, \ln 2\}`. With a range of the losses :math:`S_i` is its
    width. The regret to an action grows with the square root of its own V. Actions may sleep, and
    losses may be of any size (``loss_range=None``): multiplying all of them by a constant changes
    no distribution.

    The certificate has the bound of the run, `bounds.boa`: with
    :math:`C_i = \sum_t \eta_{t,i}\bar r_{t,i}^2 + [r_{t,i} - \bar r_{t,i}]_+` and the last rate
    :math:`\eta_i`, the regret to an action is at most :math:`C_i + \frac1{\eta_i}\ln\frac W{q_i}`.

    O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning 106,
    2017.

    Examples
    --------
    >>> h = BOA(n_actions=3)
    >>> round(h.update([0.2, 0.9, 0.4]), 12)
    0.5
    >>> h.distribution()
    array([0.38232443, 0.26474564, 0.35292993])
    >>> h = BOA(n_actions=3, loss_range=None)
    >>> for row in [[200, 900, 400], [100, 700, 600]]:
    ...     _ = h.update(row)
    >>> h.distribution()
    array([0.32166829, 0.07220766, 0.60612405])

    Notes
    -----
    The paper doubles an estimate of the scale, and charges a loss beyond it. Here each action has
    the scale of its own regrets, and a round is clipped to the scale before it. A gain that is
    clipped is paid for by its action, once for all rounds. A loss that is clipped adds to W.
    An action without a regret so far has the mean scale of the others.
    """

    title = "BOA"
    sleeps: ClassVar[bool] = True

    def __init__(
        self,
        n_actions: int | None = None,
        *,
        prior: npt.ArrayLike | None = None,
        loss_range: tuple[float, float] | None = (0.0, 1.0),
        gains: bool = False,
        dtype: npt.DTypeLike = np.float64,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            n_actions, prior=prior, loss_range=loss_range, gains=gains, dtype=dtype, names=names
        )
        if self._is_bounded:
            self._rows(self._memory)[_SCALES] = 1.0

    @property
    def _memory_size(self) -> int:
        # ln W; of each action L, the root of V, the scale and C
        return _HEADER + 4 * self._n_actions

    def _rows(self, memory: FloatArray) -> FloatArray:
        return memory[_HEADER:].reshape(4, self._n_actions)

    def bound(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        """Return `bounds.boa`, in units of loss."""
        self._check_bounded()
        shares = np.full(1, 1.0 / self._n_actions)
        if self._prior is not None:
            shares = self._occupied(self._prior)
        found = bounds.boa(horizon, epsilon, float(shares.min()), float(shares.max()))
        return found * self._width

    def _promise(self, horizon: npt.ArrayLike, epsilon: npt.ArrayLike) -> FloatArray:
        shares = np.full(self._n_actions, 1.0 / self._n_actions)
        if self._prior is not None:
            shares = self._prior
        best_first = np.argsort(self._positions(), kind="stable")
        best_first = best_first[shares[best_first] > 0]
        _, roots, scales, costs = self._rows(self._memory)[:, best_first]
        # an action without a regret has no scale, and its bound must only be valid
        scales = np.where(scales > 0, scales, scales.max())
        shares = shares[best_first]
        charges = np.maximum(-np.log(shares), _LEAST_CHARGE)
        found = bounds.boa_of_run(
            epsilon,
            shares=shares,
            costs=costs,
            widths=np.maximum(2 * scales, roots / np.sqrt(charges)),
            log_weight=float(self._memory[_LOG_WEIGHT]),
        )
        return found * self._width

    def _check_memory(self, memory: FloatArray) -> None:
        rows = self._rows(memory)
        super()._check_memory(np.append(memory[:_HEADER], rows[_ROOTS:]))
        # the regret of a round is at most 1, up to rounding
        if self._is_bounded and (np.abs(rows[_SCALES] - 1.0) > 1e-9).any():
            raise ValueError(f"scales must be 1; got {rows[_SCALES].max():g}")


@scalar
def _width_at(scale: float, square_root: float, share: float) -> float:
    """Return one over the learning rate."""
    return greater(2.0 * scale, square_root / root(greater(-log(share), _LEAST_CHARGE)))


@inner_kernel
def _mean_scale(scales: FloatArray, prior: FloatArray | None) -> float:
    """Return the mean scale of the actions that have one; 0 if none has."""
    total, count = spread(0.0), spread(0.0)
    for i in range(0, scales.size, LANES):
        scale = load(scales, i, 0.0)
        known = (scale > 0.0) & (shares_at(prior, scales.size, i) > 0.0)
        total += choose(known, scale, 0.0)
        count += choose(known, 1.0, 0.0)
    known_ones = fold(count)
    return fold(total) / known_ones if known_ones > 0.0 else 0.0


@inner_kernel
def _weigh(state: State, prior: FloatArray | None, out: FloatArray) -> float:
    n, memory = out.size, state[2][_HEADER:]
    charged, roots = memory[:n], memory[n : 2 * n]
    scales = memory[2 * n : 3 * n]
    mean = _mean_scale(scales, prior)
    unknown = mean if mean > 0.0 else 1.0
    most, least, total = spread(-np.inf), spread(np.inf), spread(0.0)
    for i in range(0, n, LANES):
        q, scale = shares_at(prior, n, i), load(scales, i, 0.0)
        width = _width_at(choose(scale > 0.0, scale, unknown), load(roots, i, 0.0), q)
        exponent = choose(q > 0.0, load(charged, i, 0.0) / width, -np.inf)
        most = greater(exponent, most)
        least = lesser(choose(q > 0.0, width, np.inf), least)
        store(out, i, exponent)
    highest, narrowest = -fold_lesser(-most), fold_lesser(least)
    for i in range(0, n, LANES):
        q, scale = shares_at(prior, n, i), load(scales, i, 0.0)
        width = _width_at(choose(scale > 0.0, scale, unknown), load(roots, i, 0.0), q)
        w = q * exp(load(out, i, -np.inf) - highest) * (narrowest / width)
        w = choose(q > 0.0, w, 0.0)
        store(out, i, w)
        total += w
    return fold(total)


@inner_kernel
def _largest_regret(losses: FloatArray, prior: FloatArray | None, learner_loss: float) -> float:
    most = spread(0.0)
    for i in range(0, losses.size, LANES):
        regret = size(learner_loss - load(losses, i, learner_loss))
        most = greater(choose(shares_at(prior, losses.size, i) > 0.0, regret, 0.0), most)
    return -fold_lesser(-most)


@inner_kernel
def _learn(
    state: State, prior: FloatArray | None, losses: FloatArray, total: float, learner_loss: float
) -> None:
    n, log_weight, memory = losses.size, state[2][_LOG_WEIGHT], state[2][_HEADER:]
    charged, roots = memory[:n], memory[n : 2 * n]
    scales, costs = memory[2 * n : 3 * n], memory[3 * n :]
    unknown = _mean_scale(scales, prior)
    if unknown == 0.0:  # the weights are the prior, at whatever scale all actions share
        unknown = _largest_regret(losses, prior, learner_loss)
        if unknown == 0.0:
            return
    tilt, growth = spread(0.0), spread(0.0)
    for i in range(0, n, LANES):
        q, seen = shares_at(prior, n, i), load(scales, i, 0.0)
        before, square_root = load(charged, i, 0.0), load(roots, i, 0.0)
        scale = choose(seen > 0.0, seen, unknown)
        width = _width_at(scale, square_root, q)
        regret = learner_loss - load(losses, i, learner_loss)
        clipped = greater(lesser(regret, scale), -scale)
        x = clipped / width
        # an exponent is at most ln(W / q); without prior it is not used
        weight = exp(choose(q > 0.0, before / width - log_weight, 0.0))
        tilt += q * weight * x
        after = before + clipped - clipped * x
        square_root = _norm(square_root, clipped)
        seen_now = greater(seen, size(regret))
        wider = _width_at(choose(seen_now > 0.0, seen_now, unknown), square_root, q) / width
        # x ** a <= x + min(1, (1 / a - 1) / e) for a in (0, 1]
        slower = lesser(greater(wider - 1.0, 0.0) * _ONE_OVER_E, 1.0)
        # the exponent after the first regret is at most 1/2
        begins = choose((seen_now > 0.0) & (after > 0.0), greater(slower, _ROOT_OF_E - 1.0), slower)
        growth += q * choose(seen > 0.0, slower, begins)
        store(charged, i, after)
        store(roots, i, square_root)
        store(scales, i, seen_now)
        store(costs, i, load(costs, i, 0.0) + clipped * x + greater(regret - clipped, 0.0))
    added = max(fold(tilt), 0.0) + fold(growth) * exp(-log_weight)
    state[2][_LOG_WEIGHT] = log_weight + log1p(added)


@scalar
def _norm(x: float, y: float) -> float:
    """Return the root of the sum of two squares, which do not overflow; x is nonnegative."""
    most = greater(x, size(y))
    a, b = x / most, y / most
    return choose(most > 0.0, most * root(a * a + b * b), 0.0)


BOA._play_rounds = staticmethod(compile_rounds(_weigh, _learn))
BOA._mix_rounds = staticmethod(compile_mixing(_weigh, _learn))
