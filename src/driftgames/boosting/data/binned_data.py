"""Binned rows: bytes instead of values, rows sorted by class; from all rows or from parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csr_matrix

from driftgames.boosting.data import bins as kernels
from driftgames.boosting.data.bins import (
    Array,
    BitArray,
    DenseBins,
    FeatureBins,
    Matrix,
    SparseBins,
    StoredRows,
)
from driftgames.boosting.data.cuts import Cuts, cut_dense, cut_sparse
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.core.caching import cached_property
from driftgames.core.checks import as_read_only
from driftgames.core.typing import BoolArray, IntArray

T = TypeVar("T")

_PLACES_PER_CUT = 4
_BLOCK = 1024  # rows binned together; their values stay in cache
_THREADED_FROM = 200_000  # entries: some 2 ms of work; to hand it over takes up to 0.3 ms
_SPARSE_BELOW = 0.5  # the share of entries outside their feature's commonest bin


@dataclass(frozen=True, eq=False)
class BinnedData:
    """Rows of bins, class 0 before class 1, which all fits share and none changes."""

    cuts: Cuts
    bins: DenseBins | SparseBins
    order: IntArray | None  # the number of the example in each row; None if they came in parts
    split: int  # the number of rows of class 0
    sample_weights: IntArray
    implicit: IntArray  # the bin of each feature that rows do not list, or -1
    counts: IntArray  # the mass of each class in each bin, of shape (2, n_bins)
    integer_weights: bool = True
    monotonic: IntArray | None = None  # the sign of the vote's step on each feature, 0 for any

    @cached_property
    def offsets(self) -> IntArray:
        """Where the bins of each feature begin, numbered over all features, and their end."""
        return self.cuts.offsets

    @cached_property
    def feature_bins(self) -> FeatureBins:
        """What the loops know of the bins of each feature."""
        free = np.zeros(self.implicit.size, dtype=np.int64)
        monotonic = free if self.monotonic is None else self.monotonic
        return FeatureBins(self.offsets, self.implicit, self.cuts.missing, monotonic)

    @cached_property
    def n_codes(self) -> int:
        """How many bins there are that rows may list."""
        return int(self.offsets[-1] - np.count_nonzero(self.implicit >= 0))

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return int(self.sample_weights.size)

    def take(self, examples: IntArray) -> BinnedData:
        """Return some of the examples, by their numbers; they are then numbered in this order."""
        order = np.arange(self.n_rows) if self.order is None else self.order
        number = np.full(self.n_rows, -1)
        number[examples] = np.arange(examples.size)
        rows = np.flatnonzero(number[order] >= 0)
        bins: DenseBins | SparseBins
        if isinstance(self.bins, DenseBins):
            columns = np.ascontiguousarray(self.bins.columns[:, rows])
            bins = DenseBins(self.bins.codes[rows], columns)
        else:
            starts, codes = self.bins.starts, self.bins.codes
            sizes = np.diff(starts)[rows]
            begins = np.repeat(starts[rows] - (np.cumsum(sizes) - sizes), sizes)
            taken = codes[np.arange(begins.size) + begins]

            def write(out: Array) -> None:
                out[:-1] = taken

            bins = _sparse_bins(sizes, self.offsets, self.implicit, write)
        return replace(  # the counts stay: they only tell which rows are cheaper to move
            self,
            bins=bins,
            order=number[order][rows],
            split=int(np.count_nonzero(rows < self.split)),
            sample_weights=self.sample_weights[rows],
        )


def run_parts(task: Callable[[int], T], pool: Executor | None, n_parts: int) -> list[T]:
    """Run a task for every part of the work: the first one here, the others in the pool."""
    if pool is None:
        return list(map(task, range(n_parts)))
    others = [pool.submit(task, p) for p in range(1, n_parts)]
    return [task(0), *(other.result() for other in others)]


def bin_examples(
    X: Matrix,
    positive: BoolArray,
    sample_weights: IntArray,
    max_bins: int,
    *,
    integer_weights: bool = True,
    monotonic: IntArray | None = None,
    pool: Executor | None = None,
    n_parts: int = 1,
) -> BinnedData:
    """Bin ``X``, an array or a CSR matrix, whose rows ``positive`` are of class 1.

    ``integer_weights`` and ``monotonic`` are those of `BinnedData`.
    """
    if hasattr(X, "indptr"):
        if not X.has_canonical_format:  # an entry that is stored twice is the sum of both
            X = X.copy()
            X.sum_duplicates()
        cuts = cut_sparse(X, sample_weights, max_bins)
        counts = np.zeros((2, cuts.offsets[-1]), dtype=np.int64)
        stored = code_stored(X, positive, sample_weights, cuts, counts)
        rows = StoredRows(X.indptr, X.indices, stored)
        layout = lay_out_stored(rows, positive, sample_weights, cuts, counts)
        return BinnedData(cuts, *layout, integer_weights, monotonic)
    if X.size < _THREADED_FROM:
        pool, n_parts = None, 1
    cuts = cut_dense(X, sample_weights, max_bins, map if pool is None else pool.map)

    def run(task: Callable[[int, int], None], size: int) -> None:
        ends = [size * p // n_parts for p in range(n_parts + 1)]
        run_parts(lambda p: task(ends[p], ends[p + 1]), pool, n_parts)

    order, split = np.argsort(positive, kind="stable"), int(np.count_nonzero(~positive))
    columns = bin_columns(X, order, cuts, run)
    layout = lay_out_dense(columns, order, split, sample_weights[order], cuts, run)
    return BinnedData(cuts, *layout, integer_weights, monotonic)


Layout = tuple[DenseBins | SparseBins, IntArray | None, int, IntArray, IntArray, IntArray]
"""Bins, order, split, sample weights, implicit bins and counts of a `BinnedData`."""


RunParts = Callable[[Callable[[int, int], None], int], None]
"""It splits a number of rows or columns into parts and runs a task on each, from begin to end."""


def _at_once(task: Callable[[int, int], None], size: int) -> None:
    task(0, size)


def index_cuts(cuts: Cuts) -> kernels.CutIndex:
    """Return the index of these cuts.

    >>> cuts = Cuts.gather([np.array([0.0, 1.0, 1.1, 8.0])], np.zeros(1, dtype=bool))
    >>> index = index_cuts(cuts)
    >>> index.guesses[0].tolist()
    [0, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    >>> int(index.first_steps[0])  # two cuts are at place 2
    2
    """
    sizes = np.diff(cuts.starts)
    most = int(sizes.max(initial=1))
    padded = np.full((sizes.size, 2 * most), np.inf)
    padded[np.arange(2 * most) < sizes[:, None]] = cuts.thresholds
    index = kernels.CutIndex(
        padded,
        np.zeros(sizes.size),
        np.zeros(sizes.size),
        np.zeros((sizes.size, _PLACES_PER_CUT * most), dtype=np.uint8),
        np.zeros(sizes.size, dtype=np.int64),
        (cuts.n_bins - 1).astype(np.uint8),
    )
    kernels.fill_index(index, sizes)
    return index


def bin_columns(X: Array, order: IntArray, cuts: Cuts, run: RunParts = _at_once) -> BitArray:
    """Return the bin of every feature, one row of bytes for each, for the rows ``order``."""
    columns, X = np.empty(X.shape[::-1], dtype=np.uint8), as_read_only(X)
    index = index_cuts(cuts)

    def bin_rows(begin: int, end: int) -> None:
        block = kernels.BinScratch(np.empty(_BLOCK), np.empty(_BLOCK, dtype=np.uint32))
        kernels.bin_dense(X, order, index, begin, end, columns, block)

    run(bin_rows, order.size)
    return columns


def lay_out_dense(
    columns: BitArray,
    order: IntArray | None,
    split: int,
    weights: IntArray,
    cuts: Cuts,
    run: RunParts = _at_once,
) -> Layout:
    """Return the layout of rows whose bins are known, class 0 first: dense or sparse."""
    offsets = cuts.offsets
    counts = np.zeros((2, offsets[-1]), dtype=np.int64)
    rows = np.empty(columns.shape[::-1], dtype=np.uint8)

    def count(begin: int, end: int) -> None:
        own_offsets = offsets[begin : end + 1]
        kernels.count_bins(columns[begin:end], split, weights, own_offsets, counts)

    def turn(begin: int, end: int) -> None:
        rows[begin:end] = columns[:, begin:end].T

    run(count, len(columns))
    run(turn, len(rows))
    commonest = _commonest(counts, offsets)
    inside = int(counts.sum(axis=0)[offsets[:-1] + commonest].sum())
    if inside <= (1 - _SPARSE_BELOW) * weights.sum() * len(columns):
        implicit = np.full(len(columns), -1, dtype=np.int64)
        return DenseBins(rows, columns), order, split, weights, implicit, counts
    sizes = np.empty(weights.size, dtype=np.int64)
    kernels.measure_dense(rows, commonest, sizes)
    again = _by_class_and_size(np.arange(weights.size) >= split, sizes)
    bins = _sparse_bins(
        sizes[again],
        offsets,
        commonest,
        lambda codes: kernels.list_dense(rows, commonest, offsets, again, codes),
    )
    order = None if order is None else order[again]
    return bins, order, split, weights[again], commonest, counts


def code_stored(
    X: csr_matrix, positive: BoolArray, sample_weights: IntArray, cuts: Cuts, counts: IntArray
) -> Array:
    """Return the code of every stored entry of a CSR matrix; add its weight to ``counts``."""
    offsets = cuts.offsets
    stored = np.empty(X.nnz, dtype=_code_type(offsets))
    rows = StoredRows(X.indptr, X.indices, X.data)
    ranges = kernels.CutRanges(cuts.thresholds, cuts.starts, cuts.n_bins - 1, offsets)
    kernels.code_stored(rows, ranges, positive, sample_weights, stored, counts)
    return stored


def lay_out_stored(
    rows: StoredRows,
    positive: BoolArray,
    sample_weights: IntArray,
    cuts: Cuts,
    counts: IntArray,
) -> Layout:
    """Return the layout of rows whose stored entries have these codes; complete ``counts``."""
    offsets = cuts.offsets
    below = np.concatenate([[0], np.cumsum(cuts.thresholds < 0)])
    at_zero = offsets[:-1] + np.diff(below[cuts.starts])
    masses = np.array([[sample_weights[~positive].sum()], [sample_weights[positive].sum()]])
    counts[:, at_zero] += masses - np.add.reduceat(counts, offsets[:-1], axis=1)
    commonest = _commonest(counts, offsets)
    implicit = offsets[:-1] + commonest

    sizes = np.empty(positive.size, dtype=np.int64)
    kernels.measure_stored(rows, implicit, at_zero, sizes)
    order = _by_class_and_size(positive, sizes)
    bins = _sparse_bins(
        sizes[order],
        offsets,
        commonest,
        lambda codes: kernels.list_stored(
            rows,
            implicit,
            at_zero,
            order,
            np.flatnonzero(implicit != at_zero),
            np.full(implicit.size, -1),
            codes,
        ),
    )
    split = int(np.count_nonzero(~positive))
    return bins, order, split, sample_weights[order], commonest, counts


def _sparse_bins(
    sizes: IntArray,
    offsets: IntArray,
    implicit: IntArray,
    write: Callable[[Array], None],
) -> SparseBins:
    """Lay out rows of these ``sizes``; ``write`` writes the codes that they list."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    written = np.empty(starts[-1] + 1, dtype=_code_type(offsets))  # see `kernels.list_stored`
    write(written)
    codes = written[:-1]
    n_bins = np.diff(offsets)
    listed_ever = np.ones(offsets[-1], dtype=bool)
    listed_ever[offsets[:-1] + implicit] = False
    feature_of = np.repeat(np.arange(n_bins.size), n_bins)[listed_ever]
    bin_of = (np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_bins))[listed_ever]
    by_feature = np.zeros(n_bins.size, dtype=np.int64)
    np.add.at(by_feature, feature_of, np.bincount(codes, minlength=feature_of.size))
    list_starts = np.concatenate([[0], np.cumsum(by_feature)])
    listed = np.empty(codes.size, dtype=np.uint32)
    listed_bins = np.empty(codes.size, dtype=np.uint8)
    kernels.list_features(
        starts, codes, feature_of, bin_of, list_starts[:-1].copy(), listed, listed_bins
    )
    return SparseBins(starts, codes, list_starts, listed, listed_bins)


