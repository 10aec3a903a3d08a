"""Coin betting: online convex optimization in high dimension, without anything to tune."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from driftgames._kernels.jit import brief_kernel
from driftgames._kernels.sums import dot, dot_of, total
from driftgames.certificates import RegretCertificate
from driftgames.certificates.bounds.coin_betting import coin_betting
from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_flag,
    check_number,
    check_positive,
    check_vector,
    shown,
)
from driftgames.core.schema import FLAG, NUMBER, Schema, array_of
from driftgames.core.state import check_arrays
from driftgames.core.typing import BoolArray, Content, FloatArray
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.learner import ConvexLearner
from driftgames.oco.losses import DifferentiableLoss, Loss
from driftgames.oco.sets import Box

_INSIDE = 1e-9  # a projection this near, relative to the set, is the point itself


class CoinBetting(ConvexLearner[Loss | DifferentiableLoss, RegretCertificate]):
    r"""Bet on where the gradients go, with a share of a wealth that the bets have earned.

    .. math:: w_t = x_0 + \beta_t W_{t-1}, \qquad
              \beta_t = \frac{F_{S+1}(x+1) - F_{S+1}(x-1)}{F_{S+1}(x+1) + F_{S+1}(x-1)}
              = \frac{x}{S+1}, \qquad W_t = W_{t-1} - \tilde g_t\cdot(w_t - x_0)

    Here :math:`x = -\sum_\tau \tilde g_\tau`, the clock is :math:`S = \sum_\tau |\tilde g_\tau|`,
    and F is the potential of Krichevsky and Trofimov
    (`certificates.bounds.log_krichevsky_trofimov`): the share of the wealth is a difference of
    potentials, as the weights of `Hedge` are. Nothing is tuned, and a round costs O(d). The
    bound does not depend on the dimension. That of `ContinuousHedge`, with any number of chips,
    gets worse as the dimension grows. Orabona and Pal (2016).

    The learner plays the projection :math:`x_t` of :math:`w_t` onto the set and bets on the
    gradient less the part that would drive it further outside. With :math:`v` the unit vector
    from :math:`x_t` to :math:`w_t`, and :math:`g_t` a subgradient at :math:`x_t`,

    .. math:: \tilde g_t = g_t - \min(g_t\cdot v, 0)\,v, \qquad
              f_t(x_t) - f_t(u) \le g_t\cdot(x_t - u) \le \tilde g_t\cdot(w_t - u)

    for every u of the set. Cutkosky and Orabona (2018), in the form of Cutkosky (2020) that
    loses no factor.

    Parameters
    ----------
    domain : ConvexSet
        `Box`, `Simplex`, `Ball` or `Polytope`.
    per_coordinate : bool, optional
        Whether every coordinate bets for itself, or one bettor in the Euclidean norm. Default:
        true for a box, on which every coordinate is projected for itself too.
    stake : float
        The wealth to begin with, in units of the size of the set. Default: 1.

    Notes
    -----
    *The bound* (the form of the certificate). For gradients of length at most G and points
    within R of :math:`x_0` the regret is at most ``G R coin_betting(S / G, stake)``, summed
    over the coordinates that bet for themselves. The proof, for G = R = 1: the bets lost
    :math:`\epsilon - W_T`, so the regret to u is
    :math:`\epsilon - W_T + x\cdot u \le \epsilon - \epsilon F_S(|x|) + |x|`, once
    :math:`W_T \ge \epsilon F_S(|x|)`. That is so at the start. One more round keeps it if
    :math:`(1 + \beta\cdot c)F_S(|x|) \ge F_{S+r}(|x+c|)` for every c of length r <= 1:

    - for c along x and r = 1 it is the martingale property;
    - for c along x and r < 1 the right side is log-convex in r (its second derivative is
      :math:`\psi' - \psi'` at a smaller and a larger argument), and equal at r = 0;
    - for other c both sides are compared at the ends: the left side is linear in the cosine
      of the angle, and the right side is convex in it, because F is convex in :math:`x^2`
      (:math:`\ln F` is a power series in :math:`x^2` without negative coefficients).

    G is not known beforehand. A gradient longer than all before it is not bet on: it costs
    :math:`g\cdot x_t - \min_u g\cdot u`, and the bettor begins again with G raised to a power of
    two. The certificate adds up these costs and the bounds of all beginnings.

    Examples
    --------
    >>> from driftgames.oco import Box, LinearLoss
    >>> learner = CoinBetting(Box(np.zeros(20), np.ones(20)))
    >>> losses = learner.run([LinearLoss(np.full(20, 1 / 20))] * 20_000)
    >>> print(learner.certificate())
    coin betting on a box after 20,000 rounds: regret 1.361, at most 1.672: the bound holds
    """

    _named_arguments: ClassVar[Schema] = {
        **ConvexLearner._named_arguments,
        "per_coordinate": FLAG.or_null,
        "stake": NUMBER,
    }

    def __init__(
        self, domain: ConvexSet, *, per_coordinate: bool | None = None, stake: float = 1.0
    ) -> None:
        super().__init__(domain)
        is_box = isinstance(domain, Box)
        self._per_coordinate = (
            is_box if per_coordinate is None else check_flag("per_coordinate", per_coordinate)
        )
        self._is_product = is_box and self._per_coordinate
        self._stake = check_positive("stake", stake)
        self._middle = domain.middle
        self._near = _INSIDE * domain.farthest
        self._reach = _reach(domain) if self._per_coordinate else np.array([domain.farthest])
        n, n_bettors = domain.n_coordinates, self._reach.size
        self._scale = np.zeros(n_bettors)  # G, a power of two; 0 before any gradient
        self._wealth = self._stake * self._reach
        self._clock = np.zeros(n_bettors)
        self._positions = np.zeros(n)
        self._ended = np.zeros((0, 3))  # reach, scale and clock
        self._unbet = 0.0
        self._gradients = np.zeros(n)
        self._played = 0.0

    # ---------------------------------------------------------------- playing

    @property
    def title(self) -> str:
        """Coin betting and the kind of set."""
        return f"coin betting on a {type(self._domain).__name__.lower()}"

    def predict(self) -> FloatArray:
        """Return the point for the next round."""
        return self._domain.project(self._bet())

    def update(self, loss: Loss | DifferentiableLoss) -> float:
        """Take the loss of a round and return the learner's own loss.

        The loss must have a gradient: a loss of the library, or a `DifferentiableLoss`.
        """
        if not isinstance(loss, Loss | DifferentiableLoss):
            raise ValueError(
                f"coin betting needs the gradient of a loss; got {shown(loss)}; use LinearLoss, "
                "QuadraticLoss, LogWealthLoss or DifferentiableLoss(function, gradient)"
            )
        with self._lock:
            bet = self._bet()
            point = self._domain.project(bet)
            # copies, because a function may work in place
            values = as_floats("losses", loss(point[np.newaxis].copy()))
            own = float(check_vector("losses", values, 1)[0])
            gradient = check_vector("gradient", loss.gradient_at(point.copy()), point.size)
            gradient = gradient - self._domain.off_plane(gradient[np.newaxis])[0]
            self._take_gradient(bet, point, gradient)
            self._t += 1
            self._learner_loss += own
        return own

    @property
    def wealth(self) -> FloatArray:
        """What every bettor has, in the units of its coordinate."""
        return self._wealth.copy()

    def certificate(self) -> RegretCertificate:
        r"""Return the regret to the best point of the set beside its bound.

        The regret is that of the linearised losses, :math:`\max_u \sum_t g_t\cdot(x_t - u)`,
        which convexity keeps above the regret of the losses themselves.
        """
        best = self._domain.lowest(self._gradients) - self._middle
        behind = dot(self._gradients, best)
        begun = np.concatenate([self._ended, self._bettors()])
        reach, scale, clock = begun[begun[:, 1] > 0].T
        promised = self._unbet + float((scale * reach * coin_betting(clock, self._stake)).sum())
        return RegretCertificate(
            self.title,
            self._t,
            self._played - behind,
            promised,
            largest=max(abs(self._played), abs(behind)),
        )

    # ---------------------------------------------------------------- betting

    def _bet(self) -> FloatArray:
        return self._middle + self._offset()

    def _offset(self) -> FloatArray:
        """Return the bet less the middle, which keeps bets far smaller than the middle."""
        return self._positions / (self._clock + 1.0) * self._wealth

    def _take_gradient(self, bet: FloatArray, point: FloatArray, gradient: FloatArray) -> None:
        """Settle the bets of a round, or begin again where a gradient is longer than ever."""
        surrogate = self._surrogate(bet, point, gradient)
        scale, sizes, gradients = self._scale, np.empty_like(self._scale), self._gradients.copy()
        within, finite = measure(gradient, surrogate, self._is_product, scale, sizes, gradients)
        played, unbet = self._played + dot(gradient, point - self._middle), self._unbet
        if not within:
            if not np.isfinite(sizes).all():
                raise ValueError("a gradient is too long: the square of its length overflows")
            longer = sizes > scale  # if the set is no product, all bettors have the same size
            with np.errstate(over="ignore", invalid="ignore"):  # refused below
                costs = gradient * (point - self._domain.lowest(gradient))
                unbet += total(np.where(longer, costs, 0.0))
                scale = np.where(longer, _power_of_two(sizes), scale)
        if not (
            finite
            and math.isfinite(played)
            and math.isfinite(unbet)
            and (within or np.isfinite(scale).all())
        ):
            raise ValueError("a gradient is too long: the totals of the run overflow")
        offset = self._offset()
        self._gradients, self._played, self._unbet = gradients, played, unbet
        if not within:
            self._begin_again(longer, scale)
            surrogate = np.where(longer, 0.0, surrogate)
        bettors = self._wealth, self._clock, self._positions
        settle(surrogate, offset, self._scale, self._per_coordinate, *bettors)

    def _surrogate(self, bet: FloatArray, point: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the gradient less the part that would drive the bet further outside."""
        surrogate = gradient.copy()
        stay_inside(surrogate, bet - point, self._near, self._is_product)
        return surrogate

    def _bettors(self) -> FloatArray:
        """Return reach, scale and clock of each bettor, one per row."""
        return np.column_stack([self._reach, self._scale, self._clock])

    def _begin_again(self, which: BoolArray, scale: FloatArray) -> None:
        self._ended = np.concatenate([self._ended, self._bettors()[which & (self._clock > 0)]])
        self._scale = scale
        self._wealth = np.where(which, self._stake * self._reach, self._wealth)
        self._clock = np.where(which, 0.0, self._clock)
        self._positions = np.where(which, 0.0, self._positions)

    # ---------------------------------------------------------------- state

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        n = getattr(arguments.get("domain"), "n_coordinates", None)
        arrays = {name: array_of(n) for name in ("positions", "gradients")}
        return ours, {**state, **arrays, "ended": array_of(None, 3)}

    def _get_own_state(self) -> Content:
        return {name: getattr(self, f"_{name}") for name in (*_NUMBERS, *_ARRAYS, "ended")}

    def _set_own_state(self, state: Content) -> None:
        ended = as_floats("ended", state["ended"]).reshape(-1, 3)
        check_finite("ended", ended)
        check_arrays({**state, "ended": None}, {**self._get_state(), "ended": None})
        if any((array < 0).any() for array in (state["scale"], state["clock"], ended)):
            raise ValueError("scale, clock and ended must be nonnegative")
        for name in _NUMBERS:
            check_number(name, state[name])
        for name in (*_NUMBERS, *_ARRAYS):
            setattr(self, f"_{name}", state[name])
        self._ended = ended


