"""The state of players of intervals: the last errors, and the levels of all step sizes."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Sequence

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.core.state import check_clock
from driftgames.core.typing import Content, FloatArray


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


ARRAYS = ("levels", "misses", "losses", "previous")
"""The parts of a state with one number per step size; ``previous`` is the last distribution."""

NUMBERS = 8
_T, _MISSED, _WIDTH, _INFINITE, _LOSS, _DRAWN, _MOVED, _PLAYED = range(NUMBERS)


class LevelRecord:
    """The state of `AdaptiveIntervals`, without its errors and its learners."""

    def __init__(self, step_sizes: FloatArray, alpha: float) -> None:
        n = step_sizes.size
        self._step_sizes, self._alpha = step_sizes, alpha
        self.levels = np.full(n, alpha)
        self.misses, self.losses, self.previous = np.zeros(n), np.zeros(n), np.zeros(n)
        self.numbers = np.zeros(NUMBERS)

    @property
    def t(self) -> int:
        """The number of rounds."""
        return int(self.numbers[_T])

    @property
    def coverage(self) -> float:
        """The share of outcomes that were covered; NaN before the first."""
        return 1.0 - float(self.numbers[_MISSED]) / self.t if self.t else math.nan

    @property
    def mean_width(self) -> float:
        """The mean width of the finite intervals; NaN if there is none."""
        finite = self.t - float(self.numbers[_INFINITE])
        return float(self.numbers[_WIDTH]) / finite if finite else math.nan

    @property
    def mean_loss(self) -> float:
        """The mean pinball loss; NaN before the first round."""
        return float(self.numbers[_LOSS]) / self.t if self.t else math.nan

    @property
    def excess(self) -> float:
        """The misses of the played levels less their target; a level of 1 misses always."""
        return float(self.numbers[_PLAYED]) - self._alpha * float(self.numbers[_T])

    def add_losses(self, own: float, losses: FloatArray) -> None:
        """Add the loss of what was played, and that of each step size."""
        self.numbers[_LOSS] += own
        self.losses += losses

    def add_draw(self, p: FloatArray, missed: FloatArray) -> None:
        """Add the misses of a step size drawn from ``p``, and what the distribution moved."""
        self.numbers[_DRAWN] += dot(p, missed)
        if self.t:
            away = np.abs(self.levels - self._alpha) / self._step_sizes
            self.numbers[_MOVED] += dot(np.abs(p - self.previous), away)
        self.previous = p

    def add_played(self, missed: bool) -> None:
        """Add a miss of the played level."""
        self.numbers[_PLAYED] += missed

    def end_round(self, missed: FloatArray, low: float, high: float, outcome: float) -> None:
        """Move the levels, and count the interval of the round."""
        self.levels = self.levels + self._step_sizes * (self._alpha - missed)
        self.misses += missed
        self.numbers[_T] += 1.0
        self.numbers[_MISSED] += not low <= outcome <= high
        finite = high - low < math.inf
        self.numbers[_WIDTH] += high - low if finite else 0.0
        self.numbers[_INFINITE] += not finite

    def distances(self) -> tuple[FloatArray, FloatArray]:
        """Return how far each step size's share of misses is from alpha, and its bound."""
        steps, alpha = self._step_sizes, self._alpha
        realised = np.abs(self.misses / self.t - alpha)
        return realised, (max(alpha, 1.0 - alpha) + steps) / (steps * self.t)

    def drawn_distance(self) -> tuple[float, float]:
        """Return the same of a step size that is drawn in every round."""
        realised = abs(float(self.numbers[_DRAWN]) / self.t - self._alpha)
        end = abs(total(self.previous * (self.levels - self._alpha) / self._step_sizes))
        return realised, (float(self.numbers[_MOVED]) + end) / self.t

    # ---------------------------------------------------------------- state

    def state(self) -> Content:
        """Return the arrays."""
        return {**{name: getattr(self, name) for name in ARRAYS}, "numbers": self.numbers}

    def check(self, state: Content) -> int:
        """Return the clock of a state; raise ValueError if no game leads to these arrays."""
        numbers, levels, steps = state["numbers"], state["levels"], self._step_sizes
        if numbers[_T] != np.floor(numbers[_T]):
            raise ValueError(f"the clock must be an integer; got {numbers[_T]:g}")
        t = check_clock("the clock", int(numbers[_T]))
        names = (_MISSED, _INFINITE, _DRAWN, _PLAYED)
        counts = [*state["misses"], *(numbers[name] for name in names)]
        if min(counts) < 0 or max(counts) > t * (1 + 1e-9):
            raise ValueError(f"{t} rounds cannot have {max(counts):g} misses")
        if (levels < -steps - 1e-9).any() or (levels > 1 + steps + 1e-9).any():
            raise ValueError("a level must lie in [0, 1], or one step outside of it")
        return t

    def restore(self, state: Content) -> None:
        """Take the arrays of a state."""
        for name in (*ARRAYS, "numbers"):
            setattr(self, name, state[name])
