"""Bins: what a booster sees of the training data, and the loops that bin rows and lay them out.

Rows are sorted by class, class 0 first. A row lists *codes*: the numbers of its bins among all bins
that any row lists. All counts are integers, so that no order of adding changes a bit.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from driftgames._kernels.jit import inner_scalar, kernel, scalar
from driftgames._kernels.structs import Struct
from driftgames.core.typing import FloatArray, IntArray

Array = npt.NDArray[Any]
"""What a kernel takes; its docstring names the type."""

Matrix = Array | csr_matrix
"""Examples, checked: an array or a CSR matrix. SciPy has no types: mypy takes it for Any."""

BitArray = npt.NDArray[np.uint8]
"""Votes: 1 for +1 and 0 for -1."""


@dataclass(frozen=True, eq=False)
class FeatureBins(Struct):
    """What the loops know of the bins of each feature; bins are numbered over all features."""

    offsets: IntArray
    """Where the bins of each feature begin, and their end."""
    implicit: IntArray
    """The bin of each feature that rows do not list, or -1."""
    missing: npt.NDArray[np.bool_]
    """Whether the last bin of a feature holds missing values."""
    monotonic: IntArray
    """The sign of the step that the vote may take on each feature, 0 for any."""


@dataclass(frozen=True, eq=False)
class DenseBins:
    """A bin of every feature for every row, by rows and by columns."""

    codes: BitArray
    columns: BitArray


@dataclass(frozen=True, eq=False)
class SparseBins:
    """The bins other than their feature's commonest, by rows and by columns.

    Row ``i`` lists ``codes[starts[i]:starts[i + 1]]``, numbers of bins over all features without
    the commonest ones. Feature ``j`` lists the rows ``listed[list_starts[j]:list_starts[j + 1]]``,
    ascending, and their bins.
    """

    starts: IntArray
    codes: Array
    list_starts: IntArray
    listed: npt.NDArray[np.uint32]
    listed_bins: BitArray


class StoredRows(NamedTuple):
    """The stored entries of a CSR matrix: their values, or the codes of their bins."""

    starts: Array
    """Where the entries of each row begin, and their end."""
    columns: Array
    entries: Array


class CutRanges(NamedTuple):
    """The thresholds of all features, one behind the other, and the bins that they make."""

    thresholds: FloatArray
    starts: IntArray
    """Where the thresholds of each feature begin, and their end."""
    missing: IntArray
    """The bin of the missing values of each feature."""
    offsets: IntArray
    """Where the bins of each feature begin, and their end."""


@inner_scalar
def first_from(values: Array, begin: int, end: int, x: float) -> int:
    """Return the first index from ``begin`` on whose value is not below ``x``, or ``end``."""
    left = end - begin
    while left > 0:
        half = (left + 1) >> 1
        begin += half if values[begin + half - 1] < x else 0
        left -= half
    return begin


class CutIndex(NamedTuple):
    r"""The cuts of each feature, and a first guess of the bin of a value.

    .. math:: \mathrm{place}(x) = \lfloor \mathrm{scale} (x - \mathrm{low}) \rfloor

    It is held within the table. It never falls where ``x`` rises, however its terms are rounded.
    So the cuts at lower places are below ``x``, those at higher places are above it, and only
    those at the same place are searched.
    """

    cuts: FloatArray
    """Each row ascends and is filled up with infinity, so that no search leaves it."""
    lows: FloatArray
    scales: FloatArray
    guesses: BitArray
    """How many cuts of a feature lie at lower places."""
    first_steps: IntArray
    """The first step of a binary search among the cuts at one place: a power of two, or zero."""
    missing: BitArray
    """The bin of missing values."""


@scalar
def place_of(x: float, low: float, scale: float, n_places: int) -> np.uint32:
    """Return the place of a value, and 0 for NaN: a term of it may be NaN or infinite too."""
    at = (x - low) * scale
    at = at if at > 0.0 else 0.0
    last = np.float64(n_places - 1)
    return np.uint32(np.int32(at if at < last else last))


@kernel
def fill_index(index: CutIndex, sizes: Array) -> None:
    """Write all fields but the cuts and the missing bins."""
    n_places = index.guesses.shape[1]
    for j in range(sizes.size):
        size = sizes[j]
        if size == 0:
            continue
        low = index.cuts[j, 0]
        scale = n_places / (index.cuts[j, size - 1] - low)
        index.lows[j], index.scales[j] = low, scale
        most, k = 0, 0
        for place in range(n_places):
            index.guesses[j, place] = begin = k
            while k < size and place_of(index.cuts[j, k], low, scale, n_places) == place:
                k += 1
            most = max(most, k - begin)
        step = 1
        while 2 * step <= most:
            step *= 2
        index.first_steps[j] = step


class BinScratch(NamedTuple):
    """Scratch buffers of `bin_dense`: the values and the bins of one feature in a block of rows."""

    values: FloatArray
    bins: npt.NDArray[np.uint32]


@kernel
def bin_dense(
    X: Array,
    order: Array,
    index: CutIndex,
    first: int,
    last: int,
    out: Array,
    block: BinScratch,
) -> None:
    """Write to ``out[j, i]`` the bin of feature ``j`` in row ``order[i]``, from first to last.

    The bin is the number of cuts below the value.
    """
    values, bins = block.values, block.bins
    for begin in range(first, last, values.size):
        size = min(values.size, last - begin)
        for j in range(X.shape[1]):
            cuts, guesses = index.cuts[j], index.guesses[j]
            low, scale = index.lows[j], index.scales[j]
            for i in range(size):
                x = np.float64(X[np.uint64(order[begin + i]), j])
                values[i] = x
                bins[i] = guesses[place_of(x, low, scale, guesses.size)]
            step = index.first_steps[j]
            while step > 0:  # one step for the whole block: the loop inside has no branch
                before = np.uint32(step - 1)
                for i in range(size):
                    bins[i] += np.uint32(step) * np.uint32(cuts[bins[i] + before] < values[i])
                step >>= 1
            for i in range(size):
                out[j, begin + i] = index.missing[j] if np.isnan(values[i]) else bins[i]


@kernel
def count_bins(
    columns: Array, split: int, sample_weights: Array, offsets: Array, out: Array
) -> None:
    """Add the sample weights of each class in each bin to ``out[c, b]``."""
    for j in range(columns.shape[0]):
        column = columns[j]
        lower = out[0, offsets[j] : offsets[j + 1]]
        upper = out[1, offsets[j] : offsets[j + 1]]
        for i in range(np.uint64(split)):
            lower[column[i]] += sample_weights[i]
        for i in range(np.uint64(split), np.uint64(column.size)):
            upper[column[i]] += sample_weights[i]


@kernel
def code_stored(
    rows: StoredRows,
    cuts: CutRanges,
    positive: Array,
    sample_weights: Array,
    codes: Array,
    counts: Array,
) -> None:
    """Write the code of every stored entry; add its row's weight to ``counts[class, code]``."""
    starts, columns, values = rows.starts, rows.columns, rows.entries
    thresholds, cut_starts = cuts.thresholds, cuts.starts
    for i in range(starts.size - 1):
        of_class = counts[1] if positive[i] else counts[0]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = np.uint64(columns[e])
            x = np.float64(values[e])
            begin, end = cut_starts[j], cut_starts[j + np.uint64(1)]
            at = cuts.missing[j] if np.isnan(x) else first_from(thresholds, begin, end, x) - begin
            code = np.uint64(cuts.offsets[j] + at)
            codes[e] = code
            of_class[code] += sample_weights[i]


