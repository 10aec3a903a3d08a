"""Losses by name, and your own loss from a function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_interval,
    check_range,
    shown,
)
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.interval_losses import (
    AbsoluteLoss,
    IntervalLoss,
    PinballLoss,
    SquareLoss,
)
from driftgames.hedge.losses.label_losses import LogLoss, ZeroOneLoss
from driftgames.hedge.losses.loss_base import (
    ANY,
    Loss,
    LossFunction,
    Range,
)


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
        if kind is None or not issubclass(kind, IntervalLoss):
            raise ValueError(
                f"outcome_range goes with absolute, pinball or square by name; got {shown(loss)}"
            )
        low, high = check_interval("outcome_range", outcome_range)
        parameters |= {"low": low, "high": high}
    elif any_size and kind is not None and issubclass(kind, IntervalLoss):
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
