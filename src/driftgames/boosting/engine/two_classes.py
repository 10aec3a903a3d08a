"""Two classes: the sides of a question, what rows weigh, and how they move.

A side is (weight of class 0, weight of class 1, size): three integers, which stay in registers. The
size counts only if leaves have a least size. Rows are sorted by class, class 0 first.

`several_classes` has the same functions; the loops of the engine are compiled with either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels.arithmetic import root
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, inner_scalar, kernel
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.nodes import Nodes
from driftgames.boosting.engine.positions import (
    BY_FLOATS,
    BY_INTEGERS,
    Positions,
    clear_moved,
    shift_rows,
)
from driftgames.boosting.engine.rows import BinnedRows, RowState
from driftgames.boosting.engine.shape import EXHAUSTIVE, KEARNS_MANSOUR
from driftgames.boosting.engine.split_search import FeatureCuts

layout = Part("layout")

Side = tuple[Any, Any, Any]

LANES = 1
"""The labels in a block: one vote tells both classes."""


def side_shape(n_labels: int, *, has_size: bool) -> tuple[int, int]:
    """Return the shape of a side: parts, and labels in each."""
    return 2 + has_size, LANES


@inner_scalar
def of_node(totals: Array) -> Side:
    """Return a node as a side."""
    return totals[0, 0], totals[1, 0], (totals[2, 0] if totals.shape[0] > 2 else np.int64(0))


@inner_scalar
def bin_weight(sums: Array, b: int) -> Any:
    """Return the weight of all rows in a bin."""
    return sums[0, b] + sums[1, b]


@inner_scalar
def size(side: Side) -> Any:
    """Return the size of a side."""
    return side[2]


@inner_scalar
def score(side: Side, criterion: int) -> float:
    """Return what a side adds to the score of a question; nothing if it has no weight."""
    edge = float(side[1] - side[0])
    all_weight = max(float(side[0] + side[1]), 1.0)
    if criterion == KEARNS_MANSOUR:
        all_weight += 2.0 * root(float(side[0]) * float(side[1]))
    return edge * edge / all_weight


@inner_kernel
def add_up(cuts: FeatureCuts, out: Array) -> None:
    """Write the sums of the left side of each cut."""
    table, first, missing_bin = cuts.table, cuts.first, cuts.missing_bin
    lower = table[0, missing_bin] if missing_bin >= 0 else np.int64(0)
    upper = table[1, missing_bin] if missing_bin >= 0 else np.int64(0)
    for b in range(cuts.n_cuts):
        lower += table[0, first + b]
        upper += table[1, first + b]
        out[0, b] = lower
        out[1, b] = upper
    if out.shape[0] > 2:
        size = table[2, missing_bin] if missing_bin >= 0 else np.int64(0)
        for b in range(cuts.n_cuts):
            size += table[2, first + b]
            out[2, b] = size


@inner_kernel
def score_cuts(
    cuts: FeatureCuts, least_size: int, criterion: int, running: Array, out: Array
) -> None:
    """Write the score of every cut of a feature, or -1 where the cut is no question.

    A cut behind an empty bin has the same sides as the cut before it, and is no question of its
    own. ``running`` is a scratch buffer for the left sides.
    """
    add_up(cuts, running)
    n_cuts, direction, node = cuts.n_cuts, cuts.direction, of_node(cuts.totals)
    lowers, uppers = running[0], running[1]
    for b in range(n_cuts):
        lower, upper = lowers[b], uppers[b]
        rest = node[0] - lower, node[1] - upper, np.int64(0)
        value = score((lower, upper, np.int64(0)), criterion) + score(rest, criterion)
        asks = bin_weight(cuts.table, cuts.first + b) > 0 and rest[0] + rest[1] > 0
        out[b] = value if asks else -1.0
    if direction != 0:
        for b in range(n_cuts - 1):  # the last cut asks whether a value is missing
            edge = uppers[b] - lowers[b]
            rest_edge = node[1] - node[0] - edge
            if edge * direction > 0 and rest_edge * direction < 0:
                out[b] = -1.0
    if least_size > 1:
        for b in range(n_cuts):
            if running[2, b] < least_size or node[2] - running[2, b] < least_size:
                out[b] = -1.0


@inner_kernel
def edge_cuts(cuts: FeatureCuts, running: Array, out: Array) -> None:
    """Write the edge of the best stump at every cut: one side votes +1 and the other -1.

    With a direction, the side is that which the direction says, and the edge may be negative.
    """
    add_up(cuts, running)
    n_cuts, direction = cuts.n_cuts, cuts.direction
    node_edge = cuts.totals[1, 0] - cuts.totals[0, 0]
    for b in range(n_cuts):
        edge = 2 * (running[1, b] - running[0, b]) - node_edge
        value = -direction * edge if direction != 0 and b < n_cuts - 1 else abs(edge)
        out[b] = value if b == 0 or bin_weight(cuts.table, cuts.first + b) > 0 else -1


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return the edge of the stump with this left side: it counts, whatever the node itself has."""
    return float(abs(2 * (left[1, 0] - left[0, 0]) - (totals[1, 0] - totals[0, 0])))


