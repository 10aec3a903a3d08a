r"""Confidence by betting: bounds on a mean from the wealth of a bettor against it.

Someone claims that values :math:`X_t \ge 0` have the mean m. A bettor who buys
:math:`\lambda \ge 0` units of :math:`X_t`, at the price m, from every unit of cash, multiplies
its wealth by

.. math:: \frac{1 + \lambda X_t}{1 + \lambda m}

in round t. If the claim is true, the wealth is a nonnegative martingale that begins with 1, and
Ville's inequality says that it ever reaches :math:`1/\delta` with probability at most
:math:`\delta`. The means against which the wealth is below :math:`1/\delta` are a confidence set,
valid after all rounds at once, for independent values and for values that depend on the past.

References
----------
.. [WSR24] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
   betting", Journal of the Royal Statistical Society B 86 (2024).
.. [OJ24] F. Orabona and K.-S. Jun, "Tight concentrations and confidence sequences from the regret
   of universal portfolio", IEEE Transactions on Information Theory 70 (2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log, log_all
from driftgames._kernels.sums import total
from driftgames.certificates import betting_kernels as kernels
from driftgames.certificates.betting_kernels import (
    HIGH_ENDS,
    HIGHEST,
    LOW_ENDS,
    LOWEST,
    SUM,
    WEIGHT,
    T,
)
from driftgames.core.checks import (
    as_floats,
    check_choice,
    check_finite,
    check_flag,
    check_fraction,
    check_integer,
    check_number,
    check_range,
    first_index,
    is_real,
    shown,
)
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.schema import FLAG, LIST, SHARE, Schema, array_of, integer, one_of
from driftgames.core.state import Stateful, check_arrays, check_clock
from driftgames.core.typing import Axes, Content, Figure, FloatArray
from driftgames.tables import counted

SIDES = ("both", "lower", "upper")
_SPAN = 40  # half powers of two, on each side of the rate that is tuned for
_N_RATES = 2 * _SPAN + 1
_TYPICAL_DEVIATION = 0.25  # of values in [0, 1]; the prior is so wide that it hardly matters

Ends = tuple[float | None, float | None]
"""The ends of a range; None where there is none."""


class ConfidenceSequence(Stateful):
    r"""Bounds on the mean of bounded values that hold after every round at once.

    .. math:: W_t(m) = \sum_j \pi_j \prod_{\tau\le t}
              \left(\frac{1 + \lambda_j X_\tau}{1 + \lambda_j m}\right)^{\omega_\tau}, \qquad
              \Pr\left[\exists t: W_t(m) \ge 1/\delta\right] \le \delta

    for values :math:`X_\tau \ge 0` with mean m, given the past, and weights :math:`\omega_\tau`
    in (0, 1]. This is the wealth of a universal portfolio of cash and X. The lower bound is the
    mean at which :math:`W_t` is :math:`1/\delta`; the upper bound comes from bets on
    :math:`1 - X`, and for both the two wealths are averaged. :math:`\ln W_t` is convex in m, so
    that the confidence set is an interval. [WSR24]_, [OJ24]_

    Parameters
    ----------
    delta : float
        The chance of a miss, over all rounds and both sides. Default: 0.05.
    value_range : (float or None, float or None)
        Between which numbers all values lie. An end that is None is unknown; the lower bound needs
        the low end alone. Default: (0, 1).
    side : {"both", "lower", "upper"}
        Which bounds to find; one bound alone has all of ``delta``.
    drifting : bool
        False: the values have one mean, given the past. The interval is then the intersection of
        those of all rounds. True: the means may change, even in reaction to the past, and the
        interval is one for their average so far. Default: False.
    tuned_for : int
        After how many values the interval should be narrowest. It holds for any number.
        Default: 1,000.

    Notes
    -----
    *Drifting means.* Let :math:`v_\tau` be the mean of :math:`X_\tau`, given the past. The product
    of :math:`(1 + \lambda X_\tau)/(1 + \lambda v_\tau)` is a martingale, and the logarithm is
    concave, so that :math:`\prod_\tau (1 + \lambda v_\tau) \le (1 + \lambda \bar v)^t`. Against
    the average :math:`\bar v` the wealth is therefore at most that martingale. This needs rates
    that do not depend on m or t.

    *Weights.* With :math:`\omega \le 1` the power is concave, and the mean of
    :math:`y^\omega` is at most :math:`1 + \omega(\mathrm{E}y - 1)`. The bounds are on
    :math:`\sum\omega_\tau v_\tau / \sum\omega_\tau` if a weight is known before its value. If pairs
    of weight and value are drawn together, they are on :math:`\mathrm{E}\omega X/\mathrm{E}\omega`.

    *A range that grows.* `grow` widens the range before a value is seen. Bets on
    :math:`X - low_\tau` have the same proof with the mean of the low ends.

    *The mixture.* The rates are :math:`\lambda_0 2^{j/2}` for j from -40 to 40, with masses
    proportional to :math:`1/(1 + j^2/16)`, around the best rate :math:`\lambda_0` for
    ``tuned_for`` values of standard deviation 1/4 of the range.

    Examples
    --------
    >>> coin = ConfidenceSequence(0.05)
    >>> flips = np.random.default_rng(0).random(1000) < 0.3
    >>> coin.update(flips)
    >>> print(coin)
    mean 0.2770 after 1,000 values: in [0.2368, 0.3224] with confidence 0.95
    >>> round(coin.wealth(0.5)) > 1e30  # what a bettor against 1/2 has made of 1
    True
    """

    VERSION = 1
    _named_arguments: ClassVar[Schema] = {
        "delta": SHARE,
        "value_range": LIST,
        "side": one_of(*SIDES),
        "drifting": FLAG,
        "tuned_for": integer(1),
    }

    def __init__(
        self,
        delta: float = 0.05,
        *,
        value_range: Ends = (0.0, 1.0),
        side: str = "both",
        drifting: bool = False,
        tuned_for: int = 1000,
    ) -> None:
        self._delta = check_fraction("delta", delta)
        self._side = check_choice("side", side, SIDES)
        self._value_range = check_ends("value_range", value_range, side)
        self._drifting = check_flag("drifting", drifting)
        self._tuned_for = check_integer("tuned_for", tuned_for, least=1)
        low, high = self._value_range
        self._origin = low if low is not None else high if high is not None else 0.0
        self._scale = 1.0 if low is None or high is None else high - low
        self._target = -log(self._delta) if self._delta < 1 else 0.0
        both = side == "both"
        self._rates = bet_rates(self._target + (log(2.0) if both else 0.0), self._tuned_for)
        self._log_prior = np.vstack([log_masses(both) if side in s else NO_BETS for s in _UP_DOWN])
        self._ends = self._in_units(self._value_range)
        self._sums = np.zeros((2, _N_RATES))
        self._numbers = np.zeros(7)
        self._numbers[[LOWEST, HIGHEST]] = self._ends

    # ---------------------------------------------------------------- values

    def update(self, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> None:
        """Learn one value, or many in order, each with its weight in (0, 1]. Default: 1."""
        x, w = self._check(values, weights)
        with self._lock:
            self._play(x, w, every=False)

    def run(self, values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> ConfidenceRun:
        """Learn many values in order, and return the bounds after each of them."""
        x, w = self._check(values, weights)
        with self._lock:
            before = self.copy()
            lows, highs = self._play(x, w, every=True)
        return ConfidenceRun(before, x, w, lows, highs)

    def grow(self, low: float | None, high: float | None) -> None:
        """Widen the range for all values from the next on; it must hold the range so far."""
        wider = check_ends("the range", (low, high), self._side)
        for name, old, new, sign in zip(
            ("low", "high"), self.value_range, wider, (-1.0, 1.0), strict=True
        ):
            if new is not None and (old is None or sign * (new - old) < 0):
                raise ValueError(
                    f"a range can only grow: its {name} end is {shown(old)}; got {shown(new)}"
                )
        with self._lock:
            self._ends = self._in_units(wider)
            if not self.t:  # later the first value's range is known to hold a constant mean
                self._numbers[[LOWEST, HIGHEST]] = self._ends

    def _check(
        self, values: npt.ArrayLike, weights: npt.ArrayLike | None
    ) -> tuple[FloatArray, FloatArray]:
        x = np.atleast_1d(as_floats("values", values))
        if x.ndim != 1:
            raise ValueError(f"values must be one-dimensional; got shape {x.shape}")
        check_finite("values", x)
        low, high = self.value_range
        least = -math.inf if low is None else low
        check_range("values", x, least, math.inf if high is None else high)
        return x, check_weights(weights, x.size)

    def _play(self, x: FloatArray, w: FloatArray, *, every: bool) -> tuple[FloatArray, FloatArray]:
        lows, highs = np.empty((2, x.size if every else 0))
        kernels.play(
            np.clip((x - self._origin) / self._scale, *self._limits()),  # rounding
            w,
            self._ends,
            self._rates,
            self._log_prior,
            self._target,
            self._drifting,
            every,
            self._sums,
            self._numbers,
            lows,
            highs,
        )
        for bounds, absent in ((lows, -math.inf), (highs, math.inf)):
            bounds[:] = self._origin + self._scale * bounds
            if not self._bets(absent < 0):
                bounds[:] = absent
        return lows, highs

    # ---------------------------------------------------------------- what is known

    @property
    def t(self) -> int:
        """The number of values so far."""
        return int(self._numbers[T])

    @property
    def delta(self) -> float:
        """The chance of a miss."""
        return self._delta

    @property
    def value_range(self) -> Ends:
        """The range that the next value must lie in."""
        low, high = (self._origin + self._scale * end for end in self._ends.tolist())
        first, second = self._value_range
        return (None if first is None else low, None if second is None else high)

    @property
    def mean(self) -> float:
        """The weighted mean of the values; NaN before the first."""
        if not self.t:
            return math.nan
        return self._origin + self._scale * float(self._numbers[SUM] / self._numbers[WEIGHT])

    @property
    def low(self) -> float:
        """The lower bound; minus infinity if it is not asked for."""
        return self._bound(lower=True)

    @property
    def high(self) -> float:
        """The upper bound; infinite if it is not asked for."""
        return self._bound(lower=False)

    @property
    def contradicted(self) -> bool:
        """Whether no constant mean is left, so that the mean changes or a miss happened."""
        return self.low > self.high

    def wealth(self, mean: float) -> float:
        """Return what a bettor against this mean has made of 1; infinite if it overflows."""
        logarithm = self.log_wealth(mean)
        return math.exp(logarithm) if logarithm < 709.0 else math.inf

    def log_wealth(self, mean: float) -> float:
        """Return the natural logarithm of `wealth`."""
        m = (check_number("mean", mean) - self._origin) / self._scale
        with self._lock:
            state = self._sums, self._log_prior, self._rates, self._numbers
            return kernels.log_wealth(*state, m)[0] if self.t else 0.0

    def _bound(self, *, lower: bool) -> float:
        if not self._bets(lower):
            return -math.inf if lower else math.inf
        with self._lock:
            found = float(self._numbers[LOWEST if lower else HIGHEST])
            if self._drifting and self.t:
                ends = self._numbers[LOW_ENDS if lower else HIGH_ENDS]
                outside = float(ends / self._numbers[WEIGHT])
                state = self._sums, self._log_prior, self._rates, self._numbers
                found = kernels.find_bound(*state, outside, self._target)
            return self._origin + self._scale * found

    def _bets(self, lower: bool) -> bool:
        return self._side in ("both", "lower" if lower else "upper")

    def __str__(self) -> str:
        what = f"mean {self.mean:.4f} after {counted(self.t, 'value')}"
        if self.contradicted:
            return f"{what}: no constant mean agrees with them, with confidence {1 - self._delta:g}"
        return f"{what}: in [{self.low:.4f}, {self.high:.4f}] with confidence {1 - self._delta:g}"

    def __repr__(self) -> str:
        return f"<confidence sequence: {counted(self.t, 'value')}, delta {self._delta:g}>"

    # ---------------------------------------------------------------- units and state

    def _in_units(self, ends: Ends) -> FloatArray:
        known = [self._origin if end is None else end for end in ends]
        return (np.array(known) - self._origin) / self._scale

    def _limits(self) -> tuple[float, float]:
        low, high = self._ends.tolist()
        first, second = self._value_range
        return (-math.inf if first is None else low, math.inf if second is None else high)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        arrays = {"sums": array_of(2, _N_RATES), "numbers": array_of(7), "ends": array_of(2)}
        return {**cls._named_arguments, "value_range": LIST}, arrays

    def _get_state(self) -> Content:
        return {"sums": self._sums, "numbers": self._numbers, "ends": self._ends}

    def _set_state(self, state: Content) -> None:
        check_arrays(state, self._get_state())
        numbers, ends, own = state["numbers"], state["ends"], self._in_units(self._value_range)
        if numbers[T] != math.floor(numbers[T]):
            raise ValueError(f"the clock must be an integer; got {numbers[T]:g}")
        t = check_clock("the clock", int(numbers[T]))
        if not 0 <= numbers[WEIGHT] <= t or (numbers[WEIGHT] == 0) != (t == 0):
            raise ValueError(f"{t} values cannot have the weight {numbers[WEIGHT]:g}")
        if ends[0] > own[0] or ends[1] < own[1]:
            raise ValueError("the range must hold the range of the arguments")
        if t == 0 and (state["sums"] != 0).any():
            raise ValueError("without a value no bet is settled")
        self._sums, self._numbers, self._ends = state["sums"], numbers, ends


@dataclass(frozen=True, eq=False)
class ConfidenceRun(Displayed):
    """The bounds after each value of one call of `ConfidenceSequence.run`.

    Parameters
    ----------
    before : ConfidenceSequence
        A copy of the sequence as it was before the first of these values.
    values, weights, low, high : array
        The values, their weights, and the bounds after each.
    """

    before: ConfidenceSequence
    values: FloatArray
    weights: FloatArray
    low: FloatArray
    high: FloatArray

    def _headline(self) -> str:
        last = f", mean in [{self.low[-1]:.4f}, {self.high[-1]:.4f}]" if self.values.size else ""
        return (
            f"{counted(self.values.size, 'value')}{last} with confidence {1 - self.before.delta:g}"
        )

    def _columns(self) -> Fields:
        rounds = np.arange(self.before.t + 1, self.before.t + 1 + self.values.size)
        bounds = {"mean": self.mean, "low": self.low, "high": self.high}
        return {"value_number": rounds, "value": self.values, "weight": self.weights, **bounds}

    def _sketch(self) -> Sketch:
        rounds = range(self.before.t + 1, self.before.t + 1 + self.values.size)
        return Sketch(
            rounds, {"mean": self.mean, "low": self.low, "high": self.high}, label="value"
        )

    @property
    def mean(self) -> FloatArray:
        """The weighted mean of all values so far, after each of these."""
        earlier = self.before._numbers
        unit, origin = self.before._scale, self.before._origin
        sums = (earlier[SUM] * unit + origin * earlier[WEIGHT]) + np.cumsum(
            self.weights * self.values
        )
        return np.asarray(sums / (earlier[WEIGHT] + np.cumsum(self.weights)))

    def log_wealth(self, mean: float) -> FloatArray:
        """Return the natural logarithm of the wealth against this mean, after each value."""
        bettor, out = self.before.copy(), np.empty(self.values.size)
        m = (check_number("mean", mean) - bettor._origin) / bettor._scale
        kernels.play_wealth(
            np.clip((self.values - bettor._origin) / bettor._scale, *bettor._limits()),
            self.weights,
            bettor._ends,
            bettor._rates,
            bettor._log_prior,
            m,
            bettor._sums,
            bettor._numbers,
            out,
        )
        return out

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the mean and its bounds over the number of values."""
        from driftgames.plots.confidence import plot_confidence

        first = self.before.t + 1
        rounds = np.arange(first, first + self.values.size, dtype=np.float64)
        return plot_confidence(rounds, self.mean, self.low, self.high, ax=ax)

    def plot_wealth(self, *means: float, ax: Axes | None = None) -> Figure:
        """Draw the wealth against each of these means, and the wealth that rejects one."""
        from driftgames.plots.confidence import plot_test_wealth

        first = self.before.t + 1
        rounds = np.arange(first, first + self.values.size, dtype=np.float64)
        curves = {f"mean {mean:g}": self.log_wealth(mean) for mean in means}
        return plot_test_wealth(rounds, curves, self.before.delta, ax=ax)


