"""What all players of intervals share: rounds, and the run that they return."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import as_floats, check_finite, check_integer, check_number
from driftgames.core.display import Fields
from driftgames.core.run import Run
from driftgames.core.state import Stateful
from driftgames.core.typing import Axes, BoolArray, Figure, FloatArray
from driftgames.tables import counted


class IntervalPlayer(Stateful):
    """A player that puts an interval around each forecast, and then learns the outcome."""

    _coverage: float
    _step_sizes: FloatArray

    @property
    @abstractmethod
    def title(self) -> str:
        """The name of the method."""

    @property
    @abstractmethod
    def t(self) -> int:
        """The number of rounds played."""

    @abstractmethod
    def certificate(self) -> CoverageCertificate:
        """Return the distance of the shares of misses from their target beside its bounds."""

    @abstractmethod
    def _interval(self, forecast: float) -> tuple[float, float]:
        """Return the next interval; the state does not change."""

    @abstractmethod
    def _play(self, forecast: float, outcome: float) -> tuple[float, float]:
        """Play a round and return its interval."""

    def predict(self, forecast: float) -> tuple[float, float]:
        """Return the interval around the next forecast; the state does not change."""
        with self._lock:
            return self._interval(check_number("forecast", forecast))

    def update(self, forecast: float, outcome: float) -> bool:
        """Learn the outcome of a forecast; return whether the interval around it covered."""
        x, y = check_number("forecast", forecast), check_number("outcome", outcome)
        with self._lock:
            low, high = self._play(x, y)
        return low <= y <= high

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
        bounds: FloatArray = np.array(played).reshape(len(x), 2)
        return IntervalRun(
            title=self.title,
            first_round=first,
            learner=self,
            target=self._coverage,
            low=bounds[:, 0],
            high=bounds[:, 1],
            outcomes=y,
        )

    def __repr__(self) -> str:
        return f"<{self.title}: {self._step_sizes.size} step sizes, {self.t} rounds>"


@dataclass(frozen=True, eq=False, kw_only=True)
class IntervalRun(Run[CoverageCertificate]):
    """The rounds of one call of `AdaptiveIntervals.run`.

    ``low`` and ``high`` are the intervals, each made before its outcome was learnt. ``learner``
    may play on, and then its certificate is no longer that of this run.
    """

    learner: IntervalPlayer
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