@inner_kernel
def separates(left: Array, totals: Array) -> bool:
    """Return whether the sides have different shares of the two classes, in exact integers."""
    return not same_products(left[0, 0], totals[1, 0], left[1, 0], totals[0, 0])


@inner_kernel
def may_gain(totals: Array, criterion: int) -> bool:
    """Return whether a question may gain anything in a node."""
    return bool(criterion == EXHAUSTIVE or (totals[0, 0] > 0 and totals[1, 0] > 0))


@inner_kernel
def choose_votes(totals: Array, above: Array, out: Array) -> None:
    """Write the vote of a leaf: for the class of more weight; if equal, that of the node above."""
    out[0] = 1 if totals[1, 0] > totals[0, 0] else -1 if totals[1, 0] < totals[0, 0] else above[0]


@inner_kernel
def oppose(left: Array, right: Array, left_votes: Array, right_votes: Array) -> None:
    """Let the sides of an exhaustive stump vote against each other."""
    edge = (left[1, 0] - left[0, 0]) - (right[1, 0] - right[0, 0])
    left_votes[0] = 1 if edge >= 0 else -1
    right_votes[0] = -left_votes[0]


@inner_kernel
def keep_within(side: int, nodes: Nodes) -> None:
    """Leave the vote as it is: a side of a monotonic question is fixed at once."""


@inner_kernel
def keep_order(node: int, lower: int, upper: int, nodes: Nodes) -> Any:
    """Fix the vote of one side of a monotonic question; return that side.

    Either all leaves of the lower side vote -1, or all of the upper side +1: no vote steps the
    other way. The side that would err less is fixed.
    """
    low, high = nodes.totals[lower], nodes.totals[upper]
    if low[1, 0] <= low[0, 0] and (high[1, 0] < high[0, 0] or low[1, 0] <= high[0, 0]):
        nodes.votes[lower, 0] = -1
        return lower
    nodes.votes[upper, 0] = 1
    return upper


@inner_kernel
def leaf_edge(totals: Array, votes: Array) -> Any:
    """Return ``sum_i w_i y_i h(x_i)`` over the rows of a leaf."""
    return votes[0] * (totals[1, 0] - totals[0, 0])


@inner_kernel
def node_weight(totals: Array) -> Any:
    """Return the weight of all rows of a node."""
    return totals[0, 0] + totals[1, 0]


@inner_kernel
def needs_question() -> bool:
    """Return whether an exhaustive stump without a question has no edge."""
    return True


@inner_kernel
def weigh_block(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Write the weights of a block: the weight of each level times the sample weight."""
    if positions.weighing == BY_INTEGERS:
        table = positions.tables[c]
        for i in range(np.uint64(start), np.uint64(stop)):
            state.weights[i] = table[np.uint64(state.levels[i])] * state.sample_weights[i]
    elif positions.weighing == BY_FLOATS:
        floats = positions.float_tables[c]
        for i in range(np.uint64(start), np.uint64(stop)):
            product = floats[np.uint64(state.levels[i])] * float(state.sample_weights[i])
            state.weights[i] = np.int64(np.rint(product))


@inner_kernel
def add_totals(c: int, listed: Array, rows: BinnedRows, state: RowState, totals: Array) -> None:
    """Add the weights of rows of one class to the totals of a node."""
    total = np.int64(0)
    for q in range(np.uint64(listed.size)):
        total += state.weights[np.uint64(listed[q])]
    totals[c, 0] += total
    if state.sizes.size > 0:
        for q in range(np.uint64(listed.size)):
            totals[2, 0] += state.sizes[np.uint64(listed[q])]


@inner_kernel
def add_rows(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of rows of one class to their bins."""
    layout.add_weights(listed, state.weights, rows, sums[c])
    if state.sizes.size > 0:
        layout.add_weights(listed, state.sizes, rows, sums[2])


@inner_kernel
def move(
    p: int, n_rounds: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of the tree of round ``n_rounds`` on the rows of a share."""
    clear_moved(p, positions)
    if not positions.counters[0].listed:
        layout.move_column(p, rows, state, positions, nodes)
        return
    for node in range(nodes.counters[0].n_nodes):
        if nodes.left[node] == 0:
            for g in range(4):
                c = g % 2
                errs = (nodes.votes[node, 0] > 0) != (c == 1)
                if errs == positions.rise[c]:
                    begin, end = state.begins[p, node, g], state.ends[p, node, g]
                    listed = state.lists[p, g // 2, begin:end]
                    shift_rows(p, c, listed, state, positions)
                    if positions.counters[0].tallied:
                        layout.count_moved(p, c, listed, rows, state, positions)


@kernel
def write_votes(state: RowState, nodes: Nodes, out: Array) -> None:
    """Write the vote of the leaf of every row: 1 for +1 and 0 for -1."""
    for p in range(state.begins.shape[0]):
        for node in range(nodes.counters[0].n_nodes):
            if nodes.left[node] == 0:
                for g in range(4):
                    for q in range(state.begins[p, node, g], state.ends[p, node, g]):
                        out[np.uint64(state.lists[p, g // 2, q])] = nodes.votes[node, 0] > 0