_NUMBERS = ("played", "unbet")
_ARRAYS = ("scale", "wealth", "clock", "positions", "gradients")


@brief_kernel
def stay_inside(gradient: FloatArray, outside: FloatArray, near: float, is_product: bool) -> None:
    """Take off the part of a gradient that would drive a bet further ``outside``."""
    if is_product:
        for i in range(gradient.size):
            if gradient[i] * outside[i] < 0:
                gradient[i] = 0.0
        return
    squared, slope = dot_of(outside, outside), dot_of(gradient, outside)
    if not (math.sqrt(squared) <= near or slope >= 0):
        for i in range(gradient.size):
            gradient[i] -= slope / squared * outside[i]


@brief_kernel
def measure(
    gradient: FloatArray,
    surrogate: FloatArray,
    is_product: bool,
    scale: FloatArray,
    sizes: FloatArray,
    gradients: FloatArray,
) -> tuple[bool, bool]:
    """Write the size of each bettor's surrogate and add the gradient to the sum of all.

    Return whether no size exceeds its scale, and whether the sum is finite.
    """
    within = finite = True
    length = 0.0 if is_product else math.sqrt(dot_of(surrogate, surrogate))
    for i in range(sizes.size):
        sizes[i] = abs(surrogate[i]) if is_product else length
        within &= sizes[i] <= scale[i]
    for i in range(gradients.size):
        gradients[i] += gradient[i]
        finite &= math.isfinite(gradients[i])
    return within, finite


