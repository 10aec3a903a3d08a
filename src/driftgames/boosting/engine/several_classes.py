r"""Several classes: each row is a pair with every label.

The pair :math:`(i, l)` has the label :math:`Y_{il} = +1` if example ``i`` is of class ``l``, else
-1, and a weak hypothesis votes :math:`h(x, l) \in \{-1, +1\}` for every label. Boosting of the
pairs is boosting of two classes, with the same chips, weights and theorems: this is the reduction
of AdaBoost.MH (Schapire and Singer, 1999).

An example has :math:`K - 1` pairs of a wrong label and one of the right one. The right one counts
:math:`K - 1` times: otherwise a vote of -1 for every label would have a large edge and say nothing.

Pairs are numbered row by row: pair ``(i, l)`` has the number ``i K + l``. ``weights[k, i]`` holds
the weights of row ``i`` for the labels of block ``k``, and zero for the row's own label.

A side of a question is an array of parts. The first ``n`` parts, ``n`` blocks of labels, hold for
each label the weights of the pairs of other labels, the next ``n`` those of its own, and one more
the size, if leaves have a least size. Labels beyond the last are zero.

`two_classes` has the same functions; the loops of the engine are compiled with either. `thresholds`
has pairs too, and takes from here what is the same for all pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, inner_scalar, kernel
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.nodes import Nodes
from driftgames.boosting.engine.positions import AS_GIVEN, BY_INTEGERS, Positions, clear_moved
from driftgames.boosting.engine.rows import BinnedRows, RowState
from driftgames.boosting.engine.shape import KEARNS_MANSOUR
from driftgames.boosting.engine.split_search import FeatureCuts

sides, layout = Part("sides"), Part("layout")

LANES = blocks.WIDTH
"""The labels in a block."""


def side_shape(n_labels: int, *, has_size: bool) -> tuple[int, int]:
    """Return the shape of a side: parts, and labels in each."""
    return 2 * -(-n_labels // LANES) + has_size, LANES


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
def score_of_sides(left: Array, totals: Array, criterion: int) -> float:
    """Return the score of a question: that of a left side, and of the rest of the node."""
    return float(blocks.gini_of_sides(left, totals, criterion == KEARNS_MANSOUR))


@inner_kernel
def edge_of_sides(left: Array, totals: Array) -> Any:
    """Return the edge of a question where each side votes for each label."""
    edge = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            left_edge = left[n_blocks + k, lane] - left[k, lane]
            node_edge = totals[n_blocks + k, lane] - totals[k, lane]
            edge += abs(left_edge) + abs(node_edge - left_edge)
    return edge


@inner_scalar
def begin_left(cuts: FeatureCuts, left: Array) -> None:
    """Write the left side before the first cut: missing values if they go left, else nothing."""
    for k in range(left.shape[0]):
        for lane in range(LANES):
            at = LANES * cuts.missing_bin + lane
            left[k, lane] = cuts.table[k, at] if cuts.missing_bin >= 0 else 0


@inner_kernel
def score_cuts(cuts: FeatureCuts, least_size: int, criterion: int, left: Array, out: Array) -> None:
    """Write the score of every cut of a feature, or -1 where the cut is no question.

    A cut behind an empty bin has the same sides as the cut before it, and is no question of its
    own. ``left`` is a scratch buffer for a left side.
    """
    table, totals = cuts.table, cuts.totals
    begin_left(cuts, left)
    left_weight = np.int64(0)
    if cuts.missing_bin >= 0:
        left_weight += sides.bin_weight(table, cuts.missing_bin)
    all_weight, last = sides.node_weight(totals), totals.shape[0] - 1
    for b in range(cuts.n_cuts):
        weight = sides.bin_weight(table, cuts.first + b)
        out[b] = -1.0
        if weight > 0:
            blocks.add_column(left, table, cuts.first + b)
            left_weight += weight
            small = least_size > 1 and (
                min(left[last, 0], totals[last, 0] - left[last, 0]) < least_size
            )
            if left_weight < all_weight and not small and _may_step(cuts, b, left):
                out[b] = sides.score_of_sides(left, totals, criterion)


@inner_kernel
def edge_cuts(cuts: FeatureCuts, left: Array, out: Array) -> None:
    """Write the edge of the question at every cut; ``left`` is a scratch buffer for a left side."""
    begin_left(cuts, left)
    for b in range(cuts.n_cuts):
        blocks.add_column(left, cuts.table, cuts.first + b)
        out[b] = sides.edge_of_sides(left, cuts.totals) if _may_step(cuts, b, left) else -1


@inner_scalar
def _may_step(cuts: FeatureCuts, b: int, left: Array) -> bool:
    """Return whether a constraint allows a cut; the last one asks whether a value is missing."""
    is_free = cuts.direction == 0 or b == cuts.n_cuts - 1
    return bool(is_free or sides.is_in_order(left, cuts.totals, cuts.direction))


@inner_scalar
def is_in_order(left: Array, totals: Array, direction: int) -> bool:
    """Return True: several classes have no monotonic constraints."""
    return True


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return by how much a question raises the edge of a node."""
    before = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            before += abs(totals[n_blocks + k, lane] - totals[k, lane])
    return float(edge_of_sides(left, totals) - before)


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
def choose_votes(totals: Array, above: Array, out: Array) -> None:
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
def keep_within(side: int, nodes: Nodes) -> None:
    """Leave the votes as they are: several classes have no monotonic questions."""


@inner_kernel
def keep_order(node: int, lower: int, upper: int, nodes: Nodes) -> Any:
    """Fix no side."""
    return -1


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


