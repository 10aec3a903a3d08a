r"""Thresholds of an outcome: each row is a pair with every threshold.

Let :math:`\theta_1 < \dots < \theta_K` be thresholds of a real outcome :math:`y`. The pair
:math:`(i, k)` has the label :math:`Y_{ik} = +1` if :math:`y_i > \theta_k`, else -1. Boosting of the
pairs is boosting of two classes, with the same chips, weights and theorems. A leaf votes a
*position* :math:`j`: +1 for the first :math:`j` thresholds and -1 for the others. So no vote says
that an outcome lies above a threshold and below a lower one.

A pair counts as much as its threshold's *gap*, an integer in proportion to the distance between
thresholds. With these masses the share of wrong pairs is a mean absolute error.

A word holds two sums: its upper 32 bits the weight of pairs of label +1, its lower ones that of
label -1. Words are added and subtracted as they are: the weights of all pairs sum to less than
``2**31``. A side of a question is an array of blocks of words, one word for each threshold, and one
block more for the size. Words beyond the last threshold are zero.

`two_classes` and `several_classes` have the same functions. What is the same for all pairs stands
in `several_classes`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.nodes import Nodes
from driftgames.boosting.engine.positions import BY_INTEGERS, SUM_BITS, Positions, clear_moved
from driftgames.boosting.engine.rows import BinnedRows, RowState
from driftgames.boosting.engine.several_classes import (  # noqa: F401  # the same for all pairs
    count_pairs,
    edge_cuts,
    needs_question,
    of_node,
    oppose,
    score_cuts,
    size,
    write_votes,
)
from driftgames.boosting.engine.shape import KEARNS_MANSOUR

layout = Part("layout")

EDGE_UNIT = 2.0**-30
"""How much an edge may be off for each pair: its weight is cut off to an integer."""

LANES = blocks.WIDTH
"""The thresholds in a block."""

_HALF = 32  # bits of a sum
_BELOW = 2**_HALF - 1
_SPARE = SUM_BITS - _HALF + 1  # bits of a weight that a word has no room for


def side_shape(n_labels: int, *, has_size: bool) -> tuple[int, int]:
    """Return the shape of a side: blocks, and words in each."""
    return -(-n_labels // LANES) + 1, LANES


@inner_scalar
def _upper(word: Any) -> Any:
    """Return the weight of label +1."""
    return word >> _HALF


@inner_scalar
def _lower(word: Any) -> Any:
    """Return the weight of label -1."""
    return word & _BELOW


@inner_scalar
def _edge(word: Any) -> Any:
    """Return the weight of label +1 less that of label -1."""
    return (word >> _HALF) - (word & _BELOW)


@inner_scalar
def bin_weight(sums: Array, b: int) -> Any:
    """Return the weight of all pairs in a bin."""
    word = blocks.total(sums, sums.shape[0] - 1, b)
    return _upper(word) + _lower(word)


@inner_scalar
def score(side: Array, criterion: int) -> float:
    """Return what a side adds to the score of a question."""
    return float(blocks.packed_gini(side, criterion == KEARNS_MANSOUR))


@inner_scalar
def score_of_sides(left: Array, totals: Array, criterion: int) -> float:
    """Return the score of a question: that of a left side, and of the rest of the node."""
    return float(blocks.packed_gini_of_sides(left, totals, criterion == KEARNS_MANSOUR))


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return by how much a question raises the edge of a node."""
    edge = np.int64(0)
    best = np.int64(0)
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            edge += 2 * _edge(totals[k, lane])
            best = max(best, edge)
    return float(edge_of_sides(left, totals) - best + _sum_of_edges(totals))


@inner_kernel
def edge_of_sides(left: Array, totals: Array) -> Any:
    """Return the edge of a question where each side votes its best position."""
    edge = np.int64(0)
    rest_edge = np.int64(0)
    best = np.int64(0)
    rest_best = np.int64(0)
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            edge += 2 * _edge(left[k, lane])
            best = max(best, edge)
            rest_edge += 2 * _edge(totals[k, lane] - left[k, lane])
            rest_best = max(rest_best, rest_edge)
    return best + rest_best - (edge + rest_edge) // 2  # position 0 votes -1 for all thresholds


@inner_kernel
def _sum_of_edges(totals: Array) -> Any:
    value = np.int64(0)
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            value += _edge(totals[k, lane])
    return value


@inner_kernel
def separates(left: Array, totals: Array) -> bool:
    """Return whether a threshold has different shares of its two sums on the sides, exactly."""
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            side, node = left[k, lane], totals[k, lane]
            if not same_products(_lower(side), _upper(node), _upper(side), _lower(node)):
                return True
    return False


@inner_kernel
def may_gain(totals: Array, criterion: int) -> bool:
    """Return whether a threshold has pairs of both kinds."""
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            if _lower(totals[k, lane]) > 0 and _upper(totals[k, lane]) > 0:
                return True
    return False


