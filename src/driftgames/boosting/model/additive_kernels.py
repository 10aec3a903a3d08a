"""Sums of step functions: one table per feature, read once per value.

Feature ``features[f]`` owns the sorted ``thresholds[offsets[f]:offsets[f + 1]]`` and one value
more, ``values[offsets[f] + f:offsets[f + 1] + f + 1]``; the value at ``x`` is the one whose
index is the number of thresholds below ``x``. All values are multiples of one power of two and
small enough for their sums to be exact, so no order of adding changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import size as magnitude
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.lanes import LANES, any_of, first, load
from driftgames.boosting.data.bins import first_from
from driftgames.core.typing import FloatArray, IntArray

BLOCK = 512
"""Rows that `add_dense` takes at a time: their columns stay in the nearest cache."""

_FEW = 24  # the most thresholds for which comparing with all of them beats a search


@scalar
def has_infinity(flat: npt.NDArray[Any], begin: int, end: int) -> bool:
    """Return whether these entries hold an infinity; some entries after them may count too."""
    infinite = first(0)
    for i in range(begin, end, LANES):
        infinite = infinite | (magnitude(load(flat, i, 0.0)) == np.inf)
    return bool(any_of(infinite))


@kernel
def add_dense(
    rows: npt.NDArray[Any],
    features: IntArray,
    offsets: IntArray,
    thresholds: FloatArray,
    values: FloatArray,
    missing: FloatArray,
    column: FloatArray,
    vote: FloatArray,
    place: IntArray,
    out: FloatArray,
    flat: npt.NDArray[Any],
) -> bool:
    """Write the sum over features of each row; the three scratch arrays hold a `BLOCK`.

    Return whether ``flat`` holds no infinity; it has all entries of the rows, or none. The search
    costs little here, because it fetches a block into the cache.
    """
    infinite, width = False, rows.shape[1]
    for start in range(0, rows.shape[0], BLOCK):
        size = min(BLOCK, rows.shape[0] - start)
        total = out[start : start + size]
        total[:] = 0.0
        if flat.size > 0:
            infinite |= has_infinity(flat, start * width, (start + size) * width)
        for f in range(features.size):
            begin, end = offsets[f], offsets[f + 1]
            for i in range(size):
                column[i] = rows[start + i, features[f]]
            if end - begin <= _FEW:
                vote[:size] = values[begin + f]
                for k in range(begin, end):
                    step = values[k + f + 1] - values[k + f]
                    for i in range(size):
                        vote[i] += step if column[i] > thresholds[k] else 0.0
            else:
                # a search in lockstep: the same steps for all rows, without a branch on a value
                place[:size] = begin
                left = end - begin
                while left > 0:
                    half = (left + 1) // 2
                    for i in range(size):
                        passed = thresholds[place[i] + half - 1] < column[i]
                        place[i] += half if passed else 0
                    left -= half
                for i in range(size):
                    vote[i] = values[f + place[i]]
            for i in range(size):
                total[i] += vote[i] if column[i] == column[i] else missing[f]  # NaN differs
    return not infinite


@kernel
def add_sparse(
    data: FloatArray,
    indices: npt.NDArray[np.int32],
    pointers: IntArray,
    slots: npt.NDArray[np.int32],
    offsets: IntArray,
    thresholds: FloatArray,
    values: FloatArray,
    missing: FloatArray,
    at_zero: FloatArray,
    base: float,
    out: FloatArray,
) -> None:
    """Write ``base``, the sum of a row of zeros, corrected by the entries that a row stores.

    ``slots[j]`` is the number of feature ``j`` among the tables, or -1. ``pointers`` count from
    the first stored entry of these rows.
    """
    for i in range(out.size):
        total = base
        for entry in range(pointers[i], pointers[i + 1]):
            f = slots[indices[entry]]
            if f >= 0:
                x = data[entry]
                if x == x:
                    at = first_from(thresholds, offsets[f], offsets[f + 1], x)
                    total += values[f + at] - at_zero[f]
                else:
                    total += missing[f] - at_zero[f]
        out[i] = total