@brief_kernel
def settle(
    surrogate: FloatArray,
    offset: FloatArray,
    scale: FloatArray,
    per_coordinate: bool,
    wealth: FloatArray,
    clock: FloatArray,
    positions: FloatArray,
) -> None:
    """Move wealth, clock and positions; ``surrogate`` becomes the moves."""
    moves = surrogate
    for i in range(moves.size):
        unit = scale[i if per_coordinate else 0]
        moves[i] = -moves[i] / (unit if unit > 0 else 1.0)  # without a scale there is no bet
        positions[i] += moves[i]
        if per_coordinate:
            wealth[i] += moves[i] * offset[i]
            clock[i] += abs(moves[i])
    if not per_coordinate:
        wealth[0] += dot_of(moves, offset)
        clock[0] += math.sqrt(dot_of(moves, moves))


def _power_of_two(sizes: FloatArray) -> FloatArray:
    """Return for each size the lowest power of two that is not below it."""
    fractions, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(1.0, exponents - (fractions == 0.5)))


def _ends(domain: ConvexSet, coordinate: int) -> tuple[float, float]:
    """Return the lowest and the highest value of a coordinate in the set."""
    axis = np.zeros(domain.n_coordinates)
    axis[coordinate] = 1.0
    return domain.lowest(axis)[coordinate], domain.lowest(-axis)[coordinate]


def _reach(domain: ConvexSet) -> FloatArray:
    """Return for each coordinate how far from the middle a point of the set can lie."""
    if isinstance(domain, Box):
        low, high = domain.low, domain.high
    else:
        ends = [_ends(domain, i) for i in range(domain.n_coordinates)]
        low, high = np.array(ends).T
    return np.asarray(np.maximum(high - domain.middle, domain.middle - low))
