"""Weights that give a handful of points the exact mean and covariance of a convex set."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.least_squares import cholesky, row_products, solve_factored
from driftgames._kernels.sums import matvec
from driftgames.core.typing import FloatArray

MOST_STEPS = 50

_FLAT = 1e-12  # a pivot this small, relative to the largest, belongs to no direction


def match_moments(
    points: FloatArray, mean: FloatArray, covariance: FloatArray
) -> FloatArray | None:
    r"""Return weights under which the points have this mean and this covariance.

    .. math:: q_i = \max(0,\ \theta\cdot\phi(x_i)), \qquad
              \sum_i q_i\,\phi(x_i) = \mathbf{E}[\phi(x)], \qquad
              \phi = (1,\ x_j,\ x_j x_k)

    The integral of every polynomial of degree two is then exact, and that of a smooth function
    is off by its third order only. Of all weights that do so and are not negative these are
    the closest to equal ones (in least squares). None is returned when there are too few
    points for that, in which case equal weights are the honest choice.

    Examples
    --------
    >>> points = np.array([[0.0], [0.1], [0.3], [0.6], [0.9], [1.0]])
    >>> q = match_moments(points, np.array([0.5]), np.array([[1 / 12]]))
    >>> np.round([q.sum(), q @ points[:, 0], q @ points[:, 0] ** 2], 6)
    array([1.      , 0.5     , 0.333333])
    """
    whitened = _whitened(points - mean, covariance)
    dimension, n_points = whitened.shape
    rows, columns = np.triu_indices(dimension)
    if n_points < 2 * (1 + dimension + rows.size):
        return None
    features = np.empty((1 + dimension + rows.size, n_points))
    features[0] = 1.0
    features[1 : 1 + dimension] = whitened
    np.multiply(whitened[rows], whitened[columns], out=features[1 + dimension :])
    target = np.concatenate([[1.0], np.zeros(dimension), (rows == columns).astype(np.float64)])
    return _closest_to_equal(features, target)


def _whitened(centred: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return coordinates, one per row, in which the covariance is the identity.

    A flat direction (of the simplex, say) has no coordinate.
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
    for _ in range(MOST_STEPS):
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