def confidence_sequence(
    values: npt.ArrayLike,
    delta: float = 0.05,
    *,
    weights: npt.ArrayLike | None = None,
    value_range: Ends = (0.0, 1.0),
    side: str = "both",
    drifting: bool = False,
    tuned_for: int | None = None,
) -> ConfidenceRun:
    """Return the bounds of `ConfidenceSequence` after each of these values.

    Parameters are those of `ConfidenceSequence`; ``tuned_for`` is the number of values by default.

    >>> run = confidence_sequence(np.tile([0.2, 0.4], 200))
    >>> print(f"{run.low[9]:.3f} {run.high[9]:.3f}; {run.low[-1]:.3f} {run.high[-1]:.3f}")
    0.153 0.611; 0.284 0.316
    """
    x = as_floats("values", values)
    learner = ConfidenceSequence(
        delta,
        value_range=value_range,
        side=side,
        drifting=drifting,
        tuned_for=max(x.size, 1) if tuned_for is None else tuned_for,
    )
    return learner.run(x, weights)


# -------------------------------------------------------------------- checks


def check_ends(name: str, value: object, side: str) -> Ends:
    """Return a range that has the ends which ``side`` needs, or say which is missing."""
    ends = list(value) if isinstance(value, tuple | list) else []
    ends = [None if is_real(end) and math.isinf(end) else end for end in ends]
    good = len(ends) == 2 and all(
        end is None or (is_real(end) and math.isfinite(end)) for end in ends
    )
    if not good or (None not in ends and not 0 < ends[1] - ends[0] < math.inf):
        raise ValueError(f"{name} must be (low, high), low < high, or None; got {shown(value)}")
    for end, what, needed in zip(ends, ("low", "high"), ("lower", "upper"), strict=True):
        if end is None and side in ("both", needed):
            raise ValueError(
                f"the {needed} bound needs the {what} end of the values; got {shown(value)} as "
                f"{name} with side={side!r}"
            )
    low, high = (None if end is None else float(end) for end in ends)
    return low, high


