"""Cut points: where a stump may ask, chosen once before the first round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels import binning as kernels
from driftgames._support.checks import FloatArray

MOST_BINS = 255
"""Bins of known values at most, so that one byte holds them and one more for missing values."""

SAMPLE = 200_000
"""Rows that the cut points of a many-valued feature are drawn from, at least."""

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cuts:
    """The thresholds that stumps on each feature may use.

    Feature ``j`` has ``thresholds[starts[j]:starts[j + 1]]``, ascending. A value is in bin
    ``b`` when ``b`` of them lie below it; where ``missing[j]``, one more bin holds NaN.
    """

    thresholds: FloatArray
    starts: IntArray
    missing: npt.NDArray[np.bool_]

    @classmethod
    def gather(cls, parts: list[FloatArray], missing: npt.NDArray[np.bool_]) -> Cuts:
        """Return the cuts whose features have these thresholds."""
        starts = np.concatenate([[0], np.cumsum([part.size for part in parts], dtype=np.int64)])
        return cls(np.concatenate([*parts, np.empty(0)]), starts, missing)

    def of(self, feature: int) -> FloatArray:
        """Return the thresholds of one feature."""
        return self.thresholds[self.starts[feature] : self.starts[feature + 1]]

    def index(self, feature: int, threshold: float) -> int:
        """Return which cut of ``feature`` this threshold is; infinity comes after the last.

        Raises `ValueError` for one that is none: it was chosen on other data.
        """
        mine = self.of(feature)
        at = int(np.searchsorted(mine, threshold))
        known = mine[at] == threshold if at < mine.size else np.isposinf(threshold)
        if not known:
            raise ValueError(
                f"the threshold {threshold!r} of feature {feature} does not separate this data: "
                "a fit goes on (warm_start) only with the data and max_bins it was begun with"
            )
        return at

    @property
    def n_bins(self) -> IntArray:
        """The number of bins of each feature."""
        return np.diff(self.starts) + 1 + self.missing

    @property
    def offsets(self) -> IntArray:
        """Where the bins of each feature begin when all are numbered together, and their end."""
        return np.concatenate([[0], np.cumsum(self.n_bins)])


def cut_dense(X: npt.NDArray[Any], max_bins: int) -> Cuts:
    """Choose the cuts of an array: between any two values, if they are few, else by quantiles.

    The order of the rows does not matter: the sample for quantiles is drawn by the contents of
    the rows.

    >>> cut_dense(np.array([[1.0, 0.0], [2.0, 0.0], [4.0, np.nan]]), max_bins=255).thresholds
    array([1.5, 3. ])
    """
    n_features = X.shape[1]
    values = np.empty((n_features, max_bins + 1))
    sizes = np.zeros(n_features, dtype=np.int64)
    kernels.distinct_values(X, values, sizes)
    many = np.flatnonzero(sizes > max_bins)
    missing = _missing(X)
    parts = [midpoints(values[j, : sizes[j]]) for j in range(n_features)]
    sample = np.ascontiguousarray(_sample(X)[:, many].T) if many.size else ()
    for j, column in zip(many.tolist(), sample, strict=True):
        ordered = np.sort(column[~np.isnan(column)] if missing[j] else column)
        parts[j] = quantile_cuts(ordered, max_bins)
    return Cuts.gather(parts, missing)


def cut_sparse(X: Any, max_bins: int) -> Cuts:
    """Choose the cuts of a CSR matrix, where entries that are not stored are zeros."""
    n_rows, n_features = X.shape
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    known, lost = np.zeros((2, n_features), dtype=np.int64)
    kernels.column_spans(X.indptr, X.indices, X.data, low, high, known, lost)
    zeros = n_rows - known - lost
    # most columns of sparse data store one value only: those are cut all at once
    binary = (low == high) & (low != 0) & (zeros > 0)
    pairs = np.stack([np.minimum(low[binary], 0.0), np.maximum(high[binary], 0.0)])
    cuts = midpoints(pairs)[0]
    several = np.flatnonzero(low < high)
    if not several.size:
        return Cuts(cuts, np.concatenate([[0], np.cumsum(binary)]), lost > 0)
    parts = [np.empty(0)] * n_features
    for j, cut in zip(np.flatnonzero(binary), cuts, strict=True):
        parts[j] = np.array([cut])
    columns = X[:, several].tocsc()
    for at, j in enumerate(several):
        column = columns.data[columns.indptr[at] : columns.indptr[at + 1]].astype(np.float64)
        column = np.sort(column[~np.isnan(column)])
        column = np.insert(column, np.searchsorted(column, 0.0), np.zeros(zeros[j]))
        parts[j] = quantile_cuts(column, max_bins)
    return Cuts.gather(parts, lost > 0)


def midpoints(values: FloatArray) -> FloatArray:
    """Return a threshold between each two neighbours of ascending values.

    It lies at or above the lower and below the upper one, however close they are.
    """
    low, high = values[:-1], values[1:]
    middle = low / 2 + high / 2  # halves first: the sum of two large values overflows
    return np.where((low <= middle) & (middle < high), middle, low)


def quantile_cuts(ordered: npt.NDArray[Any], max_bins: int) -> FloatArray:
    """Return thresholds that cut ordered values into at most ``max_bins`` bins of like size.

    Equal values are never parted. A value more frequent than a bin's share fills a bin, and
    the bins after it share what is left.

    >>> quantile_cuts(np.array([0.0, 0, 0, 0, 0, 1, 2, 3, 4]), max_bins=3)
    array([0.5, 2.5])
    """
    below = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1  # how many lie below each cut
    if below.size < max_bins:
        return _between(ordered, below)
    cuts: list[int] = []
    at, done = -1, 0
    for left in range(max_bins, 1, -1):
        target = done + (ordered.size - done) / left
        at = max(at + 1, int(np.searchsorted(below, target)))
        if at >= below.size:
            break
        cuts.append(at)
        done = int(below[at])
    return _between(ordered, below[cuts])


def _between(ordered: npt.NDArray[Any], below: IntArray) -> FloatArray:
    pairs = np.stack([ordered[below - 1], ordered[below]]).astype(np.float64)
    return np.asarray(midpoints(pairs)[0])


def _sample(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if X.shape[0] <= SAMPLE:
        return X
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    kernels.row_hashes(X, hashes)
    return np.asarray(X[hashes <= np.partition(hashes, SAMPLE)[SAMPLE]])


def _missing(X: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if not np.issubdtype(X.dtype, np.floating):
        return np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum(axis=0)
    return np.asarray([not np.isfinite(s) and np.isnan(X[:, j]).any() for j, s in enumerate(total)])
