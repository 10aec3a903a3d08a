"""Sample weights as integers: exactly if their ratios are integers, else rounded."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from driftgames.boosting.bins import Array
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


def weigh_examples(
    X: Any, y: Array, sample_weight: Any, classes: Array
) -> tuple[Any, Array, SampleWeights]:
    """Return the examples of positive weight, and their weights."""
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
    return X, y, SampleWeights.of(weights)
