"""Intervals that cover: conformal prediction online, with many step sizes aggregated."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log
from driftgames._kernels.sums import dot, total
from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_fraction,
    check_integer,
    check_number,
    check_vector,
    shown,
)
from driftgames.core.display import Fields
from driftgames.core.run import Run
from driftgames.core.schema import LIST, SHARE, STRING, Schema, array_of, integer, one_of
from driftgames.core.state import Stateful, check_arrays, check_clock, nested, restore_nested, same
from driftgames.core.typing import Axes, BoolArray, Content, Figure, FloatArray
from driftgames.hedge.learners.ada_hedge import AdaHedge
from driftgames.hedge.losses.interval_losses import PinballLoss
from driftgames.hedge.registry import make_learner
from driftgames.hedge.rounds.base import ExpertLearner
from driftgames.hedge.rounds.linearised import distribution_of_awake, mix, play_linearised
from driftgames.tables import counted

STEP_SIZES = tuple(0.001 * 2.0**k for k in range(8))
"""The step sizes of Gibbs and Candès (2022)."""

METHODS = ("dtaci", "agaci")
_T, _MISSED, _WIDTH, _INFINITE, _LOSS, _DRAWN, _MOVED, _PLAYED = range(8)
_ARRAYS = ("levels", "misses", "losses", "previous")  # one number per step size
_WINDOW = 500  # of rounds that the published parameters of Fixed Share are tuned to


class AdaptiveIntervals(Stateful):
    r"""Intervals around forecasts whose long-run coverage is the target, whatever changes.

    .. math:: \alpha_{t+1,i} = \alpha_{t,i} + \gamma_i(\alpha - \mathrm{err}_{t,i}), \qquad
              \mathrm{err}_{t,i} = \mathbf 1\{y_t \notin C_t(\alpha_{t,i})\}

    where :math:`C_t(\theta)` is the forecast plus and minus the :math:`1-\theta` quantile of the
    last absolute errors, and :math:`\alpha` is one less the target. Each step size
    :math:`\gamma_i` has the share of misses :math:`\alpha`, up to
    :math:`(\max(\alpha, 1-\alpha) + \gamma_i)/\gamma_i T`, on any outcomes. Which step size is
    good depends on how fast things change, so they are experts:

    - ``"dtaci"`` plays the mean level :math:`\sum_i p_{t,i}\alpha_{t,i}`, corrected where too many
      or too few outcomes were missed so far. A Hedge learner is charged the pinball losses of the
      levels at :math:`\beta_t = \sup\{\theta : y_t \in C_t(\theta)\}`.
    - ``"agaci"`` mixes the lower bounds, and the upper bounds, by two mixtures on linearised
      pinball losses at :math:`\alpha/2` and :math:`1-\alpha/2`.

    I. Gibbs and E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021,
    Prop. 4.1, and "Conformal inference for online prediction with arbitrary distribution shifts",
    2022 (DtACI). M. Zaffran, O. Féron, Y. Goude, J. Josse and A. Dieuleveut, "Adaptive conformal
    predictions for time series", ICML 2022 (AgACI).

    Parameters
    ----------
    coverage : float
        The wanted share of covered outcomes, in (0, 1). Default: 0.9.
    method : {"dtaci", "agaci"}
        Default: "dtaci".
    step_sizes : array
        Default: 0.001, 0.002, ..., 0.128.
    window : int or None
        The number of last errors whose quantiles are taken; None: of all. Default: 100.
    learner : str, optional
        A name in `LEARNERS` that aggregates the levels of "dtaci". Default: "adanormalhedge.tv",
        which has no parameters. "fixed-share" has those of the paper for 500 rounds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> outcomes = rng.normal(size=1000) * np.repeat([1.0, 3.0], 500)
    >>> intervals = AdaptiveIntervals(0.9)
    >>> run = intervals.run(np.zeros(1000), outcomes)
    >>> round(run.coverage, 3)
    0.899
    >>> low, high = intervals.predict(7.0)
    >>> round(low, 2), round(high, 2)
    (1.73, 12.27)

    Notes
    -----
    An interval is infinite where the level is at most what the errors can resolve, as in the
    first rounds. "agaci" puts twice the largest error of the window in the place of infinity.
    The theory of "dtaci" draws a step size, and its authors play the mean level in practice. The
    level that is played here is that mean, in [0, 1], less a correction that depends on the excess
    of misses :math:`E = \sum_t(\mathrm{err}_t - \alpha)` of the played levels,

    .. math:: \mathrm{sign}(E)\,\min\Bigl(1, \Bigl[\frac{2|E|}{H_t} - 1\Bigr]_+\Bigr), \qquad
              H_t = 10 + 2\sqrt{\alpha(1-\alpha)t}

    While :math:`|E| \le H_t/2` nothing is corrected. Where :math:`E \ge H_t` the level is 0, the
    interval infinite and no outcome missed; where :math:`E \le -H_t` it is 1 and all are. So
    :math:`|E| \le H_T + 1` on any outcomes, and the share of misses of the played intervals is
    within :math:`(H_T + 1)/T` of :math:`\alpha`: it is the error integration of A. N. Angelopoulos,
    E. J. Candès and R. J. Tibshirani, "Conformal PID control for time series prediction", NeurIPS
    2023, Theorem 1. At a level of 1 the interval is the forecast alone, and it counts as a miss
    even if the forecast is exact.
    """

    VERSION = 2
    _signed: ClassVar[bool] = False  # whether errors may be negative
    _named_arguments: ClassVar[Schema] = {
        "coverage": SHARE,
        "method": one_of(*METHODS),
        "step_sizes": array_of(None),
        "window": integer(1).or_null,
        "learner": STRING.or_null,
    }

    def __init__(
        self,
        coverage: float = 0.9,
        *,
        method: str = "dtaci",
        step_sizes: npt.ArrayLike = STEP_SIZES,
        window: int | None = 100,
        learner: str | None = None,
    ) -> None:
        self._coverage = check_fraction("coverage", coverage)
        if self._coverage == 1.0:
            raise ValueError("coverage must be below 1; got 1")
        if method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}; got {shown(method)}")
        if method == "agaci" and learner is not None:
            raise ValueError(f"learner is for the method 'dtaci' alone; got {shown(learner)}")
        self._method, self._learner = method, learner
        steps = self._step_sizes = check_vector("step_sizes", step_sizes)
        if not steps.size or not (steps > 0).all() or (steps > 1).any():
            raise ValueError(f"step_sizes must be numbers in (0, 1]; got {shown(step_sizes)}")
        self._window = None if window is None else check_integer("window", window, least=1)
        n, alpha = self._step_sizes.size, self._alpha
        self._pinball = PinballLoss(alpha, -math.inf, math.inf)
        self._levels = np.full(n, alpha)
        self._misses, self._losses, self._previous = np.zeros(n), np.zeros(n), np.zeros(n)
        self._numbers = np.zeros(8)
        self._scores: list[float] = []  # in order of arrival
        self._sorted: list[float] = []
        if method == "agaci":
            self._learners: list[ExpertLearner] = [AdaHedge(n, loss_range=None) for _ in range(2)]
        else:
            most = max(alpha, 1.0 - alpha) * (1.0 + float(self._step_sizes.max()))
            self._learners = [self._make_learner(n, most)]

    def _make_learner(self, n: int, most: float) -> ExpertLearner:
        settings: dict[str, Any] = {"loss_range": (0.0, most)}
        if self._learner == "fixed-share":
            a, b = self._alpha, self._coverage
            spread = b * b * a**3 + a * a * b**3
            rate = math.sqrt(3 / _WINDOW * (log(float(n * _WINDOW)) + 2) / spread)
            settings |= {"rate": rate * most, "share": 0.5 / _WINDOW}
        return make_learner(self._learner or "adanormalhedge.tv", n, **settings)

    # ---------------------------------------------------------------- playing

    def predict(self, forecast: float) -> tuple[float, float]:
        """Return the interval around the next forecast; the state does not change."""
        with self._lock:
            return self._interval(check_number("forecast", forecast))

    def update(self, forecast: float, outcome: float) -> bool:
        """Learn the outcome of a forecast; return whether the interval around it covered."""
        numbers = check_number("forecast", forecast), check_number("outcome", outcome)
        with self._lock:
            low, high = self._play(*numbers)
            return low <= numbers[1] <= high

    def run(self, forecasts: npt.ArrayLike, outcomes: npt.ArrayLike) -> IntervalRun:
        """Play many rounds in order; each interval is made before its outcome is learnt."""
        x, y = as_floats("forecasts", forecasts), as_floats("outcomes", outcomes)
        if x.ndim != 1 or x.shape != y.shape:
            raise ValueError(
                f"forecasts and outcomes must be vectors of one length; got {x.shape}, {y.shape}"
            )
        check_finite("forecasts", x)
        check_finite("outcomes", y)
        with self._all_or_nothing():
            first = self.t + 1
            played = [self._play(*each) for each in zip(x.tolist(), y.tolist(), strict=True)]
        bounds = np.array(played).reshape(len(x), 2)
        return IntervalRun(
            title=self.title,
            first_round=first,
            learner=self,
            target=self._coverage,
            low=bounds[:, 0],
            high=bounds[:, 1],
            outcomes=y,
        )

    def _interval(self, forecast: float) -> tuple[float, float]:
        if not self._scores:
            return -math.inf, math.inf
        if self._method == "dtaci":
            radius = self._radius(self._level())
            return forecast - radius, forecast + radius
        radii, (below, above) = self._capped_radii(), self._learners
        low = mix(forecast - radii, distribution_of_awake(below, None))
        return low, mix(forecast + radii, distribution_of_awake(above, None))

    def _score(self, forecast: float, outcome: float) -> float:
        """Return the error whose quantiles are taken."""
        return abs(outcome - forecast)

    def _level(self) -> float:
        """Return the level that "dtaci" plays: the mean level less the correction."""
        mean = dot(distribution_of_awake(self._learners[0], None), self._levels)
        t = float(self._numbers[_T])
        excess = float(self._numbers[_PLAYED]) - self._alpha * t
        beyond = min(max(2.0 * abs(excess) / self._budget(t) - 1.0, 0.0), 1.0)
        return min(max(mean, 0.0), 1.0) - math.copysign(beyond, excess)

    def _budget(self, t: float) -> float:
        """Return the excess of misses after ``t`` rounds at which the correction is full."""
        return 10.0 + 2.0 * math.sqrt(self._alpha * self._coverage * t)

    def _play(self, forecast: float, outcome: float) -> tuple[float, float]:
        low, high = self._interval(forecast)
        score, n = self._score(forecast, outcome), len(self._sorted)
        rank = bisect_left(self._sorted, score)  # how many errors are smaller
        missed = np.where(rank >= (1.0 - self._levels) * (n + 1), 1.0, 0.0)
        if self._method == "dtaci":
            self._numbers[_PLAYED] += n > 0 and rank >= (1.0 - self._level()) * (n + 1)
            self._learn_levels(1.0 - rank / (n + 1), missed)
        elif n:
            self._learn_bounds(forecast, outcome)
        self._levels = self._levels + self._step_sizes * (self._alpha - missed)
        self._misses += missed
        self._numbers[_T] += 1.0
        self._numbers[_MISSED] += not low <= outcome <= high
        finite = high - low < math.inf
        self._numbers[_WIDTH] += high - low if finite else 0.0
        self._numbers[_INFINITE] += not finite
        self._scores.append(score)
        insort(self._sorted, score)
        if self._window is not None and n == self._window:
            del self._sorted[bisect_left(self._sorted, self._scores.pop(0))]
        return low, high

    def _learn_levels(self, beta: float, missed: FloatArray) -> None:
        learner = self._learners[0]
        p = distribution_of_awake(learner, None)
        played, y = np.array(dot(p, self._levels)), np.array(beta)
        losses = self._pinball.evaluate(self._levels, y)
        self._numbers[_LOSS] += float(self._pinball.evaluate(played, y))
        self._losses += losses
        self._numbers[_DRAWN] += dot(p, missed)
        if self.t:
            away = np.abs(self._levels - self._alpha) / self._step_sizes
            self._numbers[_MOVED] += dot(np.abs(p - self._previous), away)
        self._previous = p
        learner.update(losses)

    def _learn_bounds(self, forecast: float, outcome: float) -> None:
        radii, y = self._capped_radii(), np.array([outcome])
        tails = (-1.0, 0.5 * self._alpha), (1.0, 1.0 - 0.5 * self._alpha)
        for learner, (sign, quantile) in zip(self._learners, tails, strict=True):
            loss = PinballLoss(quantile, -math.inf, math.inf)
            bounds = forecast + sign * radii
            mixed = play_linearised(learner, loss, bounds[None], y, None)
            self._numbers[_LOSS] += float(loss.evaluate(mixed, y)[0])
            self._losses += loss.evaluate(bounds, y)

    def _radius(self, level: float) -> float:
        """Return the quantile of the errors; infinite if they cannot resolve the level."""
        k = math.ceil((1.0 - level) * (len(self._sorted) + 1))
        if k > len(self._sorted):
            return math.inf
        return self._sorted[k - 1] if k > 0 else 0.0

    def _capped_radii(self) -> FloatArray:
        most = 2.0 * self._sorted[-1]
        return np.array([min(self._radius(level), most) for level in self._levels.tolist()])

    # ---------------------------------------------------------------- what has happened

    @property
    def title(self) -> str:
        """DtACI or AgACI."""
        return {"dtaci": "DtACI", "agaci": "AgACI"}[self._method]

    @property
    def _alpha(self) -> float:
        return 1.0 - self._coverage

    @property
    def t(self) -> int:
        """The number of rounds played."""
        return int(self._numbers[_T])

    @property
    def coverage(self) -> float:
        """The share of outcomes that were covered so far; NaN before the first."""
        return 1.0 - float(self._numbers[_MISSED]) / self.t if self.t else math.nan

    @property
    def mean_width(self) -> float:
        """The mean width of the finite intervals so far; NaN if there is none."""
        finite = self.t - float(self._numbers[_INFINITE])
        return float(self._numbers[_WIDTH]) / finite if finite else math.nan

    @property
    def step_sizes(self) -> FloatArray:
        """The step sizes."""
        return self._step_sizes.copy()

    @property
    def levels(self) -> FloatArray:
        """The level of each step size in the next round."""
        return self._levels.copy()

    @property
    def pinball_loss(self) -> float:
        """The mean pinball loss so far: of the levels ("dtaci"), or of both bounds ("agaci")."""
        return float(self._numbers[_LOSS]) / self.t if self.t else math.nan

    @property
    def pinball_losses(self) -> FloatArray:
        """The same for each step size."""
        return self._losses / max(self.t, 1)

    def certificate(self) -> CoverageCertificate:
        r"""Return the distance of the shares of misses from their target beside its bounds.

        The line "played" of "dtaci" is that of the intervals themselves, within
        :math:`(H_T + 1)/T` as the class describes.

        The line "drawn" of "dtaci" is the mean share of misses if each round draws a step size
        from the learner's distribution. With :math:`a_{t,i} = \alpha_{t,i} - \alpha`, its sum
        of misses less its target is :math:`\sum_{t,i} p_{t,i}(a_{t,i} - a_{t+1,i})/\gamma_i`,
        so summing by parts bounds it by what the distribution moved.
        """
        with self._lock:
            if not self.t:
                raise ValueError("no round was played, so there is nothing to certify")
            alpha, steps = self._alpha, self._step_sizes
            names = [f"step size {step:g}" for step in steps]
            realised = np.abs(self._misses / self.t - alpha)
            promised = (max(alpha, 1.0 - alpha) + steps) / (steps * self.t)
            if self._method == "dtaci":
                names.append("drawn")
                drawn = abs(float(self._numbers[_DRAWN]) / self.t - alpha)
                end = abs(total(self._previous * (self._levels - alpha) / steps))
                moved = (float(self._numbers[_MOVED]) + end) / self.t
                played = abs(float(self._numbers[_PLAYED]) / self.t - alpha)
                safe = (self._budget(float(self.t)) + 1.0) / self.t
                names.insert(0, "played")
                realised = np.concatenate([[played], realised, [drawn]])
                promised = np.concatenate([[safe], promised, [moved]])
            return CoverageCertificate(
                self.title, self.t, self._coverage, self.coverage, tuple(names), realised, promised
            )

    def __repr__(self) -> str:
        return f"<{self.title}: {self._step_sizes.size} step sizes, {self.t} rounds>"

    # ---------------------------------------------------------------- state

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        each = array_of(len(arguments.get("step_sizes", ())))
        return cls._named_arguments, {
            **dict.fromkeys(_ARRAYS, each),
            "numbers": array_of(8),
            "scores": array_of(None),
            "learners": LIST,
        }

    def _get_state(self) -> Content:
        return {
            **{name: getattr(self, f"_{name}") for name in _ARRAYS},
            "numbers": self._numbers,
            "scores": np.array(self._scores),
            "learners": [nested(learner) for learner in self._learners],
        }

    def _set_state(self, state: Content) -> None:
        own = {**self._get_state(), "scores": np.zeros(np.shape(state.get("scores", ())))}
        check_arrays(state, own)
        numbers, scores = state["numbers"], state["scores"]
        if numbers[_T] != np.floor(numbers[_T]):
            raise ValueError(f"the clock must be an integer; got {numbers[_T]:g}")
        t = check_clock("the clock", int(numbers[_T]))
        wanted = t if self._window is None else min(t, self._window)
        if scores.size != wanted or (not self._signed and (scores < 0).any()):
            raise ValueError(f"scores must be {wanted} nonnegative numbers; got {scores.size}")
        names = (_MISSED, _INFINITE, _DRAWN, _PLAYED)
        counts = [*state["misses"], *(numbers[name] for name in names)]
        if min(counts) < 0 or max(counts) > t * (1 + 1e-9):
            raise ValueError(f"{t} rounds cannot have {max(counts):g} misses")
        steps, levels = self._step_sizes, state["levels"]
        if (levels < -steps - 1e-9).any() or (levels > 1 + steps + 1e-9).any():
            raise ValueError("a level must lie in [0, 1], or one step outside of it")
        learners = [restore_nested(each, ExpertLearner) for each in state["learners"]]
        both = [[(type(each), each._arguments()) for each in x] for x in (self._learners, learners)]
        if not same(*both):
            raise ValueError("its learners are not those of its arguments")
        for name in _ARRAYS:
            setattr(self, f"_{name}", state[name])
        self._numbers, self._learners = numbers, learners
        self._scores, self._sorted = scores.tolist(), sorted(scores.tolist())


class IntervalLearner(Protocol):
    """What has played a run of intervals."""

    @property
    def t(self) -> int:
        """The number of rounds played."""

    def certificate(self) -> CoverageCertificate:
        """Return the certificate of all rounds."""


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalRun(Run[CoverageCertificate]):
    """The rounds of one call of `AdaptiveIntervals.run`.

    ``low`` and ``high`` are the intervals, each made before its outcome was learnt. ``learner``
    may play on, and then its certificate is no longer that of this run.
    """

    learner: IntervalLearner
    target: float
    low: FloatArray
    high: FloatArray
    outcomes: FloatArray

    @property
    def n_rounds(self) -> int:
        """The number of outcomes."""
        return self.outcomes.size

    def _facts(self) -> Fields:
        known = {"coverage": self.coverage} if self.n_rounds else {}
        return {**super()._facts(), **known, "target": self.target}

    def _columns(self) -> Fields:
        bounds = {"low": self.low, "high": self.high, "outcome": self.outcomes}
        return {"round": self.rounds, **bounds, "covered": self.covered}

    def certificate(self) -> CoverageCertificate:
        """Return the certificate of the learner, as long as it has not played on."""
        self._check_current(self.learner.t)
        return self.learner.certificate()

    @property
    def covered(self) -> BoolArray:
        """Which outcomes lie in their interval."""
        return (self.low <= self.outcomes) & (self.outcomes <= self.high)

    @property
    def coverage(self) -> float:
        """The share of covered outcomes."""
        return float(self.covered.mean())

    @property
    def mean_width(self) -> float:
        """The mean width of the finite intervals."""
        widths = self.high - self.low
        return float(widths[np.isfinite(widths)].mean())

    def winkler_score(self, *, first: int = 0) -> float:
        r"""Return the mean interval score from the row ``first`` on; infinite if an interval is.

        .. math:: u - l + \frac2\alpha[l - y]_+ + \frac2\alpha[y - u]_+

        R. L. Winkler, "A decision-theoretic approach to interval estimation", 1972.
        """
        low, high, y = (each[first:] for each in (self.low, self.high, self.outcomes))
        outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
        return float(np.mean(high - low + 2.0 / (1.0 - self.target) * outside))

    def __str__(self) -> str:
        infinite = int(np.isinf(self.high - self.low).sum())
        widths = "all intervals infinite"
        if infinite < self.n_rounds:
            widths = f"mean width {self.mean_width:.4g}"
            widths += f" of the finite ones ({infinite:,} infinite)" if infinite else ""
        return (
            f"{self.title}, {counted(self.n_rounds, 'round')}: covered {self.coverage:.1%}, target "
            f"{self.target:.1%}; {widths}"
        ).replace("%", " %")

    def coverage_over_time(self, window: int = 100) -> FloatArray:
        """Return the share of covered outcomes among the last ``window``, after each round."""
        span = check_integer("window", window, least=1)
        sums = np.concatenate([[0.0], np.cumsum(self.covered)])
        t = np.arange(1, sums.size)
        start = np.maximum(t - span, 0)
        return np.asarray((sums[t] - sums[start]) / (t - start))

    def plot(self, *, window: int = 100, ax: Axes | None = None) -> Figure:
        """Draw the coverage of the last ``window`` rounds over time, beside the target."""
        from driftgames.plots.regret import plot_coverage

        curves = {self.title: self.coverage_over_time(window)}
        rounds = self.rounds.astype(np.float64)
        return plot_coverage(rounds, curves, self.target, window=window, ax=ax)
