"""Gauss-Legendre quadrature in exactly defined arithmetic: the same nodes on every machine."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from driftgames._kernels.sums import total
from driftgames.core.checks import check_integer
from driftgames.core.typing import FloatArray

_STEPS = 6  # Newton's method doubles the digits each time


def gauss_legendre(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    r"""Return nodes and weights on [0, 1] that integrate polynomials of degree 2n - 1 exactly.

    .. math:: \int_0^1 f(x)\,dx = \sum_i w_i f(x_i), \qquad P_n(2x_i - 1) = 0

    The roots of the Legendre polynomial are found by Newton's method from its asymptotic form.
    Only sums, products and quotients are used, so that all machines agree on every bit.

    Examples
    --------
    >>> gauss_legendre(2)
    (array([0.21132487, 0.78867513]), array([0.5, 0.5]))
    """
    nodes, weights = _solve(check_integer("n_nodes", n_nodes, least=1))
    return nodes.copy(), weights.copy()


@lru_cache(maxsize=4)  # 512 nodes take 20 ms, and every portfolio of two assets has them
def _solve(n: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights: see `gauss_legendre`."""
    half = (n + 1) // 2
    x = _cosine(math.pi * (np.arange(half, dtype=np.float64) + 0.75) / (n + 0.5))
    for _ in range(_STEPS):
        value, slope, _ = _legendre(n, x)
        x = x - value / slope
    if n % 2:
        x[-1] = 0.0
    weights = 1.0 / _legendre(n, x)[2]
    nodes = np.concatenate([-x, x[: n // 2][::-1]])
    weights = np.concatenate([weights, weights[: n // 2][::-1]])
    return (nodes + 1.0) / 2.0, weights / total(weights)


def _legendre(n: int, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the Legendre polynomial of degree n, its derivative, and a sum of squares.

    The sum of ``(2k + 1) P_k(x)**2`` below n is 2 over the weight of a node: it has no
    cancellation, unlike the formula with the derivative.
    """
    before, value, squares = np.ones(x.size), x.copy(), np.ones(x.size)
    for k in range(2, n + 1):
        squares = squares + (2 * k - 1) * (value * value)
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (x * value - before) / (x * x - 1.0), squares


def _cosine(angles: FloatArray) -> FloatArray:
    """Return the cosine of angles up to pi/2 by its power series."""
    term, cosine = np.ones(angles.size), np.ones(angles.size)
    for k in range(1, 15):
        term = -term * angles * angles / ((2 * k - 1) * (2 * k))
        cosine = cosine + term
    return cosine
