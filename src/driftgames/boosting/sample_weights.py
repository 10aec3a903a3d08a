"""Sample weights as integers: exactly if their ratios are integers, else rounded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from driftgames.boosting.bins import Array
from driftgames.core.checks import is_real
from driftgames.core.typing import FloatArray, IntArray

_MOST_COUNTED = 2**31  # what the counts of a tally can hold
_PRIOR_BITS = 52


class SampleWeights(NamedTuple):
    """How much each example counts; ``integer_weights`` if no weight was rounded."""

    of_each: IntArray
    integer_weights: bool

    @classmethod
    def of(cls, sample_weight: FloatArray) -> SampleWeights:
        """Return positive weights as integers: exactly if their ratios are integers.

        Other weights are rounded to multiples of ``2**-52`` of their sum, and at least to one.

        >>> SampleWeights.of(np.array([0.5, 1.5])).of_each
        array([1, 3])
        """
        for unit in (float(sample_weight.min()), 1.0):
            with np.errstate(over="ignore"):  # an infinite sum is too large to be counted
                ratios = sample_weight / unit
                total = ratios.sum()
            if total < _MOST_COUNTED and (ratios == np.rint(ratios)).all():
                return cls(ratios.astype(np.int64), integer_weights=True)
        # the largest is near 1, so that the sum is finite; fsum is exact in any order of examples
        shares = np.ldexp(sample_weight, -math.frexp(float(sample_weight.max()))[1])
        scaled = np.rint(np.ldexp(shares / math.fsum(shares.tolist()), _PRIOR_BITS))
        return cls(np.maximum(scaled, 1).astype(np.int64), integer_weights=False)


def check_weights(sample_weight: Any, X: Any, y: Array, classes: Array) -> FloatArray | None:
    """Return sample weights as floats, checked: each class has an example of positive weight."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every example")
    present = np.unique(y[weights > 0])
    if present.size < classes.size:
        raise ValueError(
            "sample_weight must not be zero for all of one class; "
            f"only class {present[0]!r} of {classes.tolist()} has any"
        )
    return np.asarray(weights)


def weigh_classes(
    class_weight: Any, y: Array, classes: Array, sample_weight: FloatArray | None
) -> FloatArray | None:
    """Return the sample weights times the weight of each example's class.

    "balanced" gives all classes one total. Where the totals of the classes are integers the weights
    are too, so that boosting stays exact in integers.

    >>> weigh_classes("balanced", np.array([0, 0, 1]), np.array([0, 1]), None)
    array([1., 1., 2.])
    """
    if class_weight is None:
        return sample_weight
    weights = np.ones(y.size) if sample_weight is None else sample_weight
    if isinstance(class_weight, str) and class_weight == "balanced":
        masses = [math.fsum(weights[y == each].tolist()) for each in classes]
        factors = [math.fsum(masses) / mass for mass in masses]
        if all(mass.is_integer() for mass in masses):
            common = math.lcm(*(int(mass) for mass in masses))
            if common * len(masses) < _MOST_COUNTED:
                factors = [common / mass for mass in masses]
    elif isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight must name the classes {classes.tolist()}; got {unknown[0]!r}"
            )
        factors = [class_weight.get(label, 1.0) for label in classes.tolist()]
    else:
        raise ValueError(f'class_weight must be a dict, "balanced" or None; got {class_weight!r}')
    for label, factor in zip(classes.tolist(), factors, strict=True):
        if not (is_real(factor) and 0 < factor < math.inf):
            raise ValueError(f"class_weight[{label!r}] must be a finite number > 0; got {factor!r}")
    return np.asarray(weights * np.array(factors, dtype=np.float64)[np.searchsorted(classes, y)])


def weigh_examples(
    X: Any, y: Array, sample_weight: FloatArray | None
) -> tuple[Any, Array, SampleWeights]:
    """Return the examples of positive weight, and their weights. Default: one for each."""
    if sample_weight is None:
        return X, y, SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
    heavy = sample_weight > 0
    if not heavy.all():
        X, y, sample_weight = X[heavy], y[heavy], sample_weight[heavy]
    return X, y, SampleWeights.of(sample_weight)
