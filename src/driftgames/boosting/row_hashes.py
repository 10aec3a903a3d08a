"""Hashes of rows by their contents: the same for any order and layout of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel, scalar
from driftgames.boosting.bins import Array

_NAN_BITS = 0x7FF8000000000000
_GOLDEN = 0x9E3779B97F4A7C15


def row_hashes(X: Any) -> npt.NDArray[np.uint64]:
    """Return a hash of each row of an array or a CSR matrix.

    It depends on the values that are not zero and on their columns alone: an array and a CSR
    matrix, float32 and float64 give the same hashes.

    >>> import scipy.sparse as sp
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> one, other, again = row_hashes(X)
    >>> one == again, one == other, (row_hashes(sp.csr_matrix(X)) == row_hashes(X)).all()
    (np.True_, np.False_, np.True_)
    """
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    if hasattr(X, "indptr"):
        _hash_stored(X.indptr, X.indices, X.data, hashes)
    else:
        _hash_dense(X, hashes)
    return hashes


@scalar
def _mix(x: Any) -> Any:
    """Return 64 bits that all depend on all bits of ``x``, as splitmix64 does."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@scalar
def _entry(x: Any, column: Any) -> Any:
    """Return what an entry adds to the hash of its row: nothing if it is zero."""
    bits = np.float64(x).view(np.uint64)
    if np.isnan(x):  # NaN has many patterns of bits
        bits = np.uint64(_NAN_BITS)
    mixed = _mix(bits + (np.uint64(column) + np.uint64(1)) * np.uint64(_GOLDEN))
    return mixed if x != 0 else np.uint64(0)


@kernel
def _hash_dense(X: Array, out: Array) -> None:
    """Write the hash of each row of an array."""
    for i in range(X.shape[0]):
        total = np.uint64(_GOLDEN)
        for j in range(X.shape[1]):
            total += _entry(X[i, j], j)
        out[i] = _mix(total)


@kernel
def _hash_stored(indptr: Array, indices: Array, data: Array, out: Array) -> None:
    """Write the hash of each row of a CSR matrix; the order of its entries does not matter."""
    for i in range(indptr.size - 1):
        total = np.uint64(_GOLDEN)
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            total += _entry(data[e], indices[e])
        out[i] = _mix(total)
