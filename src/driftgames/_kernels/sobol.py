"""Scrambled Sobol points of the unit cube, and a fingerprint that recognises a set of points."""

from __future__ import annotations

import hashlib

import numpy as np

from driftgames.core.checks import check_integer
from driftgames.core.documents import DocumentError
from driftgames.core.typing import FloatArray

MOST_NUMBERS = 2**24
"""How many numbers a set of points may have in all: it is made again when a state is read."""


def check_power_of_two(name: str, value: int) -> int:
    """Return ``value`` if it is a power of two from 2 on, at which Sobol points are balanced."""
    n = check_integer(name, value, least=2)
    if n & (n - 1):
        raise ValueError(f"{name} must be a power of two; got {n}")
    return n


def sobol(dimension: int, n_points: int, rng: np.random.Generator) -> FloatArray:
    """Return the points, one per row. They depend on SciPy's version and not on the machine."""
    from scipy.stats import qmc

    if dimension * n_points > MOST_NUMBERS:
        raise ValueError(
            f"points must be at most {MOST_NUMBERS:,} numbers in all; got {n_points:,} points of "
            f"{dimension:,} numbers"
        )
    return np.asarray(qmc.Sobol(dimension, scramble=True, seed=rng).random(n_points))


def fingerprint(points: FloatArray) -> str:
    """Return a text by which a state file recognises its points.

    >>> fingerprint(np.zeros((1, 2)))
    '374708fff7719dd5'
    """
    return hashlib.sha256(np.ascontiguousarray(points).tobytes()).hexdigest()[:16]


def check_fingerprint(points: FloatArray, saved: object) -> None:
    """Refuse a state that belongs to other points."""
    if fingerprint(points) != saved:
        raise DocumentError(
            "its points lie elsewhere here (another version of SciPy, or another kind of "
            "machine), so its positions do not belong to them"
        )
