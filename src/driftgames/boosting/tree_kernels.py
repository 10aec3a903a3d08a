"""Loops that grow trees on binned rows, and that find the leaf of every row.

Rows are sorted by class, as in `driftgames.boosting.stump_kernels`, and each class is summed by
itself: one addition for each bin that a row lists. All sums are integers. Scores are floats that
are computed from exact sums in one order of operations.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import root
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames.boosting.bins import Array

GINI, KEARNS_MANSOUR = 0, 1
"""The criteria by their numbers in the loops."""


@kernel
def collect(weights: Array, begin: int, end: int, heavy: Array, light: Array) -> tuple[int, int]:
    """Write the rows from ``begin`` to ``end`` to ``heavy``, or to ``light`` if they weigh zero.

    Return the number of heavy rows and the sum of their weights. Both buffers need room for one
    row more.
    """
    n_heavy = np.uint64(0)
    n_light = np.uint64(0)
    total = 0
    for i in range(np.uint64(begin), np.uint64(end)):
        heavy[n_heavy] = i  # both are written and one is kept: the loop has no branch
        light[n_light] = i
        weighs = np.uint64(weights[i] != 0)
        n_heavy += weighs
        n_light += np.uint64(1) - weighs
        total += weights[i]
    return int(n_heavy), total


@kernel
def sum_dense(rows: Array, weights: Array, offsets: Array, codes: Array, out: Array) -> None:
    """Add the weight of each row to ``out``, at its bin of every feature."""
    one = np.uint64(1)
    n_features = np.uint64(codes.shape[1])
    n_rows = np.uint64(rows.size)
    even = n_rows - n_rows % np.uint64(2)
    for q in range(np.uint64(0), even, np.uint64(2)):  # two rows at a time are faster
        i, k = np.uint64(rows[q]), np.uint64(rows[q + one])
        weight, next_weight = weights[i], weights[k]
        row, next_row = codes[i], codes[k]
        for j in range(n_features):
            begin = np.uint64(offsets[j])
            out[begin + np.uint64(row[j])] += weight
            out[begin + np.uint64(next_row[j])] += next_weight
    for q in range(even, n_rows):
        i = np.uint64(rows[q])
        for j in range(n_features):
            out[np.uint64(offsets[j]) + np.uint64(codes[i, j])] += weights[i]


@kernel
def sum_sparse(rows: Array, weights: Array, starts: Array, codes: Array, out: Array) -> None:
    """Do the same as `sum_dense` for rows that list some bins."""
    one = np.uint64(1)
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        weight = weights[i]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
            out[codes[e]] += weight


@inner_kernel
def _score(lower: int, upper: int, criterion: int) -> float:
    """Return what a node of these sums of class 0 and class 1 adds to the score of a split."""
    weight = float(lower + upper)
    if weight == 0.0:
        return 0.0
    edge = float(upper - lower)
    if criterion == KEARNS_MANSOUR:
        weight += 2.0 * root(float(lower) * float(upper))
    return edge * edge / weight


@kernel
def node_score(lower: int, upper: int, criterion: int) -> float:
    """Return the score of a node that is not split."""
    return _score(lower, upper, criterion)


@kernel
def best_split(
    sums: Array,
    totals: Array,
    offsets: Array,
    implicit: Array,
    missing: Array,
    least: int,
    criterion: int,
    mine: Array,
    found: Array,
) -> float:
    """Return the best score of a split of one node, and write the split to ``found``.

    ``sums[c]`` holds the sum of class ``c`` in each bin that rows list, and ``totals[c]`` the sum
    over the node. ``sums[2]``, if it is there, counts rows: each side needs ``least`` of them.
    Each side has a positive weight in any case. ``found`` becomes (feature, cut, whether missing
    values go left, the totals of the left side). The feature is -1 if there is no split. ``mine``
    is a scratch buffer for the sums of one feature.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).
    """
    n_sums = sums.shape[0]
    best = -1.0
    found[0] = -1
    left = np.zeros(3, dtype=np.int64)
    lost = np.zeros(3, dtype=np.int64)
    at = 0
    for j in range(implicit.size):
        n_bins = offsets[j + 1] - offsets[j]
        listed = n_bins - 1 if implicit[j] >= 0 else n_bins
        for c in range(n_sums):
            rest = totals[c]
            place = at
            for b in range(n_bins):
                if b != implicit[j]:
                    mine[c, b] = sums[c, place]
                    rest -= sums[c, place]
                    place += 1
            if implicit[j] >= 0:
                mine[c, implicit[j]] = rest
            left[c] = 0
            lost[c] = mine[c, n_bins - 1] if missing[j] else 0
        at += listed
        gone = lost[0] + lost[1] > 0
        for b in range(n_bins - 1 if missing[j] else n_bins):
            if mine[0, b] == 0 and mine[1, b] == 0:
                continue  # the same two sides as at the cut before
            for c in range(n_sums):
                left[c] += mine[c, b]
            for side in range(2):  # missing values go left, then right
                if side == 0 and not gone:
                    continue
                lower = left[0] + (lost[0] if side == 0 else 0)
                upper = left[1] + (lost[1] if side == 0 else 0)
                count = left[2] + (lost[2] if side == 0 else 0)
                lower_right = totals[0] - lower
                upper_right = totals[1] - upper
                if lower_right + upper_right == 0:
                    continue
                if n_sums == 3 and (count < least or totals[2] - count < least):
                    continue
                score = _score(lower, upper, criterion) + _score(
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
    return best


@kernel
def divide(rows: Array, column: Array, goes_left: Array, scratch: Array) -> int:
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
    return int(n_left)


@kernel
def vote_rows(
    rows: Array, columns: Array, slots: Array, children: Array, up: Array, out: Array
) -> None:
    """Write a tree's vote on these rows: 1 for +1 and 0 for -1.

    Node ``n`` asks about ``columns[slots[n]]`` and sends bin ``b`` to node ``children[n, b]``. A
    leaf has the slot -1 and the vote ``up[n]``.
    """
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        n = np.uint64(0)
        slot = slots[n]
        while slot >= 0:
            n = np.uint64(children[n, columns[np.uint64(slot), i]])
            slot = slots[n]
        out[i] = up[n]
