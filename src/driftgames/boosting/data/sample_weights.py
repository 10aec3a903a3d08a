"""Sample weights as integers: exactly if their ratios are integers, else rounded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.core.checks import as_floats, is_real, shown
from driftgames.core.typing import FloatArray, IntArray

_MOST_COUNTED = 2**31  # what the counts of a tally can hold
WEIGHT_BITS = 52
"""The bits of the sum of weights that are rounded."""

PAIR_BITS = 31
"""The same where gaps between thresholds multiply the weights."""

_LEAST_EXPONENT = 1074  # all floats are multiples of 2**-1074


class SampleWeights(NamedTuple):
    """How much each example counts; ``integer_weights`` if no weight was rounded."""

    of_each: IntArray
    integer_weights: bool

    @classmethod
    def of(cls, sample_weight: FloatArray, bits: int = WEIGHT_BITS) -> SampleWeights:
        """Return positive weights as integers: exactly if their ratios are integers.

        Other weights are rounded to multiples of ``2**-bits`` of their sum, and at least to one.

        >>> SampleWeights.of(np.array([0.5, 1.5])).of_each
        array([1, 3])
        """
        span = float(sample_weight.min()), float(sample_weight.max())
        scale = WeightScale.of(span, WeightTotals.of(sample_weight, span))
        return scale.weigh(sample_weight, bits)


class WeightTotals(NamedTuple):
    """Sums over positive weights from which their scale follows; sums of parts add up.

    ``ratios`` are the sums of the ratios to the least weight and to one: infinite if a ratio is
    not an integer. ``shares`` is the sum of the weights, in multiples of ``2**-1074``, after the
    largest was brought near 1. It is exact in any order of the examples.
    """

    ratios: tuple[float, float]
    shares: int

    @classmethod
    def of(cls, sample_weight: FloatArray, span: tuple[float, float]) -> WeightTotals:
        """Return the totals of weights; ``span`` is the least and the largest of all parts."""
        ratios = []
        for unit in (span[0], 1.0):
            with np.errstate(over="ignore"):  # an infinite sum is too large to be counted
                each = sample_weight / unit
                total = float(each.sum())
            ratios.append(total if (each == np.rint(each)).all() else math.inf)
        shares = exact_sum(_near_one(sample_weight, span[1])) * 2**_LEAST_EXPONENT
        return cls((ratios[0], ratios[1]), int(shares))

    def __add__(self, other: WeightTotals) -> WeightTotals:  # type: ignore[override]
        ratios = (self.ratios[0] + other.ratios[0], self.ratios[1] + other.ratios[1])
        return WeightTotals(ratios, self.shares + other.shares)


class WeightScale(NamedTuple):
    """How weights become integers: as ratios to ``unit``, or else as parts of ``total``."""

    unit: float | None
    largest: float
    total: float

    @classmethod
    def of(cls, span: tuple[float, float], totals: WeightTotals) -> WeightScale:
        """Return the scale of all weights."""
        for unit, ratio in zip((span[0], 1.0), totals.ratios, strict=True):
            if ratio < _MOST_COUNTED:
                return cls(unit, span[1], 0.0)
        return cls(None, span[1], totals.shares / (1 << _LEAST_EXPONENT))

    def weigh(self, sample_weight: FloatArray, bits: int = WEIGHT_BITS) -> SampleWeights:
        """Return weights as integers: zero stays zero."""
        if self.unit is not None:
            return SampleWeights((sample_weight / self.unit).astype(np.int64), integer_weights=True)
        shares = _near_one(sample_weight, self.largest) / self.total
        scaled = np.maximum(np.rint(np.ldexp(shares, bits)), sample_weight > 0)
        return SampleWeights(scaled.astype(np.int64), integer_weights=False)


def _near_one(sample_weight: FloatArray, largest: float) -> FloatArray:
    """Return weights times the power of two that brings the largest near 1: sums are finite."""
    return np.asarray(np.ldexp(sample_weight, -math.frexp(largest)[1]))


def check_weights(
    sample_weight: Any, X: Matrix, y: Array, classes: Array | None
) -> FloatArray | None:
    """Return sample weights as floats, checked: two classes have examples of positive weight.

    Without ``classes`` the outcomes are numbers.
    """
    if sample_weight is None:
        return None
    if not is_real(sample_weight):  # scikit-learn reads one number as that of every row
        sample_weight = as_floats("sample_weight", sample_weight)
    elif not math.isfinite(sample_weight):
        raise ValueError(f"sample_weight must be finite; got {shown(sample_weight)}")
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every example")
    present = np.unique(y[weights > 0])
    if classes is not None and present.size < 2:
        raise ValueError(
            "sample_weight must not be zero for all of one class; "
            f"only class {shown(present[0])} of {classes.tolist()} has any"
        )
    return np.asarray(weights)


def weigh_classes(
    class_weight: object, y: Array, classes: Array, sample_weight: FloatArray | None
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
    masses = [exact_sum(weights[y == each]) for each in classes]
    factors = class_factors(class_weight, classes, masses)
    return np.asarray(weights * factors[np.searchsorted(classes, y)])


def exact_sum(weights: FloatArray) -> Fraction:
    """Return the sum of weights without rounding, so that sums of parts add up."""
    mantissas, exponents = np.frexp(weights)
    digits, total = np.ldexp(mantissas, 53).astype(np.int64), Fraction(0)
    for exponent in np.unique(exponents).tolist():
        same = digits[exponents == exponent]
        # two halves, so that no sum of less than 2**36 of them overflows
        whole = (int((same >> 26).sum()) << 26) + int((same & (2**26 - 1)).sum())
        total += whole * Fraction(2) ** (exponent - 53)
    return total


def class_factors(class_weight: object, classes: Array, masses: Sequence[Fraction]) -> FloatArray:
    """Return the factor of each class; ``masses`` are the sums of their sample weights."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors = _balanced_factors([float(mass) for mass in masses])
    elif isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight must name the classes {classes.tolist()}; got {shown(unknown[0])}"
            )
        factors = [class_weight.get(label, 1.0) for label in classes.tolist()]
    else:
        raise ValueError(
            f'class_weight must be a dict, "balanced" or None; got {shown(class_weight)}'
        )
    for label, factor in zip(classes.tolist(), factors, strict=True):
        if not (is_real(factor) and 0 < factor < math.inf):
            raise ValueError(
                f"class_weight[{shown(label)}] must be a finite number > 0; got {shown(factor)}"
            )
    return np.array(factors, dtype=np.float64)


def _balanced_factors(masses: Sequence[float]) -> list[float]:
    """Return factors that give all classes one total: integers where that is possible."""
    common = math.fsum(masses)
    if all(mass.is_integer() for mass in masses):
        least = math.lcm(*(int(mass) for mass in masses if mass))
        if least * len(masses) < _MOST_COUNTED:
            common = least
    return [common / mass if mass else 1.0 for mass in masses]


def weigh_examples(
    X: Matrix, y: Array, sample_weight: FloatArray | None, bits: int = WEIGHT_BITS
) -> tuple[Matrix, Array, SampleWeights]:
    """Return the examples of positive weight, and their weights. Default: one for each."""
    if sample_weight is None:
        return X, y, SampleWeights(np.ones(y.size, dtype=np.int64), integer_weights=True)
    heavy = sample_weight > 0
    if not heavy.all():
        X, y, sample_weight = X[heavy], y[heavy], sample_weight[heavy]
    return X, y, SampleWeights.of(sample_weight, bits)
