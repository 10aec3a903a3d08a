"""The result of `AdaptiveIntervals.run`: the intervals beside their outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import check_integer
from driftgames.core.display import Fields
from driftgames.core.run import Run
from driftgames.core.typing import Axes, BoolArray, Figure, FloatArray
from driftgames.tables import counted


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
