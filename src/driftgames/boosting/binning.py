"""Cut points: where a stump may ask, chosen once before the first round."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels import binning as kernels
from driftgames.core.typing import FloatArray

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


def cut_dense(X: npt.NDArray[Any], mass: IntArray, max_bins: int) -> Cuts:
    """Choose the cuts of an array: between any two values, if they are few, else by quantiles.

    A row of mass 2 is two rows. The order of the rows does not matter: the sample for quantiles
    is drawn by the contents of the rows.

    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, np.nan]])
    >>> cut_dense(X, np.ones(3, dtype=np.int64), max_bins=255).thresholds
    array([1.5, 3. ])
    """
    n_features = X.shape[1]
    values = np.empty((n_features, max_bins + 1))
    sizes = np.zeros(n_features, dtype=np.int64)
    kernels.distinct_values(X, values, sizes)
    many = np.flatnonzero(sizes > max_bins)
    parts = [midpoints(values[j, : sizes[j]]) for j in range(n_features)]
    if many.size:
        drawn = _sample(X)
        columns, masses = np.ascontiguousarray(X[drawn][:, many].T), mass[drawn]
        for j, column in zip(many.tolist(), columns, strict=True):
            parts[j] = quantile_cuts(*_count_values(column, masses), max_bins)
    return Cuts.gather(parts, _missing(X))


def cut_sparse(X: Any, mass: IntArray, max_bins: int) -> Cuts:
    """Do as `cut_dense` for a CSR matrix, where entries that are not stored are zeros."""
    n_features = X.shape[1]
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    known, lost = np.zeros((2, n_features), dtype=np.int64)
    kernels.column_spans(X.indptr, X.indices, X.data, mass, low, high, known, lost)
    zeros = mass.sum() - known - lost
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
    values, masses, starts = _count_stored(X[:, several].tocsc(), mass, zeros[several])
    between = midpoints(values)  # also across columns, where they are not used
    for j, (begin, end) in zip(several, pairwise(starts.tolist()), strict=True):
        if end - begin <= max_bins:
            parts[j] = between[begin : end - 1]
        else:
            parts[j] = quantile_cuts(values[begin:end], masses[begin:end], max_bins)
    return Cuts.gather(parts, lost > 0)


def midpoints(values: FloatArray) -> FloatArray:
    """Return a threshold between each two neighbours of ascending values.

    It lies at or above the lower and below the upper one, however close they are.
    """
    low, high = values[:-1], values[1:]
    middle = low / 2 + high / 2  # halves first: the sum of two large values overflows
    return np.where((low <= middle) & (middle < high), middle, low)


def quantile_cuts(values: FloatArray, masses: IntArray, max_bins: int) -> FloatArray:
    """Return thresholds that cut ascending values into at most ``max_bins`` bins of like mass.

    A value of more mass than a bin's share counts as one share, and the others are shared
    among the other bins.

    >>> quantile_cuts(np.arange(5.0), np.array([5, 1, 1, 1, 1]), max_bins=3)
    array([0.5, 2.5])
    >>> quantile_cuts(np.arange(5.0), np.array([1, 1, 1, 1, 5]), max_bins=3)
    array([1.5, 3.5])
    """
    if values.size <= max_bins:
        return midpoints(values)
    # how much lies below each cut, and at last all
    below = np.cumsum(np.minimum(masses, _share(masses, max_bins)))
    cuts: list[int] = []
    at, done = -1, 0.0
    for left in range(max_bins, 1, -1):
        target = done + (below[-1] - done) / left
        after = int(np.searchsorted(below, target))
        before = max(after - 1, 0)
        # the nearer one, and the second where rounding alone would tell them apart
        nearer = target - below[before] < (below[after] - target) * (1 - 1e-9)
        at = max(at + 1, before if nearer else after)
        if at >= below.size - 1:
            break
        cuts.append(at)
        done = float(below[at])
    return np.asarray(midpoints(np.stack([values[cuts], values[np.add(cuts, 1)]]))[0])


def _share(masses: IntArray, max_bins: int) -> float:
    """Return the mass of a bin if whatever has more counts as one.

    >>> _share(np.array([5, 1, 1, 1, 1]), 3)
    2.0
    """
    share, n_heavy = int(masses.sum()) / max_bins, 0
    while (light := masses[masses < share]).size < masses.size - n_heavy:
        n_heavy = masses.size - light.size
        share = int(light.sum()) / (max_bins - n_heavy)
    return share


def _count_values(column: npt.NDArray[Any], mass: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct values of a column, ascending, and the mass at each; NaN is left out."""
    known = column.size - np.count_nonzero(np.isnan(column))
    if (mass == mass[0]).all():  # to sort is much cheaper than to find the order
        ordered = np.sort(column)[:known]
        below = mass[0] * np.arange(1, known + 1)
    else:
        order = np.argsort(column, kind="stable")[:known]
        ordered = column[order]
        below = np.cumsum(mass[order])
    last = _last_of_equals(ordered)
    return ordered[last].astype(np.float64), np.diff(below[last], prepend=0)


def _count_stored(
    columns: Any, mass: IntArray, zeros: IntArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Do as `_count_values` for the columns of a CSC matrix, one behind the other.

    Entries that are not stored have the mass ``zeros[j]``. Returned last is where each column
    begins, and the end.
    """
    column = np.repeat(np.arange(zeros.size), np.diff(columns.indptr))
    known, with_zeros = ~np.isnan(columns.data), np.flatnonzero(zeros)
    # whatever is not stored is one more value of its column
    column = np.append(column[known], with_zeros)
    values = np.append(columns.data[known], np.zeros(with_zeros.size)).astype(np.float64)
    masses = np.append(mass[columns.indices[known]], zeros[with_zeros])
    order = np.lexsort((values, column))
    last = _last_of_equals(column[order], values[order])
    below, order = np.cumsum(masses[order])[last], order[last]
    starts = np.searchsorted(column[order], np.arange(zeros.size + 1))
    return values[order], np.diff(below, prepend=0), starts


def _last_of_equals(*keys: npt.NDArray[Any]) -> IntArray:
    """Return where entries differ from the next in any key, and the last entry of all."""
    differ = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(np.append(differ, True)[: keys[0].size])


def _sample(X: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | slice:
    """Return which rows the quantiles are drawn from; of equal rows all or none."""
    if X.shape[0] <= SAMPLE:
        return slice(None)
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    kernels.row_hashes(X, hashes)
    ordered = np.sort(hashes)
    distinct = ordered[_last_of_equals(ordered)]
    return np.asarray(hashes <= distinct[min(SAMPLE, distinct.size - 1)])


def _missing(X: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if not np.issubdtype(X.dtype, np.floating):
        return np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum(axis=0)
    return np.asarray([not np.isfinite(s) and np.isnan(X[:, j]).any() for j, s in enumerate(total)])
