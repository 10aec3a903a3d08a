"""Loops that grow trees on binned rows: collect rows, sum their weights, find a split, divide.

Rows are sorted by class, as in `stump_kernels`, and each class is summed by
itself: one addition for each bin that a row lists. All sums are integers. Scores are floats that
are computed from exact sums in one order of operations.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels.arithmetic import root
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array, FeatureBins

GINI, KEARNS_MANSOUR = 0, 1
"""The criteria by their numbers in the loops."""


@inner_kernel
def collect(
    weights: Array, begin: int, end: int, heavy: Array, light: Array, n_heavy: int, n_light: int
) -> tuple[Any, Any, Any]:
    """Append the rows from ``begin`` to ``end`` to ``heavy``, or to ``light`` if they weigh zero.

    Return the new lengths of both lists and the sum of the weights. Both lists need room for one
    row more.
    """
    to_heavy = np.uint64(n_heavy)
    to_light = np.uint64(n_light)
    total = np.int64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        heavy[to_heavy] = i  # both are written and one is kept: the loop has no branch
        light[to_light] = i
        weighs = np.uint64(weights[i] != 0)
        to_heavy += weighs
        to_light += np.uint64(1) - weighs
        total += weights[i]
    return np.int64(to_heavy), np.int64(to_light), total


@kernel
def sum_dense(rows: Array, weights: Array, codes: Array, offsets: Array, out: Array) -> None:
    """Add the weight of each row to ``out``, at its bin of every feature.

    ``codes`` holds one bin of every feature for each row.
    """
    one = np.uint64(1)
    width = np.uint64(offsets.size - 1)
    n_rows = np.uint64(rows.size)
    for q in range(n_rows):
        next_row = np.uint64(rows[q + AHEAD if q + AHEAD < n_rows else q])
        prefetch(weights, next_row)
        prefetch(codes, next_row * width)
        prefetch(codes, next_row * width + width - one)
        i = np.uint64(rows[q])
        weight = weights[i]
        for j in range(width):
            out[np.uint64(offsets[j]) + np.uint64(codes[i * width + j])] += weight


@kernel
def sum_sparse(rows: Array, weights: Array, codes: Array, starts: Array, out: Array) -> None:
    """Do the same as `sum_dense` for rows that list some bins, from ``starts`` on."""
    one = np.uint64(1)
    n_rows = np.uint64(rows.size)
    for q in range(n_rows):
        next_row = np.uint64(rows[q + AHEAD if q + AHEAD < n_rows else q])
        prefetch(weights, next_row)
        prefetch(codes, np.uint64(starts[next_row]))
        i = np.uint64(rows[q])
        weight = weights[i]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
            out[codes[e]] += weight


@kernel
def node_score(lower: int, upper: int, criterion: int) -> float:
    """Return what a node of these sums of class 0 and class 1 adds to the score of a split."""
    weight = float(lower + upper)
    if weight == 0.0:
        return 0.0
    edge = float(upper - lower)
    if criterion == KEARNS_MANSOUR:
        weight += 2.0 * root(float(lower) * float(upper))
    return edge * edge / weight


@kernel
def best_split(
    sums: Array,
    slot: int,
    totals: Array,
    bins: FeatureBins,
    first_feature: int,
    last_feature: int,
    least: int,
    criterion: int,
    mine: Array,
    found: Array,
) -> float:
    """Return the best score of a split of one node, and write the split to ``found``.

    ``sums[p, slot, c]`` holds the sum of class ``c`` in each bin that the rows of share ``p``
    list, and ``totals[c]`` the sum over the node. Behind the classes come the sizes of the rows, if
    a leaf has a least size: each side needs the size ``least``. Each side has a positive weight in
    any case. Only features from ``first_feature`` to ``last_feature`` are asked about. Where
    ``monotonic[j]`` is not 0, no cut has votes that step the other way. ``found`` becomes (feature,
    cut, whether missing values go left, the totals of the left side). The feature is -1 if there is
    no split. ``mine`` is a scratch buffer for the sums of one feature.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).
    """
    offsets, implicit, missing, monotonic, _ = bins
    n_sums = sums.shape[2]
    best = -1.0
    found[0] = -1
    count = 0
    lost_count = 0
    at = offsets[first_feature]  # where the sums of the feature begin
    for j in range(first_feature):
        at -= implicit[j] >= 0
    for j in range(first_feature, last_feature):
        n_bins = offsets[j + 1] - offsets[j]
        hidden = implicit[j]
        for c in range(n_sums):
            own = mine[c]
            for b in range(n_bins):
                own[b] = 0
            rest = totals[c]
            for p in range(sums.shape[0]):
                listed = sums[p, slot, c]
                place = np.uint64(at)
                for b in range(n_bins):
                    if b != hidden:
                        own[b] += listed[place]
                        rest -= listed[place]
                        place += np.uint64(1)
            if hidden >= 0:
                own[hidden] = rest
        at += n_bins - (hidden >= 0)
        n_known = n_bins - 1 if missing[j] else n_bins
        lost_lower = mine[0, n_known] if missing[j] else 0
        lost_upper = mine[1, n_known] if missing[j] else 0
        gone = lost_lower + lost_upper > 0
        left_lower = 0
        left_upper = 0
        if n_sums == 3:
            lost_count = mine[2, n_known] if missing[j] else 0
            count = 0
        for b in range(n_known):
            if mine[0, b] == 0 and mine[1, b] == 0:
                continue  # the same two sides as at the cut before
            left_lower += mine[0, b]
            left_upper += mine[1, b]
            if n_sums == 3:
                count += mine[2, b]
            for side in range(0 if gone else 1, 2):  # missing values go left, then right
                lower = left_lower + (lost_lower if side == 0 else 0)
                upper = left_upper + (lost_upper if side == 0 else 0)
                lower_right = totals[0] - lower
                upper_right = totals[1] - upper
                if lower_right + upper_right == 0:
                    continue
                if monotonic[j] != 0 and b < n_bins - missing[j] - 1:
                    step_left = (upper - lower) * monotonic[j]
                    if step_left > 0 and (upper_right - lower_right) * monotonic[j] < 0:
                        continue
                counted = count + (lost_count if side == 0 else 0)
                if n_sums == 3 and (counted < least or totals[2] - counted < least):
                    continue
                score = node_score(lower, upper, criterion) + node_score(
                    lower_right, upper_right, criterion
                )
                if score > best:
                    best = score
                    found[0] = j
                    found[1] = b
                    found[2] = side == 0
                    if not gone:
                        found[2] = lower + upper >= lower_right + upper_right
                    found[3] = lower
                    found[4] = upper
                    found[5] = counted
    return best


@kernel
def divide(rows: Array, column: Array, goes_left: Array, scratch: Array) -> Any:
    """Move the rows that go left to the front, in order, and return how many they are."""
    n_left = np.uint64(0)
    n_right = np.uint64(0)
    for q in range(np.uint64(rows.size)):
        i = rows[q]
        go = np.uint64(goes_left[column[np.uint64(i)]])
        rows[n_left] = i  # both are written and one is kept: the loop has no branch
        scratch[n_right] = i
        n_left += go
        n_right += np.uint64(1) - go
    for q in range(n_right):
        rows[n_left + q] = scratch[q]
    return np.int64(n_left)


@inner_kernel
def same_shares(lower: int, upper: int, lower_all: int, upper_all: int) -> bool:
    """Return whether ``lower / lower_all == upper / upper_all``, in exact integers."""
    a, b = np.uint64(lower), np.uint64(upper_all)
    c, d = np.uint64(upper), np.uint64(lower_all)
    return bool(a * b == c * d and _high_product(a, b) == _high_product(c, d))


@inner_kernel
def _high_product(a: Any, b: Any) -> Any:
    """Return the upper 64 bits of the product of two unsigned numbers of 64 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (a & mask) * (b & mask)
    middle = (a >> half) * (b & mask) + (low >> half)
    other = (a & mask) * (b >> half) + (middle & mask)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)