@inner_kernel
def choose_votes(totals: Array, above: Array, out: Array) -> None:
    """Write the votes of a leaf: the position of the largest edge; if equal, as the node above.

    Of other positions of one edge the lowest wins.
    """
    position = 0
    edge = np.int64(0)
    best = np.int64(0)  # that of the node above, more than of position 0
    for label in range(out.size):
        if above[label] > 0:
            position += 1
            best += 2 * _edge(totals[label // LANES, label % LANES])
    if best < 0:
        position = 0
        best = np.int64(0)
    for label in range(out.size):
        edge += 2 * _edge(totals[label // LANES, label % LANES])
        if edge > best:
            best = edge
            position = label + 1
    _vote_for(position, out)


@inner_kernel
def keep_within(side: int, nodes: Nodes) -> None:
    """Move the votes of a leaf to the best position that monotonic questions above leave it."""
    position = _count_votes(nodes.votes[side])
    lowest, highest = nodes.lowest[side], nodes.highest[side]
    if not lowest <= position <= highest:
        edge = np.int64(0)
        best = np.int64(0)
        position = lowest
        for label in range(lowest, highest):
            edge += _edge(nodes.totals[side, label // LANES, label % LANES])
            if edge > best:
                best = edge
                position = label + 1
        _vote_for(position, nodes.votes[side])


@inner_kernel
def keep_order(node: int, lower: int, upper: int, nodes: Nodes) -> Any:
    """Bound the positions of both sides of a monotonic question by a middle one; fix no side."""
    low, high = _count_votes(nodes.votes[lower]), _count_votes(nodes.votes[upper])
    if low > high:
        low = _count_votes(nodes.votes[node])
        high = low
        _vote_for(low, nodes.votes[lower])
        _vote_for(low, nodes.votes[upper])
    nodes.highest[lower] = (low + high) // 2
    nodes.lowest[upper] = (low + high) // 2
    return -1


@inner_kernel
def _count_votes(votes: Array) -> Any:
    """Return the position that votes are for."""
    position = np.int64(0)
    for label in range(votes.size):
        position += votes[label] > 0
    return position


@inner_kernel
def _vote_for(position: Any, votes: Array) -> None:
    for label in range(votes.size):
        votes[label] = 1 if label < position else -1


@inner_kernel
def is_in_order(left: Array, totals: Array, direction: int) -> bool:
    """Return whether the best positions of a left side and the rest step in a direction."""
    edge = np.int64(0)
    rest_edge = np.int64(0)
    best = np.int64(0)
    rest_best = np.int64(0)
    position = 0
    rest_position = 0
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            edge += _edge(left[k, lane])
            rest_edge += _edge(totals[k, lane] - left[k, lane])
            if edge > best:
                best = edge
                position = LANES * k + lane + 1
            if rest_edge > rest_best:
                rest_best = rest_edge
                rest_position = LANES * k + lane + 1
    return bool(direction * (rest_position - position) >= 0)


@inner_kernel
def leaf_edge(totals: Array, votes: Array) -> Any:
    """Return ``sum_i w_i y_i h(x_i)`` over the pairs of a leaf."""
    value = np.int64(0)
    for label in range(votes.size):
        value += votes[label] * _edge(totals[label // LANES, label % LANES])
    return value


@inner_kernel
def node_weight(totals: Array) -> Any:
    """Return the weight of all pairs of a node."""
    word = np.int64(0)
    for k in range(totals.shape[0] - 1):
        for lane in range(LANES):
            word += totals[k, lane]
    return _upper(word) + _lower(word)


@inner_kernel
def weigh_block(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Write the weights of all pairs of a block of rows: as levels say, times gap and weight."""
    n_labels = count_pairs(state)
    for i in range(np.uint64(start), np.uint64(stop)):
        position, mass = np.uint64(rows.labels[i]), state.sample_weights[i]
        all_bits = np.int64(0)
        for label in range(n_labels):
            is_above = label < position
            gap, level = rows.gaps[label], np.uint64(state.levels[i * n_labels + label])
            if positions.weighing == BY_INTEGERS:
                weight = ((positions.tables[np.int64(is_above), level] * gap) >> _SPARE) * mass
            else:
                real = positions.float_tables[np.int64(is_above), level] * float(gap * mass)
                weight = np.int64(real) >> _SPARE
            all_bits |= weight
            word = weight << _HALF if is_above else weight
            state.weights[label >> np.uint64(2), i, label & np.uint64(3)] = word
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
        if state.sizes.size > 0:
            totals[n_blocks, 0] += state.sizes[i]


@inner_kernel
def add_rows(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of all pairs of rows to their bins."""
    n_blocks = state.weights.shape[0]
    for k in range(n_blocks):
        layout.add_blocks(listed, state.weights[k], rows, sums[k])
    if state.sizes.size > 0:
        for q in range(np.uint64(listed.size)):
            i = np.uint64(listed[q])
            layout.add_value(i, np.uint64(0), state.sizes[i], rows, sums[n_blocks])


@inner_kernel
def move(
    p: int, n_rounds: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of a tree on all pairs of the rows of a share.

    Wrong are the pairs between the position that a leaf votes and the row's own.
    """
    clear_moved(p, positions)
    n_labels = np.uint64(nodes.votes.shape[1])
    for node in range(nodes.counters[0].n_nodes):
        if nodes.left[node] == 0:
            voted = np.uint64(0)
            for label in range(n_labels):
                voted += np.uint64(nodes.votes[node, label] > 0)
            for g in (0, 2):
                for q in range(state.begins[p, node, g], state.ends[p, node, g]):
                    i = np.uint64(state.lists[p, g // 2, q])
                    position, mass = np.uint64(rows.labels[i]), state.sample_weights[i]
                    moved = positions.moved[p, np.int64(voted < position)]
                    for label in range(min(voted, position), max(voted, position)):
                        pair = i * n_labels + label
                        made = state.levels[pair]
                        moved[np.uint64(made)] += rows.gaps[label] * mass
                        state.levels[pair] = made + 1
