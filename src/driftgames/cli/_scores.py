"""Scores of predictions; the formulas of scikit-learn, whose module takes 0.5 s to import."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import BoolArray, FloatArray


def area_under_curve(positive: BoolArray, scores: FloatArray) -> float:
    """Return the share of pairs in which the positive example scores higher; ties count a half.

    NaN without examples of both kinds.

    >>> area_under_curve(np.array([True, False, True]), np.array([0.9, 0.2, 0.2]))
    0.75
    """
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if not n_positive or not n_negative:
        return math.nan
    _, group, counts = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_ranks = last - (counts - 1) / 2  # of each group of ties, from 1
    total = float(mean_ranks[group][positive].sum())
    return (total - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def mean_area(y: npt.NDArray[Any], scores: FloatArray, classes: npt.NDArray[Any]) -> float:
    """Return the area for two classes; for more, the mean of that of each class to the rest."""
    if classes.size == 2:
        return area_under_curve(y == classes[1], scores)
    areas = [area_under_curve(y == each, scores[:, k]) for k, each in enumerate(classes)]
    return float(np.mean(areas))


def log_loss(y: npt.NDArray[Any], p: FloatArray, classes: npt.NDArray[Any]) -> float:
    """Return the mean of ``-ln p`` of the true classes; p is kept away from 0 and 1.

    >>> round(log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1])), 4)
    0.6931
    """
    least = np.finfo(np.float64).eps
    at = np.searchsorted(classes, y)
    return float(-np.log(np.clip(p[np.arange(y.size), at], least, 1 - least)).mean())
