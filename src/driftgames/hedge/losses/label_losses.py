"""Losses of predictions of labels: log loss of a probability, and mistakes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log, log_all
from driftgames.core.checks import (
    is_real,
    shown,
)
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.loss_base import (
    LOG,
    Loss,
    Range,
    Slope,
    check_inside,
    means,
)


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
