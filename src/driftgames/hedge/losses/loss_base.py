r"""What every loss of a prediction is: its range, its slope, and the prediction of a mixture.

A convex loss lies above its tangents, so with the slope :math:`g = \ell'(\hat y, y)`

.. math:: \ell(\hat y, y) - \ell(x, y) \le g\,(\hat y - x).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log
from driftgames._kernels.jit import allocating_kernel, scalar
from driftgames._kernels.sums import row_dots
from driftgames.core.checks import as_floats, check_finite, check_range
from driftgames.core.description import Describable
from driftgames.core.typing import FloatArray

Range = tuple[float, float]
LossFunction = Callable[[FloatArray, FloatArray], npt.ArrayLike]

ANY: Range = (-math.inf, math.inf)
"""The range of all numbers."""

SQUARE, ABSOLUTE, PINBALL, LOG, GIVEN = 0, 1, 2, 3, 4
"""The kinds of slopes; GIVEN: the slope of a round is given in the place of its outcome."""

Slope = tuple[int, float]
"""A kind and its parameter: the quantile of PINBALL; the others have none."""


class Loss(Describable, ABC):
    r"""The loss of a prediction, given the outcome.

    .. math:: \ell(x, y) \in [\mathrm{low}, \mathrm{high}]

    Where the loss is convex in the prediction, the mixture :math:`\sum_i p_i x_i` loses at most
    :math:`\sum_i p_i \ell(x_i, y)`, and so every bound of the learner holds for the mixture.
    """

    convex: ClassVar[bool] = True
    """Whether the loss is convex in the prediction."""

    @property
    @abstractmethod
    def loss_range(self) -> Range:
        """The range of the losses, which the learner must know."""

    @property
    def prediction_range(self) -> Range:
        """The range that predictions must lie in."""
        return ANY

    @abstractmethod
    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return the losses without checks; the arguments broadcast."""

    @property
    def compiled_slope(self) -> Slope | None:
        """The slope as compiled loops know it; None if they do not."""
        return None

    @property
    def has_slope(self) -> bool:
        """Whether the loss is convex and has a `slope`."""
        return self.compiled_slope is not None

    @property
    def steepest(self) -> float:
        """The largest absolute slope; infinite if there is none."""
        return math.inf

    def slope(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        r"""Return the derivatives :math:`\ell'(x, y)` in the predictions, vectors of one length.

        At a kink it is 0, which is a subgradient.
        """
        if self.compiled_slope is None:
            raise ValueError(f"{type(self).__name__} has no slope")
        return slopes(*self.compiled_slope, predictions, outcomes)

    @property
    def linearised_range(self) -> Range:
        """The range of ``slope * (x - middle)`` for predictions x, around their `middle`."""
        (low, high), middle = self.prediction_range, self.middle
        most = self.steepest * max(high - middle, middle - low)
        return (-most, most)

    @property
    def middle(self) -> float:
        """The middle of `prediction_range`; 0 if it has no end."""
        low, high = self.prediction_range
        return low + (high - low) / 2 if math.isfinite(high - low) else 0.0

    def __call__(self, predictions: npt.ArrayLike, outcomes: npt.ArrayLike) -> FloatArray:
        """Return the losses, or say which value breaks which rule; the arguments broadcast."""
        checked = self.check_predictions(predictions), self.check_outcomes(outcomes)
        return self.evaluate(*checked)

    def check_predictions(self, predictions: npt.ArrayLike) -> FloatArray:
        """Return predictions as floats, or name the first outside `prediction_range`."""
        return check_inside("predictions", predictions, self.prediction_range)

    def check_outcomes(self, outcomes: npt.ArrayLike) -> FloatArray:
        """Return outcomes as floats, or name the first that cannot be one."""
        return check_inside("outcomes", outcomes, self.prediction_range)

    def nearest(self, predictions: npt.ArrayLike) -> FloatArray:
        """Return predictions with those outside `prediction_range` moved to its nearer end.

        If outcomes lie in that range too, this never increases the distance to an outcome.
        """
        numbers = as_floats("predictions", predictions)
        check_finite("predictions", numbers)
        return np.clip(numbers, *self.prediction_range)

    def combine(self, predictions: FloatArray, p: FloatArray) -> FloatArray:
        """Return the prediction of a mixture: the mean under ``p`` over the last axis."""
        mean = means(predictions, p)
        # a rounded mean must not leave the range of the experts
        return np.asarray(np.clip(mean, predictions.min(axis=-1), predictions.max(axis=-1)))


def check_inside(name: str, values: npt.ArrayLike, allowed: Range) -> FloatArray:
    """Return values as floats, or name the first outside the range."""
    numbers = as_floats(name, values)
    check_finite(name, numbers)
    if numbers.size:
        check_range(name, numbers, *allowed)
    return numbers


def means(values: npt.NDArray[Any], p: FloatArray) -> FloatArray:
    """Return the mean of ``values`` under ``p`` over the last axis."""
    pair = np.broadcast_arrays(values, p)
    rows = [np.array(each, dtype=np.float64, order="C").reshape(-1, p.shape[-1]) for each in pair]
    return row_dots(*rows).reshape(pair[0].shape[:-1])


@scalar
def slope_at(kind: int, parameter: float, x: float, y: float) -> float:
    """Return the slope of the loss at the prediction ``x``."""
    if kind == SQUARE:
        return 2.0 * (x - y)
    if kind == ABSOLUTE:
        return 1.0 * (x > y) - 1.0 * (x < y)
    if kind == PINBALL:
        return (1.0 - parameter) * (x > y) - parameter * (x < y)
    if kind == LOG:
        return -1.0 / x if y == 1.0 else 1.0 / (1.0 - x)
    return y


@scalar
def loss_at(kind: int, parameter: float, x: float, y: float) -> float:
    """Return the loss of the prediction ``x``, with the bits of `Loss.evaluate`."""
    if kind == SQUARE:
        return (x - y) * (x - y)
    if kind == ABSOLUTE:
        return abs(x - y)
    if kind == PINBALL:
        return max(parameter * (y - x), (parameter - 1.0) * (y - x))
    return -log(x) if y == 1.0 else -log(1.0 - x)


@allocating_kernel
def slopes(kind: int, parameter: float, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the slopes of two vectors of the same length.

    >>> slopes(PINBALL, 0.9, np.array([1.0, 2.0, 3.0]), np.full(3, 2.0)).round(3)
    array([-0.9,  0. ,  0.1])
    """
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = slope_at(kind, parameter, x[i], y[i])
    return out
