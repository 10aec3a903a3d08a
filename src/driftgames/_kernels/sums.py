"""Sums over chips, in the one order of `driftgames._kernels.lanes`.

These serve Python code and kernels alike. Vectors are contiguous float64. NumPy's own sums and
products (BLAS) choose their order by processor, so no promised result may come from them.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import fma, lesser
from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, fold, fold_lesser, load, spread, store
from driftgames.core.typing import FloatArray


@kernel
def total(x: FloatArray) -> float:
    """Return the sum of a vector.

    >>> total(np.arange(20.0))
    190.0
    """
    result = spread(0.0)
    for i in range(0, x.size, LANES):
        result += load(x, i, 0.0)
    return fold(result)


@kernel
def dot(x: FloatArray, y: FloatArray) -> float:
    """Return the inner product of two vectors, each product fused with its addition.

    >>> dot(np.arange(20.0), np.ones(20))
    190.0
    """
    result = spread(0.0)
    for i in range(0, x.size, LANES):
        result = fma(load(x, i, 0.0), load(y, i, 0.0), result)
    return fold(result)


@kernel
def lowest(x: FloatArray) -> float:
    """Return the smallest entry; infinity if there is none."""
    result = spread(np.inf)
    for i in range(0, x.size, LANES):
        result = lesser(load(x, i, np.inf), result)
    return fold_lesser(result)


@kernel
def row_dots(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the inner product of every row of ``A`` with the same row of ``B``."""
    left, right = np.ascontiguousarray(A), np.ascontiguousarray(B)
    out = np.empty(A.shape[0])
    for row in range(A.shape[0]):
        out[row] = dot(left[row], right[row])
    return out


@kernel
def matvec(A: FloatArray, x: FloatArray) -> FloatArray:
    """Return ``A x``: the inner product of every row with ``x``."""
    rows = np.ascontiguousarray(A)
    out = np.empty(A.shape[0])
    for row in range(A.shape[0]):
        out[row] = dot(rows[row], x)
    return out


@kernel
def vecmat(p: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``p A``: the rows of ``A`` weighted by ``p`` and added in order."""
    rows, out = np.ascontiguousarray(A), np.zeros(A.shape[1])
    for row in range(A.shape[0]):
        for i in range(0, out.size, LANES):
            store(out, i, fma(p[row], load(rows[row], i, 0.0), load(out, i, 0.0)))
    return out
