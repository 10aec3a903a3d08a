r"""Losses of predictions, each with the range that a Hedge learner must know.

Most regret bounds are stated in units of the range of the losses, so every loss declares its
range. Square, absolute and pinball loss are bounded if outcomes lie in ``[low, high]``; log loss
because predictions lie in ``[least, 1 - least]``. A value outside the declared range is an error;
only `Loss.nearest` clips. A learner that is scale-free needs no range: ``low`` and ``high`` may be
infinite, and then values of any size are taken.

A loss with a `Loss.slope` can be linearised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log, log_all
from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_interval,
    check_range,
    is_real,
    shown,
)
from driftgames.core.typing import Content, FloatArray
from driftgames.hedge.losses.loss_base import (
    ABSOLUTE,
    ANY,
    LOG,
    PINBALL,
    SQUARE,
    Loss,
    LossFunction,
    Range,
    Slope,
    check_inside,
    means,
)

__all__ = [
    "LOSSES",
    "AbsoluteLoss",
    "CustomLoss",
    "LogLoss",
    "Loss",
    "PinballLoss",
    "SquareLoss",
    "ZeroOneLoss",
    "make_loss",
]


class _Interval(Loss):
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
class SquareLoss(_Interval):
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
class AbsoluteLoss(_Interval):
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
class PinballLoss(_Interval):
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


@dataclass(frozen=True)
class LogLoss(Loss):
    r"""Logarithmic loss of a probability that the outcome is 1, for outcomes 0 and 1.

    .. math:: \ell(x, y) = -\ln(y x + (1 - y)(1 - x)) \in [0, -\ln \delta],
              \qquad \delta = \mathrm{least}

    It is bounded because predictions must lie in ``[least, 1 - least]``. `nearest` moves the
    predictions 0 and 1 into this range, at a cost of at most ``-ln(1 - least)`` per round.

    Examples
    --------
    >>> LogLoss(0.01)([0.5, 0.99], 1.0).round(4)
    array([0.6931, 0.0101])
    >>> LogLoss(0.01)([0.5, 1.0], 1.0)
    Traceback (most recent call last):
    ...
    ValueError: predictions must lie in [0.01, 0.99]; got 1.0 at index 1 (min=0.5, max=1)
    """

    least: float = 0.001

    def __post_init__(self) -> None:
        # 1 - least must be told from 1
        if not (is_real(self.least) and 2.0**-53 < self.least < 0.5):
            raise ValueError(f"least must lie between 2**-53 and 1/2; got {shown(self.least)}")
        object.__setattr__(self, "least", float(self.least))

    @property
    def loss_range(self) -> Range:
        """``(0, -ln(least))``, the latter increased by the rounding error of a logarithm."""
        low, high = self.prediction_range
        return (0.0, -log(min(low, 1.0 - high)) * (1.0 + 1e-15))

    @property
    def prediction_range(self) -> Range:
        """``[least, 1 - least]``."""
        return (self.least, 1.0 - self.least)

    def check_outcomes(self, outcomes: npt.ArrayLike) -> FloatArray:
        """Return outcomes as floats, or name the first that is neither 0 nor 1."""
        numbers = check_inside("outcomes", outcomes, (0.0, 1.0))
        between = (numbers != 0) & (numbers != 1)
        if between.any():
            raise ValueError(f"outcomes of log loss must be 0 or 1; got {numbers[between][0]:g}")
        return numbers

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return minus the logarithm of the probability that was given to the outcome."""
        return -log_all(np.where(outcomes == 1.0, predictions, 1.0 - predictions))

    @property
    def compiled_slope(self) -> Slope:
        """``-1 / x`` for the outcome 1 and ``1 / (1 - x)`` for 0."""
        return LOG, 0.0

    @property
    def steepest(self) -> float:
        """``1 / least``."""
        low, high = self.prediction_range
        return 1.0 / min(low, 1.0 - high)