def _by_class_and_size(positive: BoolArray, sizes: IntArray) -> IntArray:
    # rows of one length stand together: the processor then predicts the loop over a row
    key = np.minimum(sizes, 2**15 - 1).astype(np.uint16) + (positive.astype(np.uint16) << 15)
    return np.argsort(key, kind="stable")


def _commonest(counts: IntArray, offsets: IntArray) -> IntArray:
    """Return the bin of each feature that holds most mass, the first of equals."""
    both = counts.sum(axis=0)
    most = np.repeat(np.maximum.reduceat(both, offsets[:-1]), np.diff(offsets))
    first = np.flatnonzero(both == most)
    return first[np.searchsorted(first, offsets[:-1])] - offsets[:-1]


def _code_type(offsets: IntArray) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if offsets[-1] <= 2**16 else np.uint32


class _Assembly:
    """Joins parts of the examples. The labels of two classes order the rows; others are kept."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        self._cuts, self._two = cuts, n_classes == 2
        self._labels: list[IntArray] = []

    @property
    def labels(self) -> IntArray | None:
        """The class of each example, in the order of the parts; None of two classes."""
        return None if self._two else np.concatenate(self._labels)

    def _take(self, labels: IntArray) -> BoolArray:
        """Keep the labels; return which examples are of class 1 of two."""
        if self._two:
            return np.asarray(labels == 1)
        self._labels.append(labels)
        return np.zeros(labels.size, dtype=bool)


class DenseAssembly(_Assembly):
    """Parts of an array, binned: one byte a cell, and another in the end."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        super().__init__(cuts, n_classes)
        self._columns: list[Array] = []
        self._weights: list[Array] = []
        self._orders: list[Array] = []
        self._splits: list[int] = []
        self._n_rows = 0

    def add(self, X: Array, labels: IntArray, sample_weights: IntArray) -> None:
        """Bin the examples of one part, whose classes have these numbers."""
        positive = self._take(labels)
        order = np.argsort(positive, kind="stable")
        self._columns.append(bin_columns(X, order, self._cuts))
        self._weights.append(sample_weights[order])
        self._orders.append((self._n_rows + order).astype(np.uint32))
        self._n_rows += order.size
        self._splits.append(int(np.count_nonzero(~positive)))

    def finish(
        self, *, integer_weights: bool = True, monotonic: IntArray | None = None
    ) -> BinnedData:
        """Return the training set; the arguments are those of `BinnedData`."""
        weights, columns = self._join(self._weights), self._join(self._columns)
        layout = lay_out_dense(
            columns, self._join(self._orders), sum(self._splits), weights, self._cuts
        )
        return BinnedData(self._cuts, *layout, integer_weights, monotonic)

    def _join(self, parts: list[Array]) -> Array:
        """Return the rows before the split of each part, then the others; forget the parts."""
        halves = [np.split(part, [k], axis=-1) for part, k in zip(parts, self._splits, strict=True)]
        parts.clear()
        return np.concatenate([each[c] for c in (0, 1) for each in halves], axis=-1)


