"""What counts in a training set: two classes, and examples of positive mass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from driftgames.boosting.binning import IntArray
from driftgames.core.typing import FloatArray

_MOST_COUNTED = 2**31  # what the counts of a tally can hold
_PRIOR_BITS = 52


@dataclass(frozen=True)
class Mass:
    """How much each example counts, in whole numbers; ``whole`` where nothing was rounded."""

    of_each: IntArray
    whole: bool

    @classmethod
    def ones(cls, n_examples: int) -> Mass:
        """Return the mass of examples that all count alike."""
        return cls(np.ones(n_examples, dtype=np.int64), whole=True)

    @classmethod
    def of(cls, sample_weight: FloatArray) -> Mass:
        """Return positive weights as masses: exactly where their ratios are whole numbers.

        Other weights are rounded to ``2**-52`` of their sum, and none to zero.

        >>> Mass.of(np.array([0.5, 1.5])).of_each
        array([1, 3])
        """
        for unit in (float(sample_weight.min()), 1.0):
            with np.errstate(over="ignore"):  # an infinite sum is no count
                ratios = sample_weight / unit
                total = ratios.sum()
            if total < _MOST_COUNTED and (ratios == np.rint(ratios)).all():
                return cls(ratios.astype(np.int64), whole=True)
        # the largest near 1, so that the sum, exact lest the order of examples matter, is finite
        shares = np.ldexp(sample_weight, -math.frexp(float(sample_weight.max()))[1])
        scaled = np.rint(np.ldexp(shares / math.fsum(shares.tolist()), _PRIOR_BITS))
        return cls(np.maximum(scaled, 1).astype(np.int64), whole=False)


def two_classes(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the two labels in order, or say that there are fewer or more."""
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes; got one class only: {classes.tolist()}")
    if classes.size > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: "
            f"y holds {classes.size} classes. sklearn.multiclass.OneVsRestClassifier makes one "
            "booster for each."
        )
    return classes


def weigh(
    X: Any, y: npt.NDArray[Any], sample_weight: Any, classes: npt.NDArray[Any]
) -> tuple[Any, npt.NDArray[Any], Mass]:
    """Return the examples that count, and how much."""
    if sample_weight is None:
        return X, y, Mass.ones(y.size)
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    heavy = weights > 0
    if not heavy.any():
        raise ValueError("sample_weight must not be zero for every example")
    if not heavy.all():
        X, y, weights = X[heavy], y[heavy], weights[heavy]
    present = np.unique(y)
    if present.size < 2:
        raise ValueError(
            "sample_weight must not be zero for all of one class; "
            f"only class {present[0]!r} of {classes.tolist()} has any"
        )
    return X, y, Mass.of(weights)
