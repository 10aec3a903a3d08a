"""The last errors of forecasts, and their quantiles."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Sequence


class ErrorWindow:
    """The last ``size`` errors in order of arrival, and sorted; all of them if ``size`` is None."""

    def __init__(self, size: int | None, errors: Sequence[float] = ()) -> None:
        self.size = size
        self.errors = list(errors)
        self._sorted = sorted(self.errors)

    def __len__(self) -> int:
        return len(self.errors)

    @property
    def largest(self) -> float:
        """The largest error."""
        return self._sorted[-1]

    def rank(self, error: float) -> int:
        """Return how many errors are smaller."""
        return bisect_left(self._sorted, error)

    def quantile(self, level: float, least: float | None = None) -> float:
        """Return the quantile at one less ``level``; infinite if so few errors cannot resolve it.

        Where the quantile lies below all errors, it is ``least``. Default: the least error.
        """
        k = math.ceil((1.0 - level) * (len(self._sorted) + 1))
        if k > len(self._sorted):
            return math.inf
        if k < 1 and least is not None:
            return least
        return self._sorted[max(k, 1) - 1]

    def add(self, error: float) -> None:
        """Add an error; the oldest one leaves a full window."""
        self.errors.append(error)
        insort(self._sorted, error)
        if self.size is not None and len(self.errors) > self.size:
            del self._sorted[bisect_left(self._sorted, self.errors.pop(0))]
