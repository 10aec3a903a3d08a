"""Rows by their contents: hashes, samples and folds, the same for any order, layout and split.

Folds order the rows by pseudo-random keys. The key of a row is its hash, and each further copy of
the row has another one. So the copies are spread over folds as by chance: a held-out row is as
likely to have copies among the training rows as a new row is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from driftgames._kernels.jit import inner_scalar, kernel
from driftgames.boosting.data.bins import Array, Matrix
from driftgames.core.checks import as_read_only
from driftgames.core.typing import BoolArray, IntArray

SAMPLE = 200_000
"""The number of distinct rows from which the quantiles of a many-valued feature are found."""

_ALL = 2**64 - 1
_NAN_BITS = 0x7FF8000000000000
_GOLDEN = 0x9E3779B97F4A7C15

Bits = TypeVar("Bits", np.uint64, npt.NDArray[np.uint64])


class RowSample:
    """The distinct rows of the smallest hashes, with all their copies.

    A hash depends on the values that are not zero and on their columns alone. So the sample is the
    same for an array and a CSR matrix, for float32 and float64, and for any order of the rows. The
    sample of a whole is the merger of the samples of its parts.

    ``n_expected`` is the number of rows that all parts have together. Rows whose hashes are too
    large for the sample, if all rows differ, are left out at once then. `enough` tells whether that
    was right.

    Examples
    --------
    >>> X, weights = np.array([[1.0, 0.0], [2.0, 0.5], [1.0, 0.0]]), np.array([1, 1, 4])
    >>> part, rest = RowSample(size=1), RowSample(size=1)
    >>> part.add(X[:2], weights[:2])
    >>> rest.add(sp.csr_matrix(X[2:]), weights[2:])
    >>> part.merge(rest)
    >>> part.rows.toarray(), part.weights
    (array([[2. , 0.5]]), array([1]))
    """

    def __init__(self, size: int = SAMPLE, n_expected: int | None = None) -> None:
        self.size = size
        self._limit = _ALL
        if n_expected is not None:
            # at least `size` hashes are expected below it, with six standard deviations to spare
            share = (size + 6 * math.sqrt(size)) / max(n_expected, 1)
            self._limit = min(int(share * _ALL), _ALL)
        self._left_out = False
        self.rows: Any = None
        """The rows, an array or a CSR matrix; at most twice as many as ``size``, with copies."""
        self.weights: IntArray = np.empty(0, dtype=np.int64)
        """The mass of each row."""
        self._hashes = np.empty(0, dtype=np.uint64)

    @property
    def enough(self) -> bool:
        """Whether this is the sample; False if rows with copies made it too small."""
        return not self._left_out or np.unique(self._hashes).size >= self.size

    def add(self, rows: Matrix, weights: IntArray, hashes: Array | None = None) -> None:
        """Add an array or a CSR matrix, whose rows have these weights."""
        self._combine(rows, weights, hash_rows(rows) if hashes is None else hashes)

    def merge(self, other: RowSample) -> None:
        """Add the rows that another sample of the same size was drawn from."""
        if other.size != self.size:
            raise ValueError(f"samples must have one size; got {self.size} and {other.size}")
        self._left_out |= other._left_out
        if other.rows is not None:
            self._combine(other.rows, other.weights, other._hashes)

    def _combine(self, rows: Matrix, weights: IntArray, hashes: Array) -> None:
        if self.rows is not None and rows.shape[1] != self.rows.shape[1]:
            raise ValueError(f"rows must have {self.rows.shape[1]} columns; got {rows.shape[1]}")
        within = np.flatnonzero(hashes <= np.uint64(self._limit))
        self._left_out |= within.size < hashes.size
        ordered = np.sort(np.concatenate([self._hashes, hashes[within]]))
        limit = ordered[last_of_equals(ordered)][: self.size].max(initial=0)
        within = within[hashes[within] <= limit]
        rows, weights, hashes = rows[within], weights[within], hashes[within]
        if self.rows is not None:
            kept = self._hashes <= limit
            rows = stack_rows([self.rows[kept], rows])
            weights = np.concatenate([self.weights[kept], weights])
            hashes = np.concatenate([self._hashes[kept], hashes])
        if hashes.size > 2 * self.size:  # join the copies of each row
            order = np.argsort(hashes)
            last = last_of_equals(hashes[order])
            weights = np.diff(np.cumsum(weights[order])[last], prepend=0)
            rows, hashes = rows[order[last]], hashes[order[last]]
        self.rows, self.weights, self._hashes = rows, weights, hashes


def hash_rows(rows: Matrix) -> Array:
    """Return a hash of the contents of each row."""
    hashes = np.empty(rows.shape[0], dtype=np.uint64)
    if sp.issparse(rows):
        _hash_stored(rows.indptr, rows.indices, rows.data, hashes)
    else:
        _hash_dense(as_read_only(rows), hashes)
    return hashes


def mix_hashes(hashes: Array, number: int | Array) -> Array:
    """Return other hashes of the same rows, for each positive number others."""
    added = np.asarray(number, dtype=np.uint64) * np.uint64(_GOLDEN)  # modulo 2**64
    return np.asarray(_mix_bits(hashes ^ added))


def last_of_equals(*keys: Array) -> IntArray:
    """Return where entries differ from the next in any key, and the last entry of all."""
    differ = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(np.append(differ, True)[: keys[0].size])


def stack_rows(parts: Sequence[Matrix]) -> Matrix:
    """Return the rows of all parts: an array, or a CSR matrix if any part is sparse."""
    if any(map(sp.issparse, parts)):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate(parts)


def _mix_bits(x: Bits) -> Bits:
    """Return 64 bits that all depend on all bits of ``x``, as splitmix64 does."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


