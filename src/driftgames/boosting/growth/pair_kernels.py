"""Loops that grow trees with a vote for each label, on rows of pairs (example, label).

Labels stand in blocks of four, filled up with zeros. ``weights[k, i]`` holds the four weights of
row ``i`` for the labels ``4 k`` to ``4 k + 3``, and zero for the row's own label. The sums of a
node have three parts of blocks, each over all bins: for every label the weights of the rows of
others, then those of its own rows, then, if leaves must have a least size, the sizes of the rows.
All sums are integers. Scores are floats that are computed from exact sums in one order of
operations.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import root
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.growth.tree_kernels import KEARNS_MANSOUR

EDGE = 2
"""The criterion of the exhaustive stump: the sum of the edges of all labels."""

LANES = 4
"""The labels in a block."""


@kernel
def pack(
    flat: Array, labels: Array, n_classes: int, weights: Array, own: Array, heavy: Array
) -> int:
    """Write the weights of all pairs to the blocks, but those of own labels to ``own``.

    List in ``heavy`` the rows that have a pair of nonzero weight, and return how many they are.
    """
    n_heavy = np.uint64(0)
    for i in range(labels.size):
        weighs = False
        for label in range(n_classes):
            weight = flat[i * n_classes + label]
            mine = label == labels[i]
            weights[label >> 2, i, label & 3] = 0 if mine else weight
            weighs |= weight != 0
            if mine:
                own[i] = weight
        heavy[n_heavy] = i  # it has room for one row more
        n_heavy += np.uint64(weighs)
    return int(n_heavy)


@kernel
def add_up(
    rows: Array, weights: Array, labels: Array, own: Array, sizes: Array, out: Array
) -> None:
    """Add to ``out`` the sums over these rows, in blocks, and their sizes if they have some."""
    n_blocks = weights.shape[0]
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        for k in range(n_blocks):
            for lane in range(LANES):
                out[k, lane] += weights[k, i, lane]
        out[n_blocks + (labels[i] >> 2), labels[i] & 3] += own[i]
        if sizes.size > 0:
            out[2 * n_blocks, 0] += sizes[i]


@kernel
def sum_dense(rows: Array, weights: Array, offsets: Array, codes: Array, out: Array) -> None:
    """Add one block of each row's weights to ``out``, at its bin of every feature."""
    n_features = np.uint64(codes.shape[1])
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        w0, w1, w2, w3 = weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3]
        if (w0 | w1 | w2 | w3) != 0:
            for j in range(n_features):
                at = np.uint64(offsets[j]) + np.uint64(codes[i, j])
                out[at, 0] += w0
                out[at, 1] += w1
                out[at, 2] += w2
                out[at, 3] += w3


@kernel
def sum_sparse(rows: Array, weights: Array, starts: Array, codes: Array, out: Array) -> None:
    """Do the same as `sum_dense` for rows that list some bins."""
    one = np.uint64(1)
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        w0, w1, w2, w3 = weights[i, 0], weights[i, 1], weights[i, 2], weights[i, 3]
        if (w0 | w1 | w2 | w3) != 0:
            for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
                at = np.uint64(codes[e])
                out[at, 0] += w0
                out[at, 1] += w1
                out[at, 2] += w2
                out[at, 3] += w3


@kernel
def sum_own_dense(
    rows: Array, weights: Array, labels: Array, offsets: Array, codes: Array, out: Array
) -> None:
    """Add one weight of each row to ``out[label]``, in blocks, at its bin of every feature."""
    n_features = np.uint64(codes.shape[1])
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        weight = weights[i]
        if weight != 0:
            lane = np.uint64(labels[i] & 3)
            mine = out[np.uint64(labels[i] >> 2)]
            for j in range(n_features):
                mine[np.uint64(offsets[j]) + np.uint64(codes[i, j]), lane] += weight


@kernel
def sum_own_sparse(
    rows: Array, weights: Array, labels: Array, starts: Array, codes: Array, out: Array
) -> None:
    """Do the same as `sum_own_dense` for rows that list some bins."""
    one = np.uint64(1)
    for q in range(np.uint64(rows.size)):
        i = np.uint64(rows[q])
        weight = weights[i]
        if weight != 0:
            lane = np.uint64(labels[i] & 3)
            mine = out[np.uint64(labels[i] >> 2)]
            for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
                mine[np.uint64(codes[e]), lane] += weight


@kernel
def node_score(sums: Array, n_blocks: int, criterion: int) -> float:
    """Return what a node of these sums adds to the score of a split."""
    total = 0.0
    for k in range(n_blocks):
        for lane in range(LANES):
            lower, upper = sums[k, lane], sums[n_blocks + k, lane]
            edge = float(upper - lower)
            weight = float(upper + lower)
            if criterion == KEARNS_MANSOUR:
                weight += 2.0 * root(float(lower) * float(upper))
            total += edge * edge / max(weight, 1.0)  # no weight, no edge
    return total


@inner_kernel
def _edge(sums: Array, n_blocks: int) -> int:
    """Return the sum of the edges of all labels, with the best vote for each."""
    value = 0
    for k in range(n_blocks):
        for lane in range(LANES):
            value += abs(sums[n_blocks + k, lane] - sums[k, lane])
    return value