def check_weights(weights: npt.ArrayLike | None, length: int) -> FloatArray:
    """Return one weight in (0, 1] per value, ones by default, or name the first that is not."""
    if weights is None:
        return np.ones(length)
    w = np.atleast_1d(as_floats("weights", weights))
    if w.shape != (length,):
        raise ValueError(f"weights must be of shape ({length},); got {w.shape}")
    bad = ~((w > 0) & (w <= 1))
    if bad.any():
        where = first_index(bad)[0]
        raise ValueError(
            f"weights must lie in (0, 1]; got {shown(w[where])} at index {where}; divide them by "
            "the largest that may come"
        )
    return w


# -------------------------------------------------------------------- the mixture of bets


_UP_DOWN = (("both", "lower"), ("both", "upper"))
NO_BETS = np.full(_N_RATES, -math.inf)
"""The logarithms of the masses of a side that does not bet."""


def log_masses(halved: bool) -> FloatArray:
    """Return the logarithm of the mass of each rate; all masses sum to 1, or to 1/2."""
    j = np.arange(-_SPAN, _SPAN + 1.0)
    masses = 1.0 / (1.0 + j * j / 16.0)
    return log_all(masses / (total(masses) * (2.0 if halved else 1.0)))


def bet_rates(log_wanted: float, tuned_for: int) -> FloatArray:
    """Return the rates around the best one for values of a typical deviation."""
    best = math.sqrt(2.0 * max(log_wanted, 0.5) / tuned_for) / _TYPICAL_DEVIATION
    powers = [
        2.0 ** (j // 2) * (math.sqrt(2.0) if j % 2 else 1.0) for j in range(-_SPAN, _SPAN + 1)
    ]
    return best * np.array(powers)
