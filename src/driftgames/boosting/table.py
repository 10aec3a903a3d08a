"""The training data of a stump booster: bins instead of values, rows sorted by class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels import binning, stump_boosting
from driftgames.boosting.binning import Cuts, IntArray, cut_dense, cut_sparse

Stump = tuple[int, int, int, int]
"""A stump on a table: feature, cut, left vote, missing vote; bins up to the cut go left."""

_BLOCK = 1024  # rows binned together; their values stay in cache
_SPARSE_BELOW = 0.5  # the share of entries outside their feature's commonest bin


@dataclass(frozen=True)
class DenseBins:
    """A bin of every feature for every row, by rows and by columns."""

    codes: npt.NDArray[np.uint8]
    columns: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class SparseBins:
    """The bins that are not their feature's commonest, by rows and by columns.

    Row ``i`` lists ``codes[starts[i]:starts[i + 1]]``, numbers of bins over all features, the
    commonest left out; feature ``j`` lists the rows
    ``listed[list_starts[j]:list_starts[j + 1]]``, ascending, and their bins.
    """

    starts: IntArray
    codes: npt.NDArray[Any]
    list_starts: IntArray
    listed: npt.NDArray[np.uint32]
    listed_bins: npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Table:
    """Rows of bins, class 0 before class 1.

    Parameters
    ----------
    cuts : Cuts
        What the bins mean.
    bins : DenseBins or SparseBins
        Where every row is.
    order : array
        Which example each row is.
    split : int
        The number of rows of class 0.
    mass : array of int64
        How much each row counts: 1, unless examples have weights.
    implicit : array of int64
        The bin of each feature that rows do not list, or -1.
    counts : array of int64, shape (2, n_bins)
        The mass of each class in each bin.
    """

    cuts: Cuts
    bins: DenseBins | SparseBins
    order: IntArray
    split: int
    mass: IntArray
    implicit: IntArray
    counts: IntArray

    @cached_property
    def offsets(self) -> IntArray:
        """Where the bins of each feature begin, numbered over all features, and their end."""
        return self.cuts.offsets

    @property
    def n_codes(self) -> int:
        """How many bins there are that rows may list."""
        return int(self.offsets[-1] - np.count_nonzero(self.implicit >= 0))

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return int(self.order.size)

    def add_weights(self, weights: IntArray, begin: int, end: int, sums: IntArray) -> None:
        """Add ``w_i y_i`` of rows ``begin`` to ``end`` to each bin.

        Behind the bins come the sum over these rows and ``sum_i w_i``.
        """
        split = min(max(self.split - begin, 0), end - begin)
        mine = weights[begin:end]
        if isinstance(self.bins, DenseBins):
            codes = self.bins.codes[begin:end]
            stump_boosting.weigh_dense(mine, split, self.offsets, codes, sums)
        else:
            starts = self.bins.starts[begin : end + 1]
            stump_boosting.weigh_sparse(mine, split, starts, self.bins.codes, sums)

    def best_stump(self, sums: IntArray) -> tuple[int, int, Stump]:
        """Return the largest ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best stump.

        Ties go to the lowest feature, then to the lowest threshold. A vote that makes no
        difference is +1 on the left; missing values then vote with the side of more mass.
        """
        mine, found = np.empty(256, dtype=np.int64), np.empty(5, dtype=np.int64)
        stump_boosting.best_stump(
            sums, self.offsets, self.implicit, self.cuts.missing, self.counts, mine, found
        )
        value, feature, cut, left_vote, missing_vote = found.tolist()
        return value, int(sums[-1]), (feature, cut, left_vote, missing_vote)

    def votes(self, stump: Stump) -> npt.NDArray[np.uint8]:
        """Return a stump's vote on every row: 1 for +1 and 0 for -1."""
        j = stump[0]
        by_bin, rise = np.empty(256, dtype=np.uint8), np.empty(2, dtype=np.bool_)
        stump_boosting.vote_by_bin(
            stump, self.offsets, self.cuts.missing, self.counts, by_bin, rise
        )
        if isinstance(self.bins, DenseBins):
            return np.asarray(by_bin[self.bins.columns[j]])
        votes = np.full(self.n_rows, by_bin[self.implicit[j]])
        mine = slice(*self.bins.list_starts[j : j + 2])
        votes[self.bins.listed[mine]] = by_bin[self.bins.listed_bins[mine]]
        return votes


def make_table(X: Any, positive: npt.NDArray[np.bool_], mass: IntArray, max_bins: int) -> Table:
    """Bin ``X``, an array or a CSR matrix, whose rows ``positive`` are of class 1."""
    if hasattr(X, "indptr"):
        if not X.has_canonical_format:  # what is stored twice is the sum of both
            X = X.copy()
            X.sum_duplicates()
        return _from_stored(X, positive, mass, cut_sparse(X, mass, max_bins))
    return _from_dense(X, positive, mass, cut_dense(X, mass, max_bins))