_mix = inner_scalar(_mix_bits)


@inner_scalar
def _entry(x: float, column: int) -> np.uint64:
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


def draw_keys(hashes: Array, y: Array, weights: Array | None = None) -> Array:
    """Return a pseudo-random key for each row, whatever the order of the rows is.

    ``hashes`` are those of `row_sample.hash_rows`. The copies of a row are numbered by their labels
    and weights. Copies that are equal in both may change places, and nothing changes.

    >>> draw_keys(np.array([7, 5, 7], np.uint64), np.array([0, 0, 1]))[:2]
    array([7, 5], dtype=uint64)
    """
    order = np.lexsort((np.ones(y.size) if weights is None else weights, y, hashes))
    ordered = hashes[order]
    first = np.ones(y.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    if first.all():
        return hashes
    at = np.arange(y.size)
    copies = at - np.maximum.accumulate(np.where(first, at, 0))
    # a multiple of 2**32: small numbers are those of repeats
    mixed = mix_hashes(ordered, copies.astype(np.uint64) << np.uint64(32))
    keys = np.empty_like(hashes)
    keys[order] = np.where(first, ordered, mixed)
    return keys


def rank_rows(hashes: Array, y: Array, weights: Array | None = None) -> IntArray:
    """Return a number for each row from which folds are made.

    The rows of each class are numbered in the order of their keys, one class behind the other.

    >>> rank_rows(np.array([7, 5, 6, 1], np.uint64), np.array([0, 0, 0, 1]))
    array([2, 0, 1, 3])
    """
    ranks = np.empty(y.size, dtype=np.int64)
    ranks[np.lexsort((draw_keys(hashes, y, weights), y))] = np.arange(y.size)
    return ranks


def hold_out(ranks: IntArray, share: float) -> BoolArray:
    """Return which rows are held out: a share of the ranks, evenly spread.

    >>> hold_out(np.arange(8), 0.25)
    array([False, False, False,  True, False, False, False,  True])
    """
    return np.asarray(np.floor((ranks + 1) * share) > np.floor(ranks * share))
