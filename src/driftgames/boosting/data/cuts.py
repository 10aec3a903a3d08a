"""Cut points: the thresholds that stumps may use, chosen once before the first round.

`CutSummary` chooses the same ones from rows that come in parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse import csr_matrix

from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array, Matrix, StoredRows, first_from
from driftgames.boosting.data.row_sample import SAMPLE, RowSample, hash_rows, last_of_equals
from driftgames.core.checks import as_read_only
from driftgames.core.typing import BoolArray, FloatArray, IntArray

_BLOCK = 1024  # rows that are turned into columns together; they stay in cache


@dataclass(frozen=True)
class Cuts:
    """The thresholds that stumps on each feature may use.

    Feature ``j`` has ``thresholds[starts[j]:starts[j + 1]]``, ascending. A value is in bin
    ``b`` when ``b`` of them lie below it; where ``missing[j]``, one more bin holds NaN.
    """

    thresholds: FloatArray
    starts: IntArray
    missing: BoolArray

    @classmethod
    def gather(cls, parts: list[FloatArray], missing: BoolArray) -> Cuts:
        """Return the cuts whose features have these thresholds."""
        starts = np.concatenate([[0], np.cumsum([part.size for part in parts], dtype=np.int64)])
        return cls(np.concatenate([*parts, np.empty(0)]), starts, missing)

    def of(self, feature: int) -> FloatArray:
        """Return the thresholds of one feature."""
        return self.thresholds[self.starts[feature] : self.starts[feature + 1]]

    def values(self, features: IntArray, at: IntArray) -> FloatArray:
        """Return the thresholds of cuts; the cut after the last of a feature is infinity.

        That cut asks whether a value is missing.
        """
        places = self.starts[features] + at
        beyond = places == self.starts[features + 1]
        return np.append(self.thresholds, np.inf)[np.where(beyond, -1, places)]

    @property
    def n_bins(self) -> IntArray:
        """The number of bins of each feature."""
        return np.diff(self.starts) + 1 + self.missing

    @property
    def offsets(self) -> IntArray:
        """Where the bins of each feature begin when all are numbered together, and their end."""
        return np.concatenate([[0], np.cumsum(self.n_bins)])


def cut_dense(
    X: Array, sample_weights: IntArray, max_bins: int, each: Callable[..., Any] = map
) -> Cuts:
    """Choose the cuts of an array: between any two values, if they are few, else by quantiles.

    A row of weight 2 counts as two rows. The order of the rows does not matter: beyond `SAMPLE`
    rows the quantiles are those of a `RowSample`, which is drawn by the contents of the rows.
    ``each`` applies a function to the columns.

    >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, np.nan]])
    >>> cut_dense(X, np.ones(3, dtype=np.int64), max_bins=255).thresholds
    array([1.5, 3. ])
    """
    n_features = X.shape[1]
    parts, many = [np.empty(0)] * n_features, np.arange(n_features)
    rows, weights = X, sample_weights
    if len(X) > SAMPLE:
        values, sizes = few_values(X, max_bins)
        many = np.flatnonzero(sizes > max_bins)
        for j in np.flatnonzero(sizes <= max_bins).tolist():
            parts[j] = midpoints(values[j, : sizes[j]])
        if many.size:
            rows, weights = _sample(X, sample_weights)
    weights = common_weight(weights)
    cut = each(lambda column: cut_column(column, weights, max_bins), _turned(rows, many))
    for j, part in zip(many.tolist(), cut, strict=True):
        parts[j] = part
    return Cuts.gather(parts, missing_columns(X))


def cut_sparse(X: csr_matrix, sample_weights: IntArray, max_bins: int) -> Cuts:
    """Do the same as `cut_dense` for a CSR matrix, whose other entries are zeros."""
    n_features = X.shape[1]
    low, high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    known, missing = np.zeros((2, n_features), dtype=np.int64)
    stored = StoredRows(X.indptr, X.indices, X.data)
    column_spans(stored, sample_weights, low, high, known, missing)
    zeros = sample_weights.sum() - known - missing
    # most columns of sparse data store one value only: these are cut all at once
    binary = (low == high) & (low != 0) & (zeros > 0)
    pairs = np.stack([np.minimum(low[binary], 0.0), np.maximum(high[binary], 0.0)])
    cuts = midpoints(pairs)[0]
    several = np.flatnonzero(low < high)
    if not several.size:
        return Cuts(cuts, np.concatenate([[0], np.cumsum(binary)]), missing > 0)
    parts = [np.empty(0)] * n_features
    for j, cut in zip(np.flatnonzero(binary), cuts, strict=True):
        parts[j] = np.array([cut])
    values, masses, spans = count_stored(X[:, several], sample_weights)
    between = midpoints(values)  # also across columns, where they are not used
    for j, (begin, end) in zip(several, spans.tolist(), strict=True):
        parts[j] = between[begin : end - 1]
    large = np.diff(spans)[:, 0] > max_bins
    many, spans = several[large], spans[large]
    if many.size and X.shape[0] > SAMPLE:
        rows, weights = _sample(X, sample_weights)
        values, masses, spans = count_stored(rows[:, many], weights)
    for j, (begin, end) in zip(many, spans.tolist(), strict=True):
        parts[j] = quantile_cuts(values[begin:end], masses[begin:end], max_bins)
    return Cuts.gather(parts, missing > 0)


def midpoints(values: FloatArray) -> FloatArray:
    """Return a threshold between each two neighbours of ascending values.

    It lies at or above the lower and below the upper one, however close they are. Zero has no sign:
    which of 0.0 and -0.0 stands for both would depend on the order of the examples.
    """
    low, high = values[:-1], values[1:]
    middle = low / 2 + high / 2  # halves first: the sum of two large values overflows
    return np.where((low <= middle) & (middle < high), middle, low) + 0.0


def quantile_cuts(values: FloatArray, masses: IntArray, max_bins: int) -> FloatArray:
    """Return thresholds that cut ascending values into at most ``max_bins`` bins of like mass.

    A value of more mass than a bin's share counts as one share. The other bins share the other
    values.

    >>> quantile_cuts(np.arange(5.0), np.array([5, 1, 1, 1, 1]), max_bins=3)
    array([0.5, 2.5])
    >>> quantile_cuts(np.arange(5.0), np.array([1, 1, 1, 1, 5]), max_bins=3)
    array([1.5, 3.5])
    """
    if values.size <= max_bins:
        return midpoints(values)
    values, masses = as_read_only(values.astype(np.float64, copy=False)), as_read_only(masses)
    cuts = np.empty(max_bins - 1)
    share = _share(masses, max_bins)
    n_cuts = cut_by_mass(values, masses, share, max_bins, np.empty(values.size), cuts)
    return cuts[:n_cuts]


def _share(masses: IntArray, max_bins: int) -> float:
    """Return the mass of a bin where a heavier value counts as one bin.

    >>> _share(np.array([5, 1, 1, 1, 1]), 3)
    2.0
    """
    masses = as_read_only(masses)
    share, n_heavy = int(masses.sum()) / max_bins, 0  # Python rounds the quotient of integers once
    while True:
        light, n_light = sum_light(masses, share)
        if n_light == masses.size - n_heavy:
            return share
        n_heavy = masses.size - n_light
        share = light / (max_bins - n_heavy)


def cut_column(column: Array, weights: IntArray, max_bins: int) -> FloatArray:
    """Return the cuts of one column; ``weights`` are those of `common_weight`."""
    values, masses = count_values(column, weights[:1])
    if values.size > max_bins and weights.size > 1:  # few values are cut whatever they weigh
        values, masses = count_values(column, weights)
    return quantile_cuts(values, masses, max_bins)


def common_weight(weights: IntArray) -> IntArray:
    """Return one weight for all rows, if they weigh alike, else the weight of each.

    >>> common_weight(np.array([2, 2, 2])).tolist(), common_weight(np.array([2, 1])).tolist()
    ([2], [2, 1])
    """
    return weights[:1] if (weights == weights[0]).all() else weights


def count_values(column: Array, weights: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct values of a column, ascending, and the mass at each, without NaN."""
    if weights.size == 1:  # sorting is much cheaper than finding the order
        values = np.sort(column)
    else:
        order = np.argsort(column)  # equal values in any order: their weights are added up
        values, weights = column[order], weights[order]
    values = values[: np.searchsorted(values, np.nan)].astype(np.float64)  # NaN is sorted last
    masses = np.empty(values.size, dtype=np.int64)
    n_values = join_equals(values, as_read_only(weights), masses)
    return values[:n_values], masses[:n_values]