def _from_dense(
    X: npt.NDArray[Any], positive: npt.NDArray[np.bool_], mass: IntArray, cuts: Cuts
) -> Table:
    order = np.argsort(positive, kind="stable")
    split = int(np.count_nonzero(~positive))
    columns = np.empty(X.shape[::-1], dtype=np.uint8)
    room = np.empty(_BLOCK), np.empty(_BLOCK, dtype=np.uint32)
    missing_bins = (cuts.n_bins - 1).astype(np.uint8)
    binning.bin_dense(X, order, _padded(cuts), missing_bins, columns, *room)
    mass = mass[order]
    offsets = cuts.offsets
    counts = np.zeros((2, offsets[-1]), dtype=np.int64)
    binning.count_bins(columns, split, mass, offsets, counts)
    rows = np.ascontiguousarray(columns.T)

    commonest = _commonest(counts, offsets)
    inside = int(counts.sum(axis=0)[offsets[:-1] + commonest].sum())
    if inside <= (1 - _SPARSE_BELOW) * mass.sum() * X.shape[1]:
        implicit = np.full(X.shape[1], -1, dtype=np.int64)
        return Table(cuts, DenseBins(rows, columns), order, split, mass, implicit, counts)
    del columns
    sizes = np.empty(order.size, dtype=np.int64)
    binning.measure_dense(rows, commonest, sizes)
    again = _by_class_and_size(positive[order], sizes)
    bins = _sparse_bins(
        sizes[again],
        offsets,
        commonest,
        lambda codes: binning.list_dense(rows, commonest, offsets, again, codes),
    )
    return Table(cuts, bins, order[again], split, mass[again], commonest, counts)


def _from_stored(X: Any, positive: npt.NDArray[np.bool_], mass: IntArray, cuts: Cuts) -> Table:
    offsets = cuts.offsets
    counts = np.zeros((2, offsets[-1]), dtype=np.int64)
    stored = np.empty(X.nnz, dtype=_code_type(offsets))
    binning.code_stored(
        X.indptr,
        X.indices,
        X.data,
        cuts.thresholds,
        cuts.starts,
        cuts.n_bins - 1,
        offsets,
        positive,
        mass,
        stored,
        counts,
    )
    below = np.concatenate([[0], np.cumsum(cuts.thresholds < 0)])
    at_zero = offsets[:-1] + np.diff(below[cuts.starts])
    masses = np.array([[mass[~positive].sum()], [mass[positive].sum()]])
    counts[:, at_zero] += masses - np.add.reduceat(counts, offsets[:-1], axis=1)
    commonest = _commonest(counts, offsets)
    implicit = offsets[:-1] + commonest

    sizes = np.empty(X.shape[0], dtype=np.int64)
    binning.measure_stored(X.indptr, X.indices, stored, implicit, at_zero, sizes)
    order = _by_class_and_size(positive, sizes)
    bins = _sparse_bins(
        sizes[order],
        offsets,
        commonest,
        lambda codes: binning.list_stored(
            X.indptr,
            X.indices,
            stored,
            implicit,
            at_zero,
            order,
            np.flatnonzero(implicit != at_zero),
            np.full(implicit.size, -1),
            codes,
        ),
    )
    split = int(np.count_nonzero(~positive))
    return Table(cuts, bins, order, split, mass[order], commonest, counts)


def _sparse_bins(
    sizes: IntArray,
    offsets: IntArray,
    implicit: IntArray,
    write: Callable[[npt.NDArray[Any]], None],
) -> SparseBins:
    """Lay out rows that list so many codes each, which ``write`` writes."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    room = np.empty(starts[-1] + 1, dtype=_code_type(offsets))
    write(room)
    codes = room[:-1]
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
    binning.list_features(
        starts, codes, feature_of, bin_of, list_starts[:-1].copy(), listed, listed_bins
    )
    return SparseBins(starts, codes, list_starts, listed, listed_bins)


def _by_class_and_size(positive: npt.NDArray[np.bool_], sizes: IntArray) -> IntArray:
    # rows of one length stand together: the loop over a row is then foreseen by the processor
    key = np.minimum(sizes, 2**15 - 1).astype(np.uint16) + (positive.astype(np.uint16) << 15)
    return np.argsort(key, kind="stable")


def _commonest(counts: IntArray, offsets: IntArray) -> IntArray:
    """Return the bin of each feature that holds most mass, the first of equals."""
    both = counts.sum(axis=0)
    most = np.repeat(np.maximum.reduceat(both, offsets[:-1]), np.diff(offsets))
    first = np.flatnonzero(both == most)
    return first[np.searchsorted(first, offsets[:-1])] - offsets[:-1]


def _padded(cuts: Cuts) -> npt.NDArray[np.float64]:
    sizes = np.diff(cuts.starts)
    width = 1
    while width < sizes.max(initial=0):
        width = 2 * width + 1
    padded = np.full((sizes.size, width), np.inf)
    padded[np.arange(width) < sizes[:, None]] = cuts.thresholds
    return padded


def _code_type(offsets: IntArray) -> type[np.unsignedinteger[Any]]:
    return np.uint16 if offsets[-1] <= 2**16 else np.uint32
