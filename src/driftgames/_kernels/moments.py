"""Weights that give points the exact mean and covariance of a convex set.

Products and Cholesky's method are written here in the one order of sums, without BLAS.
"""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.jit import allocating_kernel, scalar
from driftgames._kernels.lanes import LANES, fold, load, spread
from driftgames._kernels.sums import dot, matvec
from driftgames.core.checks import as_floats, check_finite, check_vector
from driftgames.core.typing import FloatArray

_MOST_STEPS = 50
_FLAT = 1e-12  # a pivot this small, relative to the largest, belongs to no direction


def match_moments(
    points: FloatArray, mean: FloatArray, covariance: FloatArray
) -> FloatArray | None:
    r"""Return weights under which the points have this mean and this covariance.

    .. math:: q_i = \max(0,\ \theta\cdot\phi(x_i)), \qquad
              \sum_i q_i\,\phi(x_i) = \mathbf{E}[\phi(x)], \qquad
              \phi = (1,\ x_j,\ x_j x_k)

    The integral of every polynomial of degree two is then exact, and that of a smooth function
    has an error of third order only. Of all nonnegative weights that do so these are the
    closest to equal ones (in least squares). None is returned if there are too few points for
    that; use equal weights then.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.3], [0.6], [0.9], [1.0]])
    >>> q = match_moments(points, np.array([0.5]), np.array([[1 / 12]]))
    >>> np.round([q.sum(), q @ points[:, 0], q @ points[:, 0] ** 2], 6)
    array([1.      , 0.5     , 0.333333])
    """
    given = as_floats("points", points)
    if given.ndim != 2 or not given.size:
        raise ValueError(f"points must be one per row; got shape {given.shape}")
    check_finite("points", given)
    d = given.shape[1]
    matrix = as_floats("covariance", covariance)
    if matrix.shape != (d, d):
        raise ValueError(f"covariance must be of shape ({d}, {d}); got shape {matrix.shape}")
    check_finite("covariance", matrix)
    whitened = _whitened(given - check_vector("mean", mean, d), matrix)
    dimension, n_points = whitened.shape
    rows, columns = np.triu_indices(dimension)
    if n_points < points_needed(dimension):
        return None
    features = np.empty((1 + dimension + rows.size, n_points))
    features[0] = 1.0
    features[1 : 1 + dimension] = whitened
    np.multiply(whitened[rows], whitened[columns], out=features[1 + dimension :])
    target = np.concatenate([[1.0], np.zeros(dimension), (rows == columns).astype(np.float64)])
    return _closest_to_equal(features, target)


def points_needed(dimension: int) -> int:
    """Return the least number of points whose moments can be matched: twice that of the moments."""
    return 2 * (1 + dimension + dimension * (dimension + 1) // 2)


def _whitened(centred: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return coordinates, one per row, in which the covariance is the identity.

    A flat direction, as the simplex has one, has no coordinate.
    """
    factor = cholesky(covariance, _FLAT * float(np.diag(covariance).max()))
    solved: list[FloatArray] = []
    kept = np.flatnonzero(np.diag(factor) > 0)
    for i in kept:
        rest = centred[:, i].copy()
        for j, earlier in zip(kept, solved, strict=False):
            rest -= factor[i, j] * earlier
        solved.append(rest / factor[i, i])
    return np.array(solved)


def _closest_to_equal(features: FloatArray, target: FloatArray) -> FloatArray | None:
    """Solve for the multipliers by Newton's method on the points whose weight is not zero."""
    all_points = row_products(features)
    by_point = np.ascontiguousarray(features.T)
    active = np.ones(features.shape[1], dtype=bool)
    for _ in range(_MOST_STEPS):
        moments = all_points - row_products(np.ascontiguousarray(features[:, ~active]))
        factor = cholesky(moments, _FLAT * float(np.diag(moments).max()))
        if not (np.diag(factor) > 0).all():
            return None
        weights = matvec(by_point, solve_factored(factor, target))
        if np.array_equal(weights > 0, active):
            kept_weights: FloatArray = np.where(active, weights, 0.0)
            return kept_weights
        active = weights > 0
    return None


@allocating_kernel
def row_products(A: FloatArray) -> FloatArray:
    """Return ``A A'``: the inner products of all pairs of rows."""
    n, m = A.shape
    out = np.empty((n, n))
    for i in range(0, n, 2):
        x, y = A[i], A[min(i + 1, n - 1)]
        # two rows by four, so that eight sums are under way at once
        for j in range(0, i + 2, 4):
            a, b = A[min(j, n - 1)], A[min(j + 1, n - 1)]
            c, d = A[min(j + 2, n - 1)], A[min(j + 3, n - 1)]
            xa, xb, xc, xd = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
            ya, yb, yc, yd = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
            for k in range(0, m, LANES):
                x_k, y_k = load(x, k, 0.0), load(y, k, 0.0)
                a_k, b_k = load(a, k, 0.0), load(b, k, 0.0)
                c_k, d_k = load(c, k, 0.0), load(d, k, 0.0)
                xa, ya = fma(x_k, a_k, xa), fma(y_k, a_k, ya)
                xb, yb = fma(x_k, b_k, xb), fma(y_k, b_k, yb)
                xc, yc = fma(x_k, c_k, xc), fma(y_k, c_k, yc)
                xd, yd = fma(x_k, d_k, xd), fma(y_k, d_k, yd)
            _put(out, i, j, fold(xa), fold(xb), fold(xc), fold(xd))
            _put(out, i + 1, j, fold(ya), fold(yb), fold(yc), fold(yd))
    return out


@scalar
def _put(out: FloatArray, i: int, j: int, a: float, b: float, c: float, d: float) -> None:
    """Write four entries of a row, and of the column that mirrors it, as far as they exist."""
    n = out.shape[0]
    if i < n:
        for step, value in enumerate((a, b, c, d)):
            if j + step < n:
                out[i, j + step] = out[j + step, i] = value


@allocating_kernel
def cholesky(A: FloatArray, flat: float) -> FloatArray:
    """Return lower triangular ``L`` with ``L L' = A``.

    A row whose pivot is not above ``flat`` is zero: it depends on the rows before it.
    """
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            if L[j, j] > 0.0:
                L[i, j] = (A[i, j] - dot(L[i, :j], L[j, :j])) / L[j, j]
        pivot = A[i, i] - dot(L[i, :i], L[i, :i])
        if pivot > flat:
            L[i, i] = math.sqrt(pivot)
        else:
            L[i, :i] = 0.0
    return L


@allocating_kernel
def solve_factored(L: FloatArray, y: FloatArray) -> FloatArray:
    """Return x with ``L L' x = y``, for ``L`` with a positive diagonal."""
    n = y.size
    x = y.copy()
    for i in range(n):
        x[i] = (x[i] - dot(L[i, :i], x[:i])) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] = fma(-L[i, j], x[i], x[j])
    return x