def few_values(X: Array, max_bins: int) -> tuple[FloatArray, IntArray]:
    """Return the distinct values of the columns that have few, as `distinct_values`."""
    values = np.empty((X.shape[1], max_bins + 1))
    sizes = np.zeros(X.shape[1], dtype=np.int64)
    distinct_values(as_read_only(X), values, sizes)
    return values, sizes


def _turned(rows: Array, chosen: IntArray) -> Array:
    """Return the chosen columns, one behind the other in memory."""
    columns = np.empty((chosen.size, len(rows)), dtype=rows.dtype)
    for begin in range(0, len(rows), _BLOCK):
        columns[:, begin : begin + _BLOCK] = rows[begin : begin + _BLOCK].T[chosen]
    return columns


def count_stored(X: csr_matrix, weights: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Do the same as `count_values` for the columns of a CSR matrix, one behind the other.

    The last array returned tells where each column begins and ends.
    """
    columns = X.tocsc()
    masses = weights[columns.indices]
    stored = np.diff(np.append(0, np.cumsum(masses))[columns.indptr])
    column = np.repeat(np.arange(stored.size), np.diff(columns.indptr))
    # the zeros that are not stored are one more value of their column
    zeros = weights.sum() - stored
    known, with_zeros = ~np.isnan(columns.data), np.flatnonzero(zeros)
    column = np.append(column[known], with_zeros)
    values = np.append(columns.data[known], np.zeros(with_zeros.size)).astype(np.float64)
    masses = np.append(masses[known], zeros[with_zeros])
    order = np.lexsort((values, column))
    last = last_of_equals(column[order], values[order])
    below, order = np.cumsum(masses[order])[last], order[last]
    starts = np.searchsorted(column[order], np.arange(stored.size + 1))
    spans = np.column_stack([starts[:-1], starts[1:]])
    return values[order], np.diff(below, prepend=0), spans


def _sample(X: Matrix, sample_weights: IntArray) -> tuple[Matrix, IntArray]:
    """Return the rows from which quantiles are found, and their weights."""
    if X.shape[0] <= SAMPLE:
        return X, sample_weights
    hashes = hash_rows(X)
    for n_expected in (X.shape[0], None):  # all rows only if too few differ
        drawn = RowSample(SAMPLE, n_expected)
        drawn.add(X, sample_weights, hashes)
        if drawn.enough:
            break
    return drawn.rows, drawn.weights


def missing_columns(X: Array) -> BoolArray:
    """Return which columns of an array have missing values."""
    if not np.issubdtype(X.dtype, np.floating):
        return np.zeros(X.shape[1], dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum(axis=0)
    return np.asarray([not np.isfinite(s) and np.isnan(X[:, j]).any() for j, s in enumerate(total)])


@kernel
def distinct_values(X: Array, values: Array, sizes: Array) -> None:
    """Collect the distinct values of each column, ascending, as long as they are few.

    ``sizes[j]`` becomes the number of values, or the length of ``values[j]`` if there are more.
    NaN is left out.
    """
    most = values.shape[1]
    n_open = X.shape[1]  # the columns that have few values so far
    for i in range(X.shape[0]):
        if n_open == 0:
            break
        for j in range(X.shape[1]):
            size = sizes[j]
            x = np.float64(X[i, j])
            if size < most and not np.isnan(x):
                at = first_from(values[j], 0, size, x)
                if at == size or values[j, at] != x:
                    for b in range(size, at, -1):
                        values[j, b] = values[j, b - 1]
                    values[j, at] = x
                    sizes[j] = size + 1
                    n_open -= size + 1 == most


@kernel
def column_spans(
    rows: StoredRows, sample_weights: Array, low: Array, high: Array, known: Array, missing: Array
) -> None:
    """Find the least and largest value stored in each column of a CSR matrix, and their mass.

    ``missing`` adds up the sample weights of the stored NaN, and ``known`` those of the others.
    """
    starts, columns, values = rows.starts, rows.columns, rows.entries
    for i in range(starts.size - 1):
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = np.uint64(columns[e])
            x = np.float64(values[e])
            if np.isnan(x):
                missing[j] += sample_weights[i]
            else:
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
                known[j] += sample_weights[i]


@kernel
def join_equals(values: Array, weights: Array, masses: Array) -> int:
    """Keep one of each run of equal ``values``, which ascend, and write the mass of the run.

    ``weights`` has a weight for each value, or one for all. The number of runs is returned.
    """
    of_each = np.uint64(weights.size > 1)
    to = np.uint64(0)
    total, joined = np.int64(0), np.int64(0)
    for i in range(np.uint64(values.size)):
        x = values[i]
        total += weights[i * of_each]
        # written in any case and kept at the end of a run: the loop has no branch
        values[to] = x
        masses[to] = total - joined
        is_last = i + np.uint64(1) == np.uint64(values.size) or values[i + np.uint64(1)] != x
        joined = total if is_last else joined
        to += np.uint64(is_last)
    return int(to)


@kernel
def sum_light(masses: Array, share: float) -> tuple[int, int]:
    """Return the sum of the masses below ``share``, and how many they are."""
    total, n_light = 0, 0
    for k in range(masses.size):
        is_light = masses[k] < share
        total += masses[k] if is_light else 0
        n_light += is_light
    return total, n_light


@kernel
def cut_by_mass(
    values: Array, masses: Array, share: float, max_bins: int, below: Array, out: Array
) -> int:
    """Write thresholds that give bins of like mass, where a mass counts as ``share`` at most.

    Each bin takes its part of the mass that the bins before it left over. There are more values
    than bins. ``below`` is a scratch buffer of one float for each value. The number of thresholds
    is returned.
    """
    total = 0.0
    for k in range(masses.size):
        total += min(np.float64(masses[k]), share)
        below[k] = total  # the mass below the cut behind this value
    at, n_cuts, done = -1, 0, 0.0
    for left in range(max_bins, 1, -1):
        target = done + (total - done) / left
        after = first_from(below, 0, below.size, target)
        before = max(after - 1, 0)
        # the nearer one; the second if rounding alone tells them apart
        nearer = target - below[before] < (below[after] - target) * (1 - 1e-9)
        at = max(at + 1, before if nearer else after)
        if at >= below.size - 1:
            break
        done = below[at]
        low, high = values[at], values[at + 1]
        middle = low / 2 + high / 2  # as in `midpoints`
        out[n_cuts] = (middle if low <= middle < high else low) + 0.0
        n_cuts += 1
    return n_cuts


class CutSummary:
    """The values of the columns that have few, and a sample of rows for the others.

    The cuts are those that `cut_dense` and `cut_sparse` choose from all rows at once. If all parts
    have ``n_expected`` rows together, a part keeps few of them. See `RowSample`.

    Examples
    --------
    >>> part, rest = CutSummary(255), CutSummary(255)
    >>> part.add(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2, dtype=np.int64))
    >>> rest.add(sp.csr_matrix([[4.0, np.nan]]), np.ones(1, dtype=np.int64))
    >>> part.merge(rest)
    >>> part.cuts().thresholds
    array([1.5, 3. ])
    """

    def __init__(self, max_bins: int, n_expected: int | None = None) -> None:
        self.max_bins = max_bins
        self._sample = RowSample(SAMPLE, n_expected)
        self._missing: BoolArray = np.zeros(0, dtype=bool)
        # the distinct values of the columns, ascending, one column behind the other
        self._columns: IntArray = np.empty(0, dtype=np.int64)
        self._values: FloatArray = np.empty(0)

    def add(self, X: Matrix, sample_weights: IntArray, hashes: Array | None = None) -> None:
        """Add the rows of an array or of a CSR matrix; their hashes may be known already."""
        self._sample.add(X, sample_weights, hashes)
        if sp.issparse(X):
            self._take(*_stored_pairs(X))
        else:
            values, sizes = few_values(X, self.max_bins)
            columns = np.repeat(np.arange(X.shape[1]), sizes)
            filled = values[np.arange(values.shape[1]) < sizes[:, None]]
            self._take(missing_columns(X), columns, filled)

    def merge(self, other: CutSummary) -> None:
        """Add the rows of another summary."""
        self._sample.merge(other._sample)
        self._take(other._missing, other._columns, other._values)

    def _take(self, missing: BoolArray, columns: IntArray, values: FloatArray) -> None:
        """Add values of columns; of a column that has many, one more than the bins are kept."""
        self._missing = missing | self._missing if self._missing.size else missing
        columns = np.concatenate([self._columns, columns])
        values = np.concatenate([self._values, values + 0.0])  # -0.0 becomes 0.0
        order = np.lexsort((values, columns))
        order = order[last_of_equals(columns[order], values[order])]
        columns = columns[order]
        rank = np.arange(columns.size) - np.searchsorted(columns, columns)
        few = rank <= self.max_bins
        self._columns, self._values = columns[few], values[order[few]]

    @property
    def enough(self) -> bool:
        """Whether `cuts` are those of all rows; they are if ``n_expected`` was not given."""
        return self._sample.enough

    def cuts(self) -> Cuts:
        """Return the cuts for all rows added."""
        starts = np.searchsorted(self._columns, np.arange(self._missing.size + 1))
        between = midpoints(self._values)  # also across columns, where they are not used
        parts = [between[a : b - 1] for a, b in pairwise(starts.tolist())]
        many = np.flatnonzero(np.diff(starts) > self.max_bins)
        rows, weights = self._sample.rows, self._sample.weights
        if many.size and sp.issparse(rows):
            values, masses, spans = count_stored(rows[:, many], weights)
            for j, (a, b) in zip(many.tolist(), spans.tolist(), strict=True):
                parts[j] = quantile_cuts(values[a:b], masses[a:b], self.max_bins)
        elif many.size:
            weights = common_weight(weights)
            for j in many.tolist():
                parts[j] = cut_column(np.ascontiguousarray(rows[:, j]), weights, self.max_bins)
        return Cuts.gather(parts, self._missing)


def _stored_pairs(X: csr_matrix) -> tuple[BoolArray, IntArray, FloatArray]:
    """Return which columns of a CSR matrix have NaN, and their other values with the columns."""
    columns, values = X.indices.astype(np.int64), X.data.astype(np.float64)
    with_zeros = np.flatnonzero(np.bincount(columns, minlength=X.shape[1]) < X.shape[0])
    is_nan = np.isnan(values)
    missing = np.zeros(X.shape[1], dtype=bool)
    missing[columns[is_nan]] = True
    known = np.append(columns[~is_nan], with_zeros)
    return missing, known, np.append(values[~is_nan], np.zeros(with_zeros.size))
