"""What all players of intervals share: one round, many rounds, and what they covered."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import numpy.typing as npt

from driftgames.certificates import CoverageCertificate
from driftgames.core.checks import as_floats, check_finite, check_number
from driftgames.core.state import Stateful
from driftgames.core.typing import FloatArray
from driftgames.hedge.intervals.interval_run import IntervalRun


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
