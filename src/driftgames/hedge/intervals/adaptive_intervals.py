"""Intervals that cover: conformal prediction online, with many step sizes aggregated."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log
from driftgames._kernels.sums import dot
from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import (
    check_choice,
    check_fraction,
    check_integer,
    check_vector,
    shown,
)
from driftgames.core.schema import LIST, SHARE, STRING, Schema, array_of, integer, one_of
from driftgames.core.state import check_arrays, nested, restore_nested, same
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.intervals.interval_player import IntervalPlayer
from driftgames.hedge.intervals.level_record import ARRAYS, NUMBERS, ErrorWindow, LevelRecord
from driftgames.hedge.learners.ada_hedge import AdaHedge
from driftgames.hedge.losses.interval_losses import PinballLoss
from driftgames.hedge.named_learners import make_learner
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.hedge.rounds.linearised import distribution_of_awake, mix, play_linearised

STEP_SIZES = tuple(0.001 * 2.0**k for k in range(8))
"""The step sizes of Gibbs and Candès (2022)."""

METHODS = ("dtaci", "agaci")


class AdaptiveIntervals(IntervalPlayer):
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
    :math:`|E| \le H_T + 1` on any outcomes: it is the error integration of A. N. Angelopoulos,
    E. J. Candès and R. J. Tibshirani, "Conformal PID control for time series prediction", NeurIPS
    2023, Theorem 1. At a level of 1 the interval is the forecast alone, and E counts a miss even
    if the forecast is exact. So the intervals miss a share of at most
    :math:`\alpha + (H_T + 1)/T` on any outcomes, and of at least :math:`\alpha - (H_T + 1)/T` if
    no forecast is exact.
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
        check_choice("method", method, METHODS)
        if method == "agaci" and learner is not None:
            raise ValueError(f"learner is for the method 'dtaci' alone; got {shown(learner)}")
        self._method, self._learner = method, learner
        steps = self._step_sizes = check_vector("step_sizes", step_sizes)
        if not steps.size or not (steps > 0).all() or (steps > 1).any():
            raise ValueError(f"step_sizes must be numbers in (0, 1]; got {shown(step_sizes)}")
        self._window = None if window is None else check_integer("window", window, least=1)
        n, alpha = self._step_sizes.size, self._alpha
        self._pinball = PinballLoss(alpha, -math.inf, math.inf)
        self._record = LevelRecord(steps, alpha)
        self._errors = ErrorWindow(self._window)
        most = float(steps.max())
        self._learners = _make_learners(method, learner, n, self._coverage, most)

    # ---------------------------------------------------------------- playing

    def _interval(self, forecast: float) -> tuple[float, float]:
        if not len(self._errors):
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
        mean = dot(distribution_of_awake(self._learners[0], None), self._record.levels)
        excess = self._record.excess
        beyond = min(max(2.0 * abs(excess) / self._budget(float(self.t)) - 1.0, 0.0), 1.0)
        return min(max(mean, 0.0), 1.0) - math.copysign(beyond, excess)

    def _budget(self, t: float) -> float:
        """Return the excess of misses after ``t`` rounds at which the correction is full."""
        return 10.0 + 2.0 * math.sqrt(self._alpha * self._coverage * t)

    def _play(self, forecast: float, outcome: float) -> tuple[float, float]:
        low, high = self._interval(forecast)
        score, n = self._score(forecast, outcome), len(self._errors)
        rank = self._errors.rank(score)
        missed = np.where(rank >= (1.0 - self._record.levels) * (n + 1), 1.0, 0.0)
        if self._method == "dtaci":
            # a level of 1 counts as a miss of an exact forecast, and so does a bound that rounds
            beyond = n > 0 and rank >= (1.0 - self._level()) * (n + 1)
            self._record.add_played(beyond or not low <= outcome <= high)
            self._learn_levels(1.0 - rank / (n + 1), missed)
        elif n:
            self._learn_bounds(forecast, outcome)
        self._record.end_round(missed, low, high, outcome)
        self._errors.add(score)
        return low, high

    def _learn_levels(self, beta: float, missed: FloatArray) -> None:
        learner, levels = self._learners[0], self._record.levels
        p = distribution_of_awake(learner, None)
        played, y = np.array(dot(p, levels)), np.array(beta)
        losses = self._pinball.evaluate(levels, y)
        self._record.add_losses(float(self._pinball.evaluate(played, y)), losses)
        self._record.add_draw(p, missed)
        learner.update(losses)

    def _learn_bounds(self, forecast: float, outcome: float) -> None:
        radii, y = self._capped_radii(), np.array([outcome])
        tails = (-1.0, 0.5 * self._alpha), (1.0, 1.0 - 0.5 * self._alpha)
        for learner, (sign, quantile) in zip(self._learners, tails, strict=True):
            loss = PinballLoss(quantile, -math.inf, math.inf)
            bounds = forecast + sign * radii
            mixed = play_linearised(learner, loss, bounds[None], y, None)
            own = float(loss.evaluate(mixed, y)[0])
            self._record.add_losses(own, loss.evaluate(bounds, y))

    def _radius(self, level: float) -> float:
        """Return the quantile of the errors; infinite if they cannot resolve the level."""
        return self._errors.quantile(level, least=0.0)

    def _capped_radii(self) -> FloatArray:
        most = 2.0 * self._errors.largest
        return np.array([min(self._radius(level), most) for level in self._record.levels.tolist()])

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
        return self._record.t

    @property
    def coverage(self) -> float:
        """The share of outcomes that were covered so far; NaN before the first."""
        return self._record.coverage

    @property
    def mean_width(self) -> float:
        """The mean width of the finite intervals so far; NaN if there is none."""
        return self._record.mean_width

    @property
    def step_sizes(self) -> FloatArray:
        """The step sizes."""
        return self._step_sizes.copy()

    @property
    def levels(self) -> FloatArray:
        """The level of each step size in the next round."""
        return self._record.levels.copy()

    @property
    def pinball_loss(self) -> float:
        """The mean pinball loss so far: of the levels ("dtaci"), or of both bounds ("agaci")."""
        return self._record.mean_loss

    @property
    def pinball_losses(self) -> FloatArray:
        """The same for each step size."""
        return self._record.losses / max(self.t, 1)

    def certificate(self) -> CoverageCertificate:
        r"""Return the distance of the shares of misses from their target beside its bounds.

        The line "played" of "dtaci" is the share of outcomes outside of their intervals less its
        target, which is at most :math:`(H_T + 1)/T` as the class describes. The other lines are
        distances to both sides, of levels: a level of 1 or more counts as a miss.

        The line "drawn" of "dtaci" is the mean share of misses if each round draws a step size
        from the learner's distribution. With :math:`a_{t,i} = \alpha_{t,i} - \alpha`, its sum
        of misses less its target is :math:`\sum_{t,i} p_{t,i}(a_{t,i} - a_{t+1,i})/\gamma_i`,
        so summing by parts bounds it by what the distribution moved.
        """
        with self._lock:
            if not self.t:
                raise ValueError("no round was played, so there is nothing to certify")
            names = [f"step size {step:g}" for step in self._step_sizes]
            realised, promised = self._record.distances()
            if self._method == "dtaci":
                names = ["played", *names, "drawn"]
                drawn, moved = self._record.drawn_distance()
                played = self._coverage - self.coverage
                safe = (self._budget(float(self.t)) + 1.0) / self.t
                realised = np.concatenate([[played], realised, [drawn]])
                promised = np.concatenate([[safe], promised, [moved]])
            return CoverageCertificate(
                self.title, self.t, self._coverage, self.coverage, tuple(names), realised, promised
            )

    # ---------------------------------------------------------------- state

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        each = array_of(len(arguments.get("step_sizes", ())))
        return cls._named_arguments, {
            **dict.fromkeys(ARRAYS, each),
            "numbers": array_of(NUMBERS),
            "scores": array_of(None),
            "learners": LIST,
        }

    def _get_state(self) -> Content:
        return {
            **self._record.state(),
            "scores": np.array(self._errors.errors),
            "learners": [nested(learner) for learner in self._learners],
        }

    def _set_state(self, state: Content) -> None:
        own = {**self._get_state(), "scores": np.zeros(np.shape(state.get("scores", ())))}
        check_arrays(state, own)
        t, scores = self._record.check(state), state["scores"]
        wanted = t if self._window is None else min(t, self._window)
        if scores.size != wanted or (not self._signed and (scores < 0).any()):
            raise ValueError(f"scores must be {wanted} nonnegative numbers; got {scores.size}")
        learners = [restore_nested(each, ExpertLearner) for each in state["learners"]]
        both = [[(type(each), each._arguments()) for each in x] for x in (self._learners, learners)]
        if not same(*both):
            raise ValueError("its learners are not those of its arguments")
        self._record.restore(state)
        self._learners = learners
        self._errors = ErrorWindow(self._window, scores.tolist())


_FIXED_SHARE_ROUNDS = 500  # which the published parameters are tuned to


def _make_learners(
    method: str, name: str | None, n: int, coverage: float, largest_step: float
) -> list[ExpertLearner]:
    """Return one learner of the levels ("dtaci"), or two of the bounds ("agaci")."""
    if method == "agaci":
        return [AdaHedge(n, loss_range=None) for _ in range(2)]
    alpha = 1.0 - coverage
    most = max(alpha, 1.0 - alpha) * (1.0 + largest_step)
    settings: dict[str, Any] = {"loss_range": (0.0, most)}
    if isinstance(name, str) and name == "fixed-share":
        spread = coverage * coverage * alpha**3 + alpha * alpha * coverage**3
        rate = math.sqrt(
            3 / _FIXED_SHARE_ROUNDS * (log(float(n * _FIXED_SHARE_ROUNDS)) + 2) / spread
        )
        settings |= {"rate": rate * most, "share": 0.5 / _FIXED_SHARE_ROUNDS}
    return [make_learner("adanormalhedge.tv" if name is None else name, n, **settings)]
