"""The simplex: uniform points, their covariance, and the best point for two kinds of goals."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.jit import allocating_kernel, inner_kernel
from driftgames.core.typing import FloatArray

_MOST_STEPS = 200


def simplex_from_cube(cube: FloatArray) -> FloatArray:
    """Map rows of the unit cube onto the simplex so that equal volumes stay equal.

    Each coordinate takes its share of what the earlier ones left: a stick is broken.

    >>> simplex_from_cube(np.array([[0.75, 0.5]]))
    array([[0.5 , 0.25, 0.25]])
    """
    d = cube.shape[1]
    # what is left after a break is a Beta(k, 1) share, where k more breaks could follow
    left = np.cumprod(exp_all(log_all(1.0 - cube) / np.arange(d, 0, -1)), axis=1)
    points = np.empty((cube.shape[0], d + 1))
    points[:, 0] = 1.0 - left[:, 0]
    points[:, 1:d] = left[:, :-1] - left[:, 1:]
    points[:, d] = left[:, -1]
    return points


def simplex_covariance(n: int) -> FloatArray:
    """Return the covariance of a uniform point of ``n`` coordinates: Dirichlet, parameters 1."""
    return (np.eye(n) - 1.0 / n) / (n * (n + 1))


def most_log_wealth(X: FloatArray, tolerance: float) -> tuple[FloatArray, float, float]:
    r"""Return the point of the simplex with the most log-wealth, that log-wealth, and a gap.

    .. math:: b^* = \arg\max_b \sum_t \ln(b\cdot x_t)

    Newton's method. With the gradient g at b, concavity bounds what is missing by
    :math:`\max_i g_i - T`, the gap. The search ends when the gap is at most ``tolerance`` times
    the number T of rows.
    """
    # each row's factor is put back at the end, so that no row is too large or too small
    scales = X.max(axis=1)
    X = X / scales[:, np.newaxis]
    horizon, n = X.shape
    b = np.full(n, 1.0 / n)
    value = float(np.log(X @ b).sum())
    gap = math.inf
    for _ in range(_MOST_STEPS):
        ratios = X / (X @ b)[:, np.newaxis]
        gradient = ratios.sum(axis=0)
        gap = max(float(gradient.max()) - horizon, 0.0)
        if gap <= tolerance * horizon:
            break
        curvature = ratios.T @ ratios
        curvature[np.diag_indices(n)] += 1e-12 * np.trace(curvature)  # for fewer days than assets
        target = b.copy()
        lowest_on_simplex(curvature, curvature @ b + gradient, target)
        moved = _climb(X, b, target, value, float(gradient @ (target - b)))
        if moved is None:
            break
        b, value = moved
    return b, value + float(np.log(scales).sum()), gap


def _climb(
    X: FloatArray, b: FloatArray, target: FloatArray, value: float, slope: float
) -> tuple[FloatArray, float] | None:
    """Return the first point on the way back from ``target`` that is high enough."""
    share = 1.0
    while share > 1e-12:
        tried = b + share * (target - b)
        reached = float(np.log(X @ tried).sum())
        if reached >= value + 0.25 * share * slope and reached > value:
            return tried, reached
        share /= 2
    return None


@allocating_kernel
def lowest_on_simplex(A: FloatArray, pull: FloatArray, q: FloatArray) -> None:
    """Move ``q`` to the lowest point of ``q.A.q / 2 - pull.q`` on the simplex.

    A primal active-set method for positive definite ``A``: solve on the coordinates held, drop
    the first that falls to zero on the way, and add the one with the steepest descent. It is
    quick from a good start.
    """
    n = q.size
    free = np.empty(n, dtype=np.int64)
    held = np.empty(n, dtype=np.bool_)
    solved = np.empty((2, n))
    factor = np.empty((n, n))
    scale = 0.0
    for k in range(n):
        scale = max(scale, abs(pull[k]), A[k, k])
        held[k] = q[k] > 0.0
    for _ in range(20 * n):
        m = 0
        for k in range(n):
            if held[k]:
                free[m] = k
                m += 1
        solve_held(A, pull, free[:m], factor, solved)
        ones, pulled = 0.0, 0.0
        for i in range(m):
            ones += solved[1, i]
            pulled += solved[0, i]
        level = (1.0 - pulled) / ones
        share, first = 1.0, -1
        for i in range(m):
            target = solved[0, i] + level * solved[1, i]
            solved[0, i] = target
            here = q[free[i]]
            if target <= 0.0 and here <= share * (here - target):
                share, first = here / (here - target) if here > target else 0.0, free[i]
        total = 0.0
        for i in range(m):
            k = free[i]
            # a whole step lands on the solution itself, so that a second search moves nothing
            q[k] = solved[0, i] if first < 0 else max(q[k] + share * (solved[0, i] - q[k]), 0.0)
            if k == first:
                q[k], held[k] = 0.0, False
            total += q[k]
        for k in range(n):
            q[k] /= total
        if first >= 0:
            continue
        best, lowest = -1, -1e-13 * scale
        for k in range(n):
            if not held[k]:
                slope = -pull[k] - level
                for i in range(m):
                    slope += A[k, free[i]] * q[free[i]]
                if slope < lowest:
                    best, lowest = k, slope
        if best < 0:
            return
        held[best] = True


@inner_kernel
def solve_held(
    A: FloatArray,
    pull: FloatArray,
    free: npt.NDArray[np.int64],
    factor: FloatArray,
    solved: FloatArray,
) -> None:
    """Solve ``A z = pull`` and ``A z = 1`` on the assets held, by Cholesky's method."""
    m = free.size
    for i in range(m):
        for j in range(i + 1):
            total = A[free[i], free[j]]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total / factor[j, j] if i > j else math.sqrt(total)
    for right in range(2):
        z = solved[right]
        for i in range(m):
            total = pull[free[i]] if right == 0 else 1.0
            for k in range(i):
                total -= factor[i, k] * z[k]
            z[i] = total / factor[i, i]
        for i in range(m - 1, -1, -1):
            total = z[i]
            for k in range(i + 1, m):
                total -= factor[k, i] * z[k]
            z[i] = total / factor[i, i]
