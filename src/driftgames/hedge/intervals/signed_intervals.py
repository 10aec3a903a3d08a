"""Intervals on signed errors: one level for outcomes below, and one for outcomes above."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import check_fraction
from driftgames.core.schema import LIST, SHARE, STRING, Schema, array_of, integer
from driftgames.core.state import nested, restore_nested, same
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.intervals.adaptive_intervals import STEP_SIZES, AdaptiveIntervals
from driftgames.hedge.intervals.interval_player import IntervalPlayer


class OneSidedIntervals(AdaptiveIntervals):
    """Upper bounds on outcomes, ``sign`` 1, or lower bounds, ``sign`` -1.

    It is DtACI on the errors ``sign (outcome - forecast)``, which may be negative.
    """

    _signed: ClassVar[bool] = True
    _named_arguments: ClassVar[Schema] = {**AdaptiveIntervals._named_arguments, "sign": integer(-1)}

    def __init__(
        self,
        coverage: float = 0.95,
        *,
        sign: int = 1,
        method: str = "dtaci",
        step_sizes: npt.ArrayLike = STEP_SIZES,
        window: int | None = 100,
        learner: str | None = None,
    ) -> None:
        if sign not in (-1, 1):
            raise ValueError(f"sign must be -1 or 1; got {sign}")
        super().__init__(
            coverage, method=method, step_sizes=step_sizes, window=window, learner=learner
        )
        if method != "dtaci":
            raise ValueError(f"one-sided intervals have the method 'dtaci' alone; got {method!r}")
        self._sign = sign

    def _score(self, forecast: float, outcome: float) -> float:
        return self._sign * (outcome - forecast)

    def _interval(self, forecast: float) -> tuple[float, float]:
        radius = self._radius(self._level()) if len(self._errors) else math.inf
        if self._sign > 0:
            return -math.inf, forecast + radius
        return forecast - radius, math.inf

    def _radius(self, level: float) -> float:
        """Return the quantile of the errors; the least of them at a level of 1."""
        return self._errors.quantile(level)


SIGNED_STEP_SIZES = STEP_SIZES[:6]
"""A level of 5 % is missed so rarely that larger steps overshoot."""


class SignedIntervals(IntervalPlayer):
    r"""Intervals from two one-sided levels, for errors that are not symmetric.

    .. math:: [x_t - Q_t^-(1 - \theta_t^-),\ x_t + Q_t^+(1 - \theta_t^+)]

    :math:`Q_t^+` is a quantile of the last errors :math:`y - x`, and :math:`Q_t^-` one of
    :math:`x - y`. Each side is a DtACI of its own, at half of the misses, with all theorems of
    `AdaptiveIntervals`: the misses above have a share of :math:`\alpha/2`, and so have those below.

    Take this class if errors are skewed, or if each side must have its share.
    `AdaptiveIntervals` has the better Winkler score if they are symmetric, because one level is
    learnt from all misses; ``python -m bench intervals`` has both.

    Parameters
    ----------
    coverage, step_sizes, window, learner
        As `AdaptiveIntervals` describes. Default of ``step_sizes``: 0.001, 0.002, ..., 0.032,
        because each side learns a rarer level.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> intervals = SignedIntervals(0.9)
    >>> print(intervals.run(np.zeros(1000), rng.exponential(size=1000)))
    DtACI on signed errors, 1,000 rounds: covered 90.5 %, target 90.0 %; mean width 3.049 of the
    finite ones (17 infinite)
    """

    VERSION = 1
    _named_arguments: ClassVar[Schema] = {
        "coverage": SHARE,
        "step_sizes": array_of(None),
        "window": integer(1).or_null,
        "learner": STRING.or_null,
    }

    def __init__(
        self,
        coverage: float = 0.9,
        *,
        step_sizes: npt.ArrayLike = SIGNED_STEP_SIZES,
        window: int | None = 100,
        learner: str | None = None,
    ) -> None:
        self._coverage = check_fraction("coverage", coverage)
        self._learner, self._window = learner, window
        self._tails = [
            OneSidedIntervals(
                0.5 * (1.0 + self._coverage),
                sign=sign,
                step_sizes=step_sizes,
                window=window,
                learner=learner,
            )
            for sign in (-1, 1)
        ]
        self._step_sizes = self._tails[0].step_sizes
        self._missed = 0

    def _interval(self, forecast: float) -> tuple[float, float]:
        below, above = self._tails
        low, high = below.predict(forecast)[0], above.predict(forecast)[1]
        if low > high:  # both levels are so large that no outcome is between the bounds
            low = high = 0.5 * (low + high)
        return low, high

    def _play(self, forecast: float, outcome: float) -> tuple[float, float]:
        low, high = self._interval(forecast)
        for tail in self._tails:
            tail.update(forecast, outcome)
        self._missed += not low <= outcome <= high
        return low, high

    # ---------------------------------------------------------------- what has happened

    @property
    def title(self) -> str:
        """DtACI on signed errors."""
        return "DtACI on signed errors"

    @property
    def t(self) -> int:
        """The number of rounds played."""
        return self._tails[0].t

    @property
    def coverage(self) -> float:
        """The share of outcomes that were covered so far; NaN before the first."""
        return 1.0 - self._missed / self.t if self.t else math.nan

    @property
    def levels(self) -> FloatArray:
        """The level of each step size in the next round: below, and above."""
        return np.array([tail.levels for tail in self._tails])

    def certificate(self) -> CoverageCertificate:
        """Return the distances of the shares of misses of both sides beside their bounds.

        Each side has its own target, half of the misses.
        """
        with self._lock:
            sides = [tail.certificate() for tail in self._tails]
            names = [
                f"{where}: {name}"
                for where, side in zip(("below", "above"), sides, strict=True)
                for name in side.names
            ]
            realised, promised = (
                np.concatenate([getattr(side, which) for side in sides])
                for which in ("realised", "promised")
            )
            return CoverageCertificate(
                self.title, self.t, self._coverage, self.coverage, tuple(names), realised, promised
            )

    # ---------------------------------------------------------------- state

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        return cls._named_arguments, {"tails": LIST, "missed": integer(0)}

    def _get_state(self) -> Content:
        return {"tails": [nested(tail) for tail in self._tails], "missed": self._missed}

    def _set_state(self, state: Content) -> None:
        if state.keys() != {"tails", "missed"} or len(state["tails"]) != 2:
            raise ValueError("the state must be missed and two tails")
        tails = [restore_nested(each, OneSidedIntervals) for each in state["tails"]]
        both = [[each._arguments() for each in part] for part in (self._tails, tails)]
        if not same(*both):
            raise ValueError("its tails are not those of its arguments")
        if tails[0].t != tails[1].t or not 0 <= state["missed"] <= tails[0].t:
            raise ValueError(f"{tails[0].t} rounds cannot have {state['missed']} misses")
        self._tails, self._missed = tails, state["missed"]