class SparseAssembly(_Assembly):
    """Parts of a CSR matrix: the codes of their stored entries, laid out in the end."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        super().__init__(cuts, n_classes)
        self._counts = np.zeros((2, cuts.offsets[-1]), dtype=np.int64)
        self._parts: list[tuple[Array, Array, Array, BoolArray, IntArray]] = []

    def add(self, X: csr_matrix, labels: IntArray, sample_weights: IntArray) -> None:
        """Code the examples of one part."""
        positive = self._take(labels)
        stored = code_stored(X, positive, sample_weights, self._cuts, self._counts)
        indices = X.indices.astype(np.int32, copy=False)
        self._parts.append((np.diff(X.indptr), indices, stored, positive, sample_weights))

    def finish(
        self, *, integer_weights: bool = True, monotonic: IntArray | None = None
    ) -> BinnedData:
        """Return the training set; the arguments are those of `BinnedData`."""
        sizes, indices, stored, positive, weights = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        self._parts.clear()
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(
            np.int32 if indices.size < 2**31 else np.int64  # as SciPy has them
        )
        rows = StoredRows(indptr, indices, stored)
        layout = lay_out_stored(rows, positive, weights, self._cuts, self._counts)
        return BinnedData(self._cuts, *layout, integer_weights, monotonic)


def begin_assembly(X: Matrix, cuts: Cuts, n_classes: int) -> DenseAssembly | SparseAssembly:
    """Return the assembly of parts like ``X``."""
    return (SparseAssembly if sp.issparse(X) else DenseAssembly)(cuts, n_classes)


def assemble(
    parts: list[tuple[Matrix, IntArray, IntArray]],
    cuts: Cuts,
    n_classes: int,
    *,
    integer_weights: bool = True,
) -> list[tuple[BinnedData, IntArray | None]]:
    """Return a training set of the dense parts, and one of the sparse parts, if there are any.

    Beside each of them are the ``labels`` of its assembly.
    """
    sets = []
    for sparse in (False, True):
        alike = [part for part in parts if sp.issparse(part[0]) == sparse and part[1].size]
        if not alike:
            continue
        assembly = begin_assembly(alike[0][0], cuts, n_classes)
        for part in alike:
            assembly.add(*part)
        sets.append((assembly.finish(integer_weights=integer_weights), assembly.labels))
    return sets


def join(parts: Sequence[tuple[Matrix, Array, IntArray]]) -> tuple[Matrix, Array, IntArray] | None:
    """Return the rows, labels and weights of all parts; None if there is none."""
    if not parts:
        return None
    X, y, weights = zip(*parts, strict=True)
    return stack_rows(X), np.concatenate(y), np.concatenate(weights)
