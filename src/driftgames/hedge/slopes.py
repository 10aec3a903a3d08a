r"""Slopes of losses in the prediction: what a linearised loss is made of.

A convex loss lies above its tangents, so with the slope :math:`g = \ell'(\hat y, y)`

.. math:: \ell(\hat y, y) - \ell(x, y) \le g\,(\hat y - x).

At a kink, the slope is 0, which is a subgradient there.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.jit import allocating_kernel, scalar
from driftgames.core.typing import FloatArray

SQUARE, ABSOLUTE, PINBALL, LOG, GIVEN = 0, 1, 2, 3, 4
"""The kinds of slopes; GIVEN: the slope of a round is given in the place of its outcome."""

Slope = tuple[int, float]
"""A kind and its parameter: the quantile of PINBALL; the others have none."""


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
