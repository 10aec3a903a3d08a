"""Loops that turn feature values into bins and lay the bins out for the boosters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import exact_kernel

Array = npt.NDArray[Any]


@exact_kernel
def distinct_values(X: Array, values: Array, sizes: Array) -> None:
    """Collect the distinct values of each column, ascending, as long as they are few.

    ``values[j]`` has room for one more value than is few; ``sizes[j]`` becomes their number,
    or that room where there are more. NaN is left out.
    """
    room = values.shape[1]
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            size = sizes[j]
            x = np.float64(X[i, j])
            if size < room and not np.isnan(x):
                at = 0
                stop = size
                while at < stop:
                    middle = (at + stop) // 2
                    if values[j, middle] < x:
                        at = middle + 1
                    else:
                        stop = middle
                if at == size or values[j, at] != x:
                    for b in range(size, at, -1):
                        values[j, b] = values[j, b - 1]
                    values[j, at] = x
                    sizes[j] = size + 1


@exact_kernel
def row_hashes(X: Array, out: Array) -> None:
    """Write a number drawn from the contents of each row, whatever the order of the rows."""
    for i in range(X.shape[0]):
        mixed = np.uint64(0x9E3779B97F4A7C15)
        for j in range(X.shape[1]):
            bits = np.float64(X[i, j]).view(np.uint64)
            mixed = (mixed ^ bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed ^= mixed >> np.uint64(32)
        out[i] = mixed


@exact_kernel
def bin_dense(
    X: Array, order: Array, cuts: Array, missing: Array, out: Array, values: Array, at: Array
) -> None:
    """Write to ``out[j, i]`` the bin of feature ``j`` in row ``order[i]``.

    ``cuts[j]`` ascends and is filled up with infinity to a power of two, less one; the bin is
    the number of cuts below the value. NaN goes to bin ``missing[j]``. ``values`` and ``at`` are
    room for a block of rows.
    """
    for begin in range(0, order.size, values.size):
        size = min(values.size, order.size - begin)
        for j in range(X.shape[1]):
            mine = cuts[j]
            for i in range(size):
                values[i] = X[np.uint64(order[begin + i]), j]
                at[i] = 0
            step = (mine.size + 1) >> 1
            while step > 0:  # one step for the whole block: the loop inside has no branch
                before = np.uint32(step - 1)
                for i in range(size):
                    at[i] += np.uint32(step) * np.uint32(mine[at[i] + before] < values[i])
                step >>= 1
            for i in range(size):
                out[j, begin + i] = missing[j] if np.isnan(values[i]) else at[i]


@exact_kernel
def count_bins(columns: Array, split: int, mass: Array, offsets: Array, out: Array) -> None:
    """Add the mass of each class in each bin to ``out[c, b]``."""
    for j in range(columns.shape[0]):
        column = columns[j]
        lower = out[0, offsets[j] : offsets[j + 1]]
        upper = out[1, offsets[j] : offsets[j + 1]]
        for i in range(np.uint64(split)):
            lower[column[i]] += mass[i]
        for i in range(np.uint64(split), np.uint64(column.size)):
            upper[column[i]] += mass[i]


@exact_kernel
def column_spans(
    indptr: Array,
    indices: Array,
    data: Array,
    mass: Array,
    low: Array,
    high: Array,
    known: Array,
    lost: Array,
) -> None:
    """Find the least and largest value stored in each column of a CSR matrix, and their mass.

    ``known`` adds up the mass of the rows whose entry is not NaN, ``lost`` of those whose is.
    """
    for i in range(indptr.size - 1):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[e])
            x = np.float64(data[e])
            if np.isnan(x):
                lost[j] += mass[i]
            else:
                low[j] = min(low[j], x)
                high[j] = max(high[j], x)
                known[j] += mass[i]


@exact_kernel
def code_stored(
    indptr: Array,
    indices: Array,
    data: Array,
    thresholds: Array,
    cut_starts: Array,
    missing_bin: Array,
    offsets: Array,
    positive: Array,
    mass: Array,
    codes: Array,
    counts: Array,
) -> None:
    """Write the code of every stored entry, and add its mass to ``counts[class, code]``."""
    for i in range(indptr.size - 1):
        mine = counts[1] if positive[i] else counts[0]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint64(indices[e])
            x = np.float64(data[e])
            at = cut_starts[j]
            if np.isnan(x):
                at += missing_bin[j]
            else:
                stop = cut_starts[j + np.uint64(1)]
                while at < stop:
                    middle = (at + stop) >> 1
                    if thresholds[middle] < x:
                        at = middle + 1
                    else:
                        stop = middle
            code = np.uint64(offsets[j] + at - cut_starts[j])
            codes[e] = code
            mine[code] += mass[i]


@exact_kernel
def measure_stored(
    indptr: Array, indices: Array, codes: Array, implicit: Array, at_zero: Array, out: Array
) -> None:
    """Write how many codes each row will list.

    ``implicit[j]`` and ``at_zero[j]`` are codes: that of the bin which is not listed, and that
    of the entries which are not stored.
    """
    always = 0
    for j in range(implicit.size):
        always += implicit[j] != at_zero[j]
    for i in range(indptr.size - 1):
        size = always
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column = np.uint64(indices[e])
            size += int(codes[e] != implicit[column]) - int(at_zero[column] != implicit[column])
        out[i] = size


@exact_kernel
def list_stored(
    indptr: Array,
    indices: Array,
    codes: Array,
    implicit: Array,
    at_zero: Array,
    order: Array,
    others: Array,
    stored_in: Array,
    out: Array,
) -> None:
    """Write the codes that each row lists, row ``order[0]`` first.

    ``others`` are the columns whose zeros are listed; ``stored_in`` is room for a number, at
    first -1, for each column, and ``out`` has room for one code more. The implicit bins have no
    number among those that are listed: each bin behind one counts one less.
    """
    to = np.uint64(0)
    for r in range(order.size):
        i = order[r]
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            column = np.uint64(indices[e])
            stored_in[column] = r
            # written in any case and kept if it is listed: no branch to foresee
            out[to] = codes[e] - column - np.uint64(codes[e] > implicit[column])
            to += np.uint64(codes[e] != implicit[column])
        for q in range(others.size):
            column = np.uint64(others[q])
            if stored_in[column] != r:
                out[to] = at_zero[column] - others[q] - (at_zero[column] > implicit[column])
                to += np.uint64(1)


@exact_kernel
def measure_dense(rows: Array, implicit: Array, out: Array) -> None:
    """Do as `measure_stored` for rows of bins, where ``implicit`` are bins."""
    for i in range(rows.shape[0]):
        size = 0
        for j in range(rows.shape[1]):
            size += rows[i, j] != implicit[j]
        out[i] = size


@exact_kernel
def list_dense(rows: Array, implicit: Array, offsets: Array, order: Array, out: Array) -> None:
    """Do as `list_stored` for rows of bins."""
    to = np.uint64(0)
    for r in range(order.size):
        row = rows[order[r]]
        for j in range(row.size):
            out[to] = offsets[j] - j + row[j] - (row[j] > implicit[j])
            to += np.uint64(row[j] != implicit[j])


@exact_kernel
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
