r"""Rows of several classes: each is a pair with every label.

The pair :math:`(i, l)` has the label :math:`Y_{il} = +1` if example ``i`` is of class ``l``, else
-1, and a weak hypothesis votes :math:`h(x, l) \in \{-1, +1\}` for every label. Boosting of the
pairs is boosting of two classes, with the same chips, weights and theorems: this is the reduction
of AdaBoost.MH (Schapire and Singer, 1999).

An example has :math:`K - 1` pairs of a wrong label and one of the right one. The right one counts
:math:`K - 1` times: otherwise a vote of -1 for every label would have a large edge and say nothing.

Pairs are numbered row by row: pair ``(i, l)`` has the number ``i K + l``. ``weights[k, i]`` holds
the weights of row ``i`` for the labels of block ``k``, and zero for the row's own label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.jit import inner_kernel
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.nodes import GIVEN, N_NODES, WEIGHS, WHOLE, Nodes
from driftgames.boosting.growth.pair_sides import LANES
from driftgames.boosting.growth.rows import BinnedRows, RowState


@inner_kernel
def _n_labels(state: RowState) -> Any:
    return np.uint64(state.levels.size // state.marks.size)


@inner_kernel
def _store(i: Any, label: Any, own: bool, weight: Any, state: RowState) -> None:
    state.weights[label >> np.uint64(2), i, label & np.uint64(3)] = 0 if own else weight
    if own:
        state.own[i] = weight


@inner_kernel
def weigh_block(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, keeper: Any
) -> None:
    """Write the weights of all pairs of a block of rows: as levels say, times the sample weight."""
    if keeper.at[WEIGHS] == GIVEN:
        return
    whole = keeper.at[WEIGHS] == WHOLE
    n_labels = _n_labels(state)
    for i in range(np.uint64(start), np.uint64(stop)):
        marked = np.int64(0)
        for label in range(n_labels):
            own = label == np.uint64(rows.labels[i])
            copies = np.int64(n_labels - np.uint64(1)) if own else np.int64(1)
            level = np.uint64(state.levels[i * n_labels + label])
            mass = copies * state.sample_weights[i]
            if whole:
                weight = keeper.tables[np.int64(own), level] * mass
            else:
                weight = np.int64(np.rint(keeper.reals[np.int64(own), level] * float(mass)))
            marked |= weight
            _store(i, label, own, weight, state)
        state.marks[i] = marked != 0


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
        totals[n_blocks + (label >> 2), label & 3] += state.own[i]
        if state.sizes.size > 0:
            totals[2 * n_blocks, 0] += state.sizes[i]


@inner_kernel
def add_dense(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of all pairs of rows to their bins; rows hold a code for every feature."""
    n_blocks = state.weights.shape[0]
    n_features = np.uint64(rows.begins.size - 1)
    for part in range(sums.shape[0] - n_blocks + 1):
        for q in range(np.uint64(listed.size)):
            i = np.uint64(listed[q])
            if part < n_blocks:
                weights = state.weights[part, i]
                if (weights[0] | weights[1] | weights[2] | weights[3]) != 0:
                    out = sums[part]
                    for j in range(n_features):
                        code = rows.codes[i * n_features + j]
                        at = np.uint64(LANES) * (np.uint64(rows.begins[j]) + np.uint64(code))
                        blocks.add_block(out, at, weights)
            else:
                label = np.uint64(rows.labels[i]) if part == n_blocks else np.uint64(0)
                own = state.own[i] if part == n_blocks else state.sizes[i]
                if own != 0:
                    block = n_blocks + np.int64(label >> np.uint64(2))
                    out = sums[block if part == n_blocks else 2 * n_blocks]
                    lane = label & np.uint64(3)
                    for j in range(n_features):
                        code = rows.codes[i * n_features + j]
                        at = np.uint64(LANES) * (np.uint64(rows.begins[j]) + np.uint64(code))
                        out[at + lane] += own


@inner_kernel
def add_sparse(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of all pairs of rows to their bins; rows list some codes."""
    n_blocks = state.weights.shape[0]
    one = np.uint64(1)
    for part in range(sums.shape[0] - n_blocks + 1):
        for q in range(np.uint64(listed.size)):
            i = np.uint64(listed[q])
            begin, end = np.uint64(rows.begins[i]), np.uint64(rows.begins[i + one])
            if part < n_blocks:
                weights = state.weights[part, i]
                if (weights[0] | weights[1] | weights[2] | weights[3]) != 0:
                    out = sums[part]
                    for e in range(begin, end):
                        at = np.uint64(LANES) * np.uint64(rows.codes[e])
                        blocks.add_block(out, at, weights)
            else:
                label = np.uint64(rows.labels[i]) if part == n_blocks else np.uint64(0)
                own = state.own[i] if part == n_blocks else state.sizes[i]
                if own != 0:
                    block = n_blocks + np.int64(label >> np.uint64(2))
                    out = sums[block if part == n_blocks else 2 * n_blocks]
                    lane = label & np.uint64(3)
                    for e in range(begin, end):
                        out[np.uint64(LANES) * np.uint64(rows.codes[e]) + lane] += own


@inner_kernel
def weigh_nothing(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, keeper: Any
) -> None:
    """Mark no row: the rows are only divided."""
    for i in range(start, stop):
        state.marks[i] = 0


def pack(flat: Array, rows: BinnedRows, state: RowState) -> None:
    """Take the weights of all pairs, row by row."""
    n_labels = _n_labels(state)
    for i in range(np.uint64(state.marks.size)):
        marked = np.int64(0)
        for label in range(n_labels):
            weight = flat[i * n_labels + label]
            marked |= weight
            _store(i, label, label == np.uint64(rows.labels[i]), weight, state)
        state.marks[i] = marked != 0


def write_votes(state: RowState, nodes: Nodes, out: Array) -> None:
    """Write the votes of the leaf of every row for all labels: 1 for +1 and 0 for -1."""
    n_labels = _n_labels(state)
    for p in range(state.bounds.shape[0]):
        for node in range(nodes.at[N_NODES]):
            if nodes.questions[node, 3] == 0:
                for g in (0, 2):
                    for q in range(state.bounds[p, node, g, 0], state.bounds[p, node, g, 1]):
                        i = np.uint64(state.lists[p, g // 2, q])
                        for label in range(n_labels):
                            out[i * n_labels + label] = nodes.votes[node, label] > 0
