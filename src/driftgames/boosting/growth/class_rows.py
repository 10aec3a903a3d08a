"""Rows of two classes: what they weigh, their sums in bins, and how their mistakes are counted.

Rows are sorted by class, class 0 first. `pair_rows` has the same functions for several classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.nodes import N_NODES, REAL, WEIGHS, WHOLE, Nodes
from driftgames.boosting.growth.rows import BinnedRows, RowState


@inner_kernel
def weigh_block(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, keeper: Any
) -> None:
    """Write the weights of a block: the weight of each level times the sample weight."""
    if keeper.at[WEIGHS] == WHOLE:
        whole = keeper.tables[c]
        for i in range(np.uint64(start), np.uint64(stop)):
            state.weights[i] = whole[np.uint64(state.levels[i])] * state.sample_weights[i]
    elif keeper.at[WEIGHS] == REAL:
        real = keeper.reals[c]
        for i in range(np.uint64(start), np.uint64(stop)):
            product = real[np.uint64(state.levels[i])] * float(state.sample_weights[i])
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
def add_dense(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of rows to their bins; rows hold a code for every feature."""
    _add_dense(listed, state.weights, rows.codes, rows.begins, sums[c])
    if state.sizes.size > 0:
        _add_dense(listed, state.sizes, rows.codes, rows.begins, sums[2])


@inner_kernel
def _add_dense(listed: Array, weights: Array, codes: Array, offsets: Array, out: Array) -> None:
    one = np.uint64(1)
    width = np.uint64(offsets.size - 1)
    n_rows = np.uint64(listed.size)
    for q in range(n_rows):
        ahead = np.uint64(listed[q + AHEAD if q + AHEAD < n_rows else q])
        prefetch(weights, ahead)
        prefetch(codes, ahead * width)
        prefetch(codes, ahead * width + width - one)
        i = np.uint64(listed[q])
        weight = weights[i]
        for j in range(width):
            out[np.uint64(offsets[j]) + np.uint64(codes[i * width + j])] += weight


@inner_kernel
def add_sparse(c: int, listed: Array, rows: BinnedRows, state: RowState, sums: Array) -> None:
    """Add the weights of rows to their bins; rows list some codes."""
    _add_sparse(listed, state.weights, rows.codes, rows.begins, sums[c])
    if state.sizes.size > 0:
        _add_sparse(listed, state.sizes, rows.codes, rows.begins, sums[2])


@inner_kernel
def _add_sparse(listed: Array, weights: Array, codes: Array, starts: Array, out: Array) -> None:
    one = np.uint64(1)
    n_rows = np.uint64(listed.size)
    for q in range(n_rows):
        ahead = np.uint64(listed[q + AHEAD if q + AHEAD < n_rows else q])
        prefetch(weights, ahead)
        prefetch(codes, np.uint64(starts[ahead]))
        i = np.uint64(listed[q])
        weight = weights[i]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
            out[codes[e]] += weight


@inner_kernel
def weigh_nothing(
    c: int, start: int, stop: int, rows: BinnedRows, state: RowState, keeper: Any
) -> None:
    """Write zero weights: the rows are only divided."""
    for i in range(start, stop):
        state.weights[i] = 0


def write_votes(state: RowState, nodes: Nodes, out: Array) -> None:
    """Write the vote of the leaf of every row: 1 for +1 and 0 for -1."""
    for p in range(state.bounds.shape[0]):
        for node in range(nodes.at[N_NODES]):
            if nodes.questions[node, 3] == 0:
                for g in range(4):
                    for q in range(state.bounds[p, node, g, 0], state.bounds[p, node, g, 1]):
                        out[np.uint64(state.lists[p, g // 2, q])] = nodes.votes[node, 0] > 0
