"""The two sides of a question for several classes: for every label two sums, in blocks of lanes.

A side is an array of parts. The first ``n`` parts, ``n`` blocks of labels, hold for each label the
weights of the pairs of other labels, the next ``n`` those of its own, and one more the size, if
leaves have a least size. Labels beyond the last are zero. `class_sides` has the same functions for
two classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.shape import KEARNS_MANSOUR

LANES = blocks.WIDTH
"""The labels in a block."""


@inner_scalar
def of_node(totals: Array) -> Array:
    """Return a node as a side."""
    return totals


@inner_scalar
def bin_weight(sums: Array, b: int) -> Any:
    """Return the weight of all pairs in a bin."""
    return blocks.total(sums, sums.shape[0] & ~1, b)  # without the size


@inner_scalar
def size(side: Array) -> Any:
    """Return the size of a side."""
    return side[side.shape[0] - 1, 0]


@inner_scalar
def score(side: Array, criterion: int) -> float:
    """Return what a side adds to the score of a question."""
    return float(blocks.gini(side, criterion == KEARNS_MANSOUR))


@inner_scalar
def begin_sum(table: Array, lost: int, out: Array) -> None:
    """Write the sums of no bin to column 0, or those of bin ``lost``, if it is not -1."""
    for k in range(out.shape[0]):
        for lane in range(LANES):
            out[k, lane] = table[k, LANES * lost + lane] if lost >= 0 else 0


@inner_kernel
def score_cuts(
    table: Array,
    first: int,
    n_cuts: int,
    lost: int,
    totals: Array,
    least: int,
    direction: int,
    criterion: int,
    running: Array,
    out: Array,
) -> None:
    """Write the score of every cut of a feature, or -1 where the cut is no question.

    The bins of the feature begin at ``first``. The bin ``lost``, of missing values, goes left if it
    is not -1. Several classes have no monotonic constraints. A cut behind an empty bin has the same
    sides as the cut before it, and is no question of its own.
    """
    begin_sum(table, lost, running)
    left_weight = bin_weight(table, lost) if lost >= 0 else np.int64(0)
    whole, last = node_weight(totals), totals.shape[0] - 1
    for b in range(n_cuts):
        own_weight = bin_weight(table, first + b)
        out[b] = -1.0
        if own_weight > 0:
            blocks.add_column(running, table, first + b)
            left_weight += own_weight
            small = least > 1 and min(running[last, 0], totals[last, 0] - running[last, 0]) < least
            if left_weight < whole and not small:
                out[b] = blocks.gini_of_sides(running, totals, criterion == KEARNS_MANSOUR)


@inner_kernel
def edge_cuts(
    table: Array,
    first: int,
    n_cuts: int,
    lost: int,
    totals: Array,
    direction: int,
    running: Array,
    out: Array,
) -> None:
    """Write the sum of the edges of all labels at every cut: each side votes for each label."""
    begin_sum(table, lost, running)
    n_blocks = totals.shape[0] // 2
    for b in range(n_cuts):
        blocks.add_column(running, table, first + b)
        value = np.int64(0)
        for k in range(n_blocks):
            for lane in range(LANES):
                edge = running[n_blocks + k, lane] - running[k, lane]
                node_edge = totals[n_blocks + k, lane] - totals[k, lane]
                value += abs(edge) + abs(node_edge - edge)
        out[b] = value


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return by how much a question raises the edge of a node."""
    before = np.int64(0)
    after = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            node = totals[n_blocks + k, lane] - totals[k, lane]
            side = left[n_blocks + k, lane] - left[k, lane]
            before += abs(node)
            after += abs(side) + abs(node - side)
    return float(after - before)


@inner_kernel
def separates(left: Array, totals: Array) -> bool:
    """Return whether a label has different shares of its two sums on the sides, exactly."""
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            lower, upper = left[k, lane], left[n_blocks + k, lane]
            if not same_products(lower, totals[n_blocks + k, lane], upper, totals[k, lane]):
                return True
    return False


@inner_kernel
def may_gain(totals: Array, criterion: int) -> bool:
    """Return whether a label has pairs of both kinds."""
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            if totals[k, lane] > 0 and totals[n_blocks + k, lane] > 0:
                return True
    return False


@inner_kernel
def write_votes(totals: Array, above: Array, out: Array) -> None:
    """Write the votes of a leaf: +1 for a label of more weight; if equal, as the node above."""
    n_blocks = totals.shape[0] // 2
    for label in range(out.size):
        lower, upper = (
            totals[label // LANES, label % LANES],
            totals[n_blocks + label // LANES, label % LANES],
        )
        out[label] = 1 if upper > lower else -1 if upper < lower else above[label]


@inner_kernel
def oppose(left: Array, right: Array, left_votes: Array, right_votes: Array) -> None:
    """Leave the votes as they are: every side of a stump votes for each label by itself."""


@inner_kernel
def leaf_edge(totals: Array, votes: Array) -> Any:
    """Return ``sum_i w_i y_i h(x_i)`` over the pairs of a leaf."""
    value = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for label in range(votes.size):
        k, lane = label // LANES, label % LANES
        value += votes[label] * (totals[n_blocks + k, lane] - totals[k, lane])
    return value


@inner_kernel
def node_weight(totals: Array) -> Any:
    """Return the weight of all pairs of a node."""
    value = np.int64(0)
    for k in range(totals.shape[0] & ~1):
        for lane in range(LANES):
            value += totals[k, lane]
    return value


@inner_kernel
def needs_question() -> bool:
    """Return whether an exhaustive stump without a question has no edge."""
    return False
