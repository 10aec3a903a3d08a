"""Sums over chips, in the one order of `driftgames._kernels.lanes`.

`total`, `dot` and `lowest` take any vectors. Kernels call `total_of`, `dot_of` and `lowest_of`,
which need contiguous ones and make no arrays. Entries are float64. NumPy's own sums and
products (BLAS) choose their order by processor, so no promised result may come from them.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.jit import allocating_kernel, inner_kernel
from driftgames._kernels.lanes import LANES, first, fold, fold_lesser, load, spread, store
from driftgames.core.typing import FloatArray


@allocating_kernel
def total(x: FloatArray) -> float:
    """Return the sum of a vector.

    >>> total(np.arange(20.0))
    190.0
    """
    return total_of(np.ascontiguousarray(x))


@allocating_kernel
def dot(x: FloatArray, y: FloatArray) -> float:
    """Return the inner product of two vectors, each product fused with its addition.

    >>> dot(np.arange(20.0), np.ones(20))
    190.0
    """
    return dot_of(np.ascontiguousarray(x), np.ascontiguousarray(y))


@allocating_kernel
def lowest(x: FloatArray) -> float:
    """Return the smallest entry; infinity if there is none."""
    return lowest_of(np.ascontiguousarray(x))


@inner_kernel
def total_of(x: FloatArray) -> float:
    """Return the sum of a contiguous vector."""
    result = spread(0.0)
    for i in range(0, x.size, LANES):
        result += load(x, i, 0.0)
    return fold(result)


@inner_kernel
def dot_of(x: FloatArray, y: FloatArray) -> float:
    """Return the inner product of two contiguous vectors."""
    result = spread(0.0)
    for i in range(0, x.size, LANES):
        result = fma(load(x, i, 0.0), load(y, i, 0.0), result)
    return fold(result)


@inner_kernel
def lowest_of(x: FloatArray) -> float:
    """Return the smallest entry of a contiguous vector."""
    result = spread(np.inf)
    for i in range(0, x.size, LANES):
        result = lesser(load(x, i, np.inf), result)
    return fold_lesser(result)


@allocating_kernel
def row_dots(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the inner product of every row of ``A`` with the same row of ``B``."""
    left, right = np.ascontiguousarray(A), np.ascontiguousarray(B)
    out = np.empty(A.shape[0])
    for row in range(A.shape[0]):
        out[row] = dot_of(left[row], right[row])
    return out


@allocating_kernel
def matvec(A: FloatArray, x: FloatArray) -> FloatArray:
    """Return ``A x``: the inner product of every row with ``x``, as `dot` defines it."""
    flat, right, out = _flat(A), np.ascontiguousarray(x), np.empty(A.shape[0])
    n, last = x.size, A.shape[0] - 1
    rest = n % LANES
    whole, in_row = n - rest, first(rest)
    # four rows at once, so that four sums are under way; the last row may come several times
    for a in range(0, A.shape[0], 4):
        b, c, d = min(a + 1, last), min(a + 2, last), min(a + 3, last)
        in_a, in_b, in_c, in_d = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
        for i in range(0, whole, LANES):
            factor = load(right, i, 0.0)
            in_a = fma(load(flat, a * n + i, 0.0), factor, in_a)
            in_b = fma(load(flat, b * n + i, 0.0), factor, in_b)
            in_c = fma(load(flat, c * n + i, 0.0), factor, in_c)
            in_d = fma(load(flat, d * n + i, 0.0), factor, in_d)
        if rest > 0:  # a load reaches into the next row, and `choose` removes that part
            factor = load(right, whole, 0.0)
            in_a = fma(choose(in_row, load(flat, a * n + whole, 0.0), 0.0), factor, in_a)
            in_b = fma(choose(in_row, load(flat, b * n + whole, 0.0), 0.0), factor, in_b)
            in_c = fma(choose(in_row, load(flat, c * n + whole, 0.0), 0.0), factor, in_c)
            in_d = fma(choose(in_row, load(flat, d * n + whole, 0.0), 0.0), factor, in_d)
        out[a], out[b], out[c], out[d] = fold(in_a), fold(in_b), fold(in_c), fold(in_d)
    return out


@allocating_kernel
def vecmat(p: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``p A``: the rows of ``A`` weighted by ``p`` and added in order."""
    flat, out = _flat(A), np.empty(A.shape[1])
    n = out.size
    for i in range(0, n, 2 * LANES):
        low, high = spread(0.0), spread(0.0)
        for row in range(p.size):  # loads may reach into the next row; that part is not stored
            low = fma(p[row], load(flat, row * n + i, 0.0), low)
            high = fma(p[row], load(flat, row * n + i + LANES, 0.0), high)
        store(out, i, low)
        store(out, i + LANES, high)
    return out


@allocating_kernel
def _flat(A: FloatArray) -> FloatArray:
    return np.ascontiguousarray(A).reshape(-1)
