"""Losses of a distance: square, absolute and pinball loss, bounded if all values are.

``low`` and ``high`` may be infinite for learners that are scale-free; then values of any size are
taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.core.checks import (
    is_real,
    shown,
)
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.losses.loss_base import (
    ABSOLUTE,
    ANY,
    PINBALL,
    SQUARE,
    Loss,
    Range,
    Slope,
)


class IntervalLoss(Loss):
    """A loss of a distance, bounded if all values lie in ``[low, high]``.

    If both ends are infinite or None, values of any size are taken.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        low: Any = self.low
        high: Any = self.high
        if (low, high) in {(None, None), ANY}:
            low, high = ANY
        else:
            finite = all(is_real(x) and math.isfinite(x) for x in (low, high))
            if not finite or not low < high:
                raise ValueError(
                    "outcomes must lie in [low, high], low < high; "
                    f"got [{shown(low)}, {shown(high)}]"
                )
        object.__setattr__(self, "low", float(low))
        object.__setattr__(self, "high", float(high))

    def _described_arguments(self) -> Content:
        arguments = super()._described_arguments()
        if math.isinf(self.high):  # JSON has no infinity
            arguments |= {"low": None, "high": None}
        return arguments

    @property
    def prediction_range(self) -> Range:
        """The declared range."""
        return (self.low, self.high)

    @property
    def width(self) -> float:
        """``high - low``."""
        return self.high - self.low

    @property
    def loss_range(self) -> Range:
        """From 0 to the loss of one end of the range where the other is the outcome."""
        ends = np.array([self.low, self.high])
        with np.errstate(over="ignore"):
            return (0.0, float(self.evaluate(ends, ends[::-1]).max()))

    @property
    def steepest(self) -> float:
        """The slope at one end of the range where the other is the outcome."""
        ends = np.array([self.low, self.high])
        return float(np.abs(self.slope(ends, ends[::-1])).max())


@dataclass(frozen=True)
class SquareLoss(IntervalLoss):
    r"""Square loss of predictions and outcomes in ``[low, high]``.

    .. math:: \ell(x, y) = (x - y)^2 \in [0, (\mathrm{high} - \mathrm{low})^2]

    Examples
    --------
    >>> SquareLoss(0, 10)([4.0, 7.0], 6.0)
    array([4., 1.])
    >>> SquareLoss(0, 10)([4.0, 17.0], 6.0)
    Traceback (most recent call last):
    ...
    ValueError: predictions must lie in [0, 10]; got 17.0 at index 1 (min=4, max=17)
    """

    low: float = 0.0
    high: float = 1.0

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return ``(x - y)**2``."""
        return np.asarray((predictions - outcomes) ** 2)

    @property
    def compiled_slope(self) -> Slope:
        """``2 (x - y)``."""
        return SQUARE, 0.0


@dataclass(frozen=True)
class AbsoluteLoss(IntervalLoss):
    r"""Absolute loss of predictions and outcomes in ``[low, high]``.

    .. math:: \ell(x, y) = |x - y| \in [0, \mathrm{high} - \mathrm{low}]

    Examples
    --------
    >>> AbsoluteLoss(0, 10)([4.0, 7.0], 6.0)
    array([2., 1.])
    """

    low: float = 0.0
    high: float = 1.0

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return ``|x - y|``."""
        return np.abs(predictions - outcomes)

    @property
    def compiled_slope(self) -> Slope:
        """The sign of ``x - y``."""
        return ABSOLUTE, 0.0


@dataclass(frozen=True)
class PinballLoss(IntervalLoss):
    r"""Pinball loss, which the ``q``-quantile minimises, of values in ``[low, high]``.

    .. math:: \ell_q(x, y) = \max\{q (y - x), (1 - q)(x - y)\}
              \in [0, \max(q, 1 - q)(\mathrm{high} - \mathrm{low})]

    Examples
    --------
    >>> PinballLoss(0.9, 0, 10)([4.0, 7.0], 6.0)
    array([1.8, 0.1])
    """

    q: float = 0.5
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not (is_real(self.q) and 0 < self.q < 1):
            raise ValueError(f"q must lie between 0 and 1; got {shown(self.q)}")
        object.__setattr__(self, "q", float(self.q))
        super().__post_init__()

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return the larger of ``q (y - x)`` and ``(1 - q) (x - y)``."""
        short = outcomes - predictions
        return np.maximum(self.q * short, (self.q - 1) * short)

    @property
    def compiled_slope(self) -> Slope:
        """``-q`` below the outcome and ``1 - q`` above it."""
        return PINBALL, self.q