@inner_kernel
def count_pairs(state: RowState) -> Any:
    """Return how many pairs a row has."""
    return np.uint64(state.levels.size // state.has_weight.size)


@inner_kernel
def _store(i: Any, label: Any, is_own: bool, weight: Any, state: RowState) -> None:
    """Write the weight of a pair; ``is_own`` says whether it is the row's own label."""
    state.weights[label >> np.uint64(2), i, label & np.uint64(3)] = 0 if is_own else weight
    if is_own:
        state.label_weights[i] = weight


@inner_kernel
def weigh_block(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Write the weights of all pairs of a block of rows: as levels say, times the sample weight."""
    if positions.weighing == AS_GIVEN:
        return
    n_labels = count_pairs(state)
    for i in range(np.uint64(start), np.uint64(stop)):
        all_bits = np.int64(0)
        for label in range(n_labels):
            is_own = label == np.uint64(rows.labels[i])
            copies = np.int64(n_labels - np.uint64(1)) if is_own else np.int64(1)
            level = np.uint64(state.levels[i * n_labels + label])
            mass = copies * state.sample_weights[i]
            if positions.weighing == BY_INTEGERS:
                weight = positions.tables[np.int64(is_own), level] * mass
            else:
                real = positions.float_tables[np.int64(is_own), level] * float(mass)
                weight = np.int64(np.rint(real))
            all_bits |= weight
            _store(i, label, is_own, weight, state)
        state.has_weight[i] = all_bits != 0


@kernel
def set_weights(flat: Array, rows: BinnedRows, state: RowState) -> None:
    """Set the weights of all pairs, which come row by row."""
    n_labels = count_pairs(state)
    for i in range(np.uint64(state.has_weight.size)):
        all_bits = np.int64(0)
        for label in range(n_labels):
            weight = flat[i * n_labels + label]
            all_bits |= weight
            _store(i, label, label == np.uint64(rows.labels[i]), weight, state)
        state.has_weight[i] = all_bits != 0


@inner_kernel
def add_totals(c: int, listed: Array, rows: BinnedRows, state: RowState, totals: Array) -> None:
    """Add the weights of rows to the totals of a node."""
    n_blocks = state.weights.shape[0]
    for q in range(np.uint64(listed.size)):
        i = np.uint64(listed[q])
        for k in range(n_blocks):
            for lane in range(LANES):
                totals[k, lane] += state.weights[k, i, lane]
        label = rows.labels[i]
        totals[n_blocks + (label >> 2), label & 3] += state.label_weights[i]
        if state.sizes.size > 0:
            totals[2 * n_blocks, 0] += state.sizes[i]


@inner_kernel
def add_rows(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of all pairs of rows to their bins."""
    n_blocks = state.weights.shape[0]
    for k in range(n_blocks):
        layout.add_blocks(listed, state.weights[k], rows, sums[k])
    for q in range(np.uint64(listed.size)):
        i = np.uint64(listed[q])
        label, weight = np.uint64(rows.labels[i]), state.label_weights[i]
        if weight != 0:
            out = sums[n_blocks + np.int64(label >> np.uint64(2))]
            layout.add_value(i, label & np.uint64(3), weight, rows, out)
    if state.sizes.size > 0:
        for q in range(np.uint64(listed.size)):
            i = np.uint64(listed[q])
            layout.add_value(i, np.uint64(0), state.sizes[i], rows, sums[2 * n_blocks])


@inner_kernel
def move(
    p: int, n_rounds: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of the tree of round ``n_rounds`` on all pairs of the rows of a share.

    ``wrong`` becomes the sample weight of the examples whose largest vote so far is for a wrong
    label. A tie is for the lowest label.
    """
    clear_moved(p, positions)
    n_labels = np.uint64(nodes.votes.shape[1])
    wrong = np.int64(0)
    for node in range(nodes.counters[0].n_nodes):
        if nodes.left[node] == 0:
            votes = nodes.votes[node]
            for g in (0, 2):
                for q in range(state.begins[p, node, g], state.ends[p, node, g]):
                    i = np.uint64(state.lists[p, g // 2, q])
                    best = np.int64(-1)
                    winner: Any = np.uint64(0)
                    for label in range(n_labels):
                        is_own = label == np.uint64(rows.labels[i])
                        pair = i * n_labels + label
                        made = np.int64(state.levels[pair])
                        if (votes[label] > 0) != is_own:
                            copies = np.int64(n_labels - np.uint64(1)) if is_own else np.int64(1)
                            mass = copies * state.sample_weights[i]
                            positions.moved[p, np.int64(is_own), np.uint64(made)] += mass
                            made += 1
                            state.levels[pair] = made
                        for_label = n_rounds - made if is_own else made  # how many votes were +1
                        if for_label > best:
                            best = for_label
                            winner = label
                    if winner != np.uint64(rows.labels[i]):
                        wrong += state.sample_weights[i]
    positions.wrong[p] = wrong


@kernel
def write_votes(state: RowState, nodes: Nodes, out: Array) -> None:
    """Write the votes of the leaf of every row for all labels: 1 for +1 and 0 for -1."""
    n_labels = count_pairs(state)
    for p in range(state.begins.shape[0]):
        for node in range(nodes.counters[0].n_nodes):
            if nodes.left[node] == 0:
                for g in (0, 2):
                    for q in range(state.begins[p, node, g], state.ends[p, node, g]):
                        i = np.uint64(state.lists[p, g // 2, q])
                        for label in range(n_labels):
                            out[i * n_labels + label] = nodes.votes[node, label] > 0