@dataclass(frozen=True)
class ZeroOneLoss(Loss):
    r"""1 for a wrong label and 0 for the right one; labels are numbers.

    .. math:: \ell(x, y) = \mathbf{1}\{x \ne y\}

    It is not convex, and a mean of labels is not a label. The mixture predicts the label of
    largest weight, the smallest of those if they tie. It errs only if at least half of the weight
    errs, so it makes at most twice as many mistakes as the learner's loss.

    Examples
    --------
    >>> ZeroOneLoss()([1.0, 3.0], 3.0)
    array([1., 0.])
    >>> labels, p = np.array([1.0, 3.0, 3.0]), np.array([0.4, 0.3, 0.3])
    >>> float(ZeroOneLoss().combine(labels, p))
    3.0
    """

    convex: ClassVar[bool] = False

    @property
    def loss_range(self) -> Range:
        """``(0, 1)``."""
        return (0.0, 1.0)

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return whether the labels differ."""
        return np.asarray(predictions != outcomes, dtype=np.float64)

    def combine(self, predictions: FloatArray, p: FloatArray) -> FloatArray:
        """Return the label of most weight over the last axis."""
        labels = np.unique(predictions)
        votes = np.stack([means(predictions == label, p) for label in labels])
        return np.asarray(labels[votes.argmax(axis=0)])


@dataclass(frozen=True)
class CustomLoss(Loss):
    """Your own loss: a function of two arrays that broadcast, its range, and its gradient.

    A loss outside ``range`` is an error. Default: [0, 1]; with a gradient, any number.
    ``gradient`` is a function of two vectors, the derivatives in the predictions; give it if the
    loss is convex in the prediction. If the function is not convex, the bound holds for the
    learner's own loss, that of an expert drawn at random, and does not cover the mean that a
    mixture predicts.

    Examples
    --------
    >>> too_low = CustomLoss(lambda x, y: np.maximum(y - x, 0.0), (0.0, 5.0))
    >>> too_low([1.0, 4.0], 3.0)
    array([2., 0.])
    """

    function: LossFunction
    range: Range | None = None
    gradient: LossFunction | None = None

    def __post_init__(self) -> None:
        if self.range is not None:
            object.__setattr__(self, "range", check_interval("the range of a loss", self.range))

    @property
    def loss_range(self) -> Range:
        """The declared range."""
        if self.range is not None:
            return self.range
        return (0.0, 1.0) if self.gradient is None else ANY

    @property
    def has_slope(self) -> bool:
        """Whether a gradient was given."""
        return self.gradient is not None

    def evaluate(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return the losses of the function, after a check of their shape and range."""
        losses = as_floats("custom losses", self.function(predictions, outcomes))
        shape = np.broadcast_shapes(predictions.shape, outcomes.shape)
        if losses.shape != shape:
            raise ValueError(f"custom losses must have shape {shape}; got {losses.shape}")
        check_range("custom losses", losses, *self.loss_range)
        return losses

    def slope(self, predictions: FloatArray, outcomes: FloatArray) -> FloatArray:
        """Return the values of the gradient, after a check of their shape."""
        if self.gradient is None:
            return super().slope(predictions, outcomes)
        found = as_floats("the gradient", self.gradient(predictions, outcomes))
        if found.shape != predictions.shape:
            raise ValueError(f"the gradient must have shape {predictions.shape}; got {found.shape}")
        check_finite("the gradient", found)
        return found


LOSSES: dict[str, type[Loss]] = {
    "absolute": AbsoluteLoss,
    "log": LogLoss,
    "pinball": PinballLoss,
    "square": SquareLoss,
    "zero-one": ZeroOneLoss,
}
"""The losses by name."""


def make_loss(
    loss: Loss | str | LossFunction,
    outcome_range: Range | None = None,
    *,
    any_size: bool = False,
    **parameters: Any,
) -> Loss:
    """Return a loss from a name and its parameters; a function has losses in [0, 1].

    ``outcome_range`` is short for ``low`` and ``high``, where the loss has them. With ``any_size``
    a name without a range gives a loss of values of any size, else of values in [0, 1].

    >>> make_loss("pinball", (0, 10), q=0.9)
    PinballLoss(q=0.9, low=0.0, high=10.0)
    >>> make_loss("hinge")
    Traceback (most recent call last):
    ...
    ValueError: loss must be one of absolute, log, pinball, square, zero-one, a Loss or a function;
    got 'hinge'
    """
    kind = LOSSES.get(loss) if isinstance(loss, str) else None
    if outcome_range is not None:
        if kind is None or not issubclass(kind, _Interval):
            raise ValueError(
                f"outcome_range goes with absolute, pinball or square by name; got {shown(loss)}"
            )
        low, high = check_interval("outcome_range", outcome_range)
        parameters |= {"low": low, "high": high}
    elif any_size and kind is not None and issubclass(kind, _Interval):
        parameters = {"low": None, "high": None} | parameters
    if kind is not None:
        return kind(**parameters)
    if isinstance(loss, Loss) and not parameters:
        return loss
    if callable(loss) and not isinstance(loss, Loss):
        return CustomLoss(loss, **parameters)
    raise ValueError(
        f"loss must be one of {', '.join(LOSSES)}, a Loss or a function; got {shown(loss)}"
    )
