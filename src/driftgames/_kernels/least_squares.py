"""Products of rows and Cholesky's method in the one order of sums, without BLAS."""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.lanes import LANES, fold, load, spread
from driftgames._kernels.sums import dot
from driftgames.core.typing import FloatArray


@kernel
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


@kernel
def pairwise_dots(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the inner product of each row of ``A`` with the same row of ``B``."""
    out = np.empty(A.shape[0])
    for row in range(out.size):
        out[row] = dot(A[row], B[row])
    return out


@kernel
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


@kernel
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