@kernel
def measure_stored(rows: StoredRows, implicit: Array, at_zero: Array, out: Array) -> None:
    """Write how many codes each row will list, given the codes of its entries.

    ``implicit[j]`` is the code of the bin that rows do not list. ``at_zero[j]`` is the code of
    the entries that the matrix does not store.
    """
    always = 0
    for j in range(implicit.size):
        always += implicit[j] != at_zero[j]
    starts, columns, codes = rows.starts, rows.columns, rows.entries
    for i in range(starts.size - 1):
        size = always
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            column = np.uint64(columns[e])
            size += int(codes[e] != implicit[column]) - int(at_zero[column] != implicit[column])
        out[i] = size


@kernel
def list_stored(
    rows: StoredRows,
    implicit: Array,
    at_zero: Array,
    order: Array,
    others: Array,
    stored_in: Array,
    out: Array,
) -> None:
    """Write the codes that each row lists, row ``order[0]`` first.

    ``others`` are the columns whose zeros are listed. ``stored_in`` is a scratch buffer of one
    number for each column, all -1 at first. ``out`` has room for one code more. The implicit bins
    have no number among the listed bins: each bin behind one counts one less.
    """
    starts, columns, codes = rows.starts, rows.columns, rows.entries
    to = np.uint64(0)
    for r in range(order.size):
        i = order[r]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            column = np.uint64(columns[e])
            stored_in[column] = r
            # written in any case and kept if it is listed: the loop has no branch
            out[to] = codes[e] - column - np.uint64(codes[e] > implicit[column])
            to += np.uint64(codes[e] != implicit[column])
        for q in range(others.size):
            column = np.uint64(others[q])
            if stored_in[column] != r:
                out[to] = at_zero[column] - others[q] - (at_zero[column] > implicit[column])
                to += np.uint64(1)


@kernel
def measure_dense(rows: Array, implicit: Array, out: Array) -> None:
    """Do the same as `measure_stored` for rows of bins, where ``implicit`` are bins."""
    for i in range(rows.shape[0]):
        size = 0
        for j in range(rows.shape[1]):
            size += rows[i, j] != implicit[j]
        out[i] = size


@kernel
def list_dense(rows: Array, implicit: Array, offsets: Array, order: Array, out: Array) -> None:
    """Do the same as `list_stored` for rows of bins."""
    to = np.uint64(0)
    for r in range(order.size):
        row = rows[order[r]]
        for j in range(row.size):
            out[to] = offsets[j] - j + row[j] - (row[j] > implicit[j])
            to += np.uint64(row[j] != implicit[j])


@kernel
def list_features(
    starts: Array,
    codes: Array,
    feature_of: Array,
    bin_of: Array,
    free: Array,
    listed: Array,
    listed_bins: Array,
) -> None:
    """Write the rows that each feature lists, ascending, given the codes of every row.

    ``free[j]`` is where the list of feature ``j`` begins; it ends up where the list ends.
    """
    for i in range(starts.size - 1):
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            j = np.uint64(feature_of[codes[e]])
            to = np.uint64(free[j])
            listed[to] = i
            listed_bins[to] = bin_of[codes[e]]
            free[j] = to + np.uint64(1)