@inner_kernel
def _weight(sums: Array, n_blocks: int) -> int:
    """Return the weight of all pairs of a node."""
    value = 0
    for k in range(n_blocks):
        for lane in range(LANES):
            value += sums[n_blocks + k, lane] + sums[k, lane]
    return value


@kernel
def best_split(
    sums: Array,
    totals: Array,
    n_blocks: int,
    bins: FeatureBins,
    least: int,
    criterion: int,
    mine: Array,
    sides: Array,
    found: Array,
    found_left: Array,
) -> float:
    """Return the best score of a split of one node, and write the split to ``found``.

    ``sums`` and ``totals`` hold the sums of the node in each bin that rows list and over all
    rows. ``found`` becomes (feature, cut, whether missing values go left) and ``found_left`` the
    totals of the left side. The feature is -1 if there is no split. Each side has a positive
    weight and, if leaves have a least size, the size ``least``. ``mine`` and ``sides`` are scratch
    buffers: the sums of one feature, and of the known values on the left, of the left and of the
    right.

    Ties go to the lowest feature, then to the lowest cut, then to missing values on the left. If
    no missing value has weight, they go to the side of more weight (left if equal).
    """
    offsets, implicit, missing, _, _ = bins
    n_parts = totals.shape[0]
    best = -1.0
    best_edge = -1
    found[0] = -1
    known, left, right = sides[0], sides[1], sides[2]
    at = 0
    for j in range(implicit.size):
        n_bins = offsets[j + 1] - offsets[j]
        listed = n_bins - 1 if implicit[j] >= 0 else n_bins
        for k in range(n_parts):
            for lane in range(LANES):
                rest = totals[k, lane]
                place = at
                for b in range(n_bins):
                    if b != implicit[j]:
                        mine[b, k, lane] = sums[k, place, lane]
                        rest -= sums[k, place, lane]
                        place += 1
                if implicit[j] >= 0:
                    mine[implicit[j], k, lane] = rest
                known[k, lane] = 0
        at += listed
        lost = mine[n_bins - 1]
        gone = missing[j] and _weight(lost, n_blocks) > 0
        for b in range(n_bins - 1 if missing[j] else n_bins):
            if _weight(mine[b], n_blocks) == 0:
                continue  # the same two sides as at the cut before
            for k in range(n_parts):
                for lane in range(LANES):
                    known[k, lane] += mine[b, k, lane]
            for side in range(2):  # missing values go left, then right
                if side == 0 and not gone:
                    continue
                for k in range(n_parts):
                    for lane in range(LANES):
                        left[k, lane] = known[k, lane] + (lost[k, lane] if side == 0 else 0)
                        right[k, lane] = totals[k, lane] - left[k, lane]
                right_weight = _weight(right, n_blocks)
                if right_weight == 0:
                    continue
                if n_parts > 2 * n_blocks and (
                    left[2 * n_blocks, 0] < least or right[2 * n_blocks, 0] < least
                ):
                    continue
                if criterion == EDGE:
                    edge = _edge(left, n_blocks) + _edge(right, n_blocks)
                    better = edge > best_edge
                    score = float(edge)
                else:
                    edge = 0
                    score = node_score(left, n_blocks, criterion)
                    score += node_score(right, n_blocks, criterion)
                    better = score > best
                if better:
                    best = score
                    best_edge = edge
                    found[0] = j
                    found[1] = b
                    found[2] = side == 0
                    if not gone:
                        found[2] = _weight(left, n_blocks) >= right_weight
                    for k in range(n_parts):
                        for lane in range(LANES):
                            found_left[k, lane] = left[k, lane]
    return best


@kernel
def find_leaves(columns: Array, slots: Array, children: Array, out: Array) -> None:
    """Write the leaf of each row to ``out``.

    Node ``n`` asks about ``columns[slots[n]]`` and sends bin ``b`` to node ``children[n, b]``. A
    leaf has the slot -1.
    """
    for i in range(np.uint64(out.size)):
        n = np.uint64(0)
        slot = slots[n]
        while slot >= 0:
            n = np.uint64(children[n, columns[np.uint64(slot), i]])
            slot = slots[n]
        out[i] = n


@kernel
def count_errors(
    votes: Array, labels: Array, weights: Array, n_classes: int, n_rounds: int, mistakes: Array
) -> int:
    """Count the mistakes of the votes on all pairs in the last of ``n_rounds``.

    Return the weight of the examples whose largest vote so far is for a wrong label. A tie is for
    the lowest label.
    """
    wrong = 0
    for i in range(labels.size):
        first = i * n_classes
        best = -1
        best_label = -1
        for label in range(n_classes):
            own = label == labels[i]
            mistakes[first + label] += (votes[first + label] == 1) != own
            made = mistakes[first + label]
            for_label = n_rounds - made if own else made  # how many votes were +1
            if for_label > best:
                best = for_label
                best_label = label
        wrong += 0 if best_label == labels[i] else weights[i]
    return wrong
