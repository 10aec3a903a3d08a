"""The rows of a fit: where each stands, what it weighs, and in which leaf it is.

A fit has arrays of its own and shares the bins with other fits. Rows whose sample weight is zero
are held out: they go through the trees, and their mistakes are counted, but they weigh nothing.

Rows are divided among threads in blocks. Each thread has lists of its own: first the rows of
nonzero weight, then those of weight zero. In a node the lists are cut into four groups: two classes
of nonzero weight, and two of weight zero. Pairs have one class.

Indices are unsigned: Numba then leaves out the code that makes negative ones count from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.growth.nodes import LISTED, N_FRESH, N_NODES, Nodes

BLOCK = 1024
"""Rows that a thread takes in turn with the others, so that all get rows of every kind."""


@dataclass(frozen=True, eq=False)
class BinnedRows(Struct):
    """The bins of the rows, which no fit changes."""

    split: int
    """The number of rows of class 0; with pairs, of all rows."""
    labels: Array
    """The class of each row, for pairs; else empty."""
    bins: FeatureBins
    counts: Array
    """The mass of each class in each bin of all features, for two classes."""
    begins: Array
    """Where the bins of a feature begin if rows hold a code for each, else where a row begins."""
    codes: Array
    list_starts: Array
    listed: Array
    listed_bins: Array
    """For each feature the rows outside of its commonest bin, if rows list codes."""


@dataclass(frozen=True, eq=False)
class RowState(Struct):
    """What a fit knows of each row."""

    sample_weights: Array
    sizes: Array
    """What each row adds to the size of a leaf, if leaves have a least size; else empty."""
    levels: Array
    """The number of mistakes of a row, or pair, up to a shift that its class shares."""
    weights: Array
    """The weights of the round: one for each row; for pairs, blocks of labels."""
    own: Array
    """The weight of the pair of a row and its own label; else empty."""
    marks: Array
    """Nonzero for the rows that have weight."""
    lists: Array
    """For each share the rows of nonzero weight, the rows of weight zero, and scratch."""
    bounds: Array
    """Where the rows of a share and a node begin and end, in each of four groups."""
    parts: Array
    """The totals of the root in each share."""
    columns: Array
    """The bins of features by columns: of all, or of some if rows list codes."""
    column_of: Array
    """Which column holds a feature, or -1."""
    owners: Array
    """Which feature a column holds, or -1; behind them, the number of the oldest."""
    goes_left: Array
    """For each bin of the feature asked about: 1 if it goes left, else 0."""
    asked_column: Array
    """The number of the column asked about."""


weigh_block: Callable[..., None] = NotImplemented  # names for `specialise` to bind
add_rows: Callable[..., None] = NotImplemented
add_totals: Callable[..., None] = NotImplemented
sum_root: Callable[..., None] = NotImplemented
ask: Callable[..., None] = NotImplemented
divide: Callable[..., None] = NotImplemented
sum_sides: Callable[..., None] = NotImplemented
list_rows: Callable[..., None] = NotImplemented
sum_rows: Callable[..., None] = NotImplemented
find_column: Callable[..., Any] = NotImplemented


def list_share(p: int, n_shares: int, rows: BinnedRows, state: RowState, keeper: Any) -> None:
    """Weigh the rows of a share, and list them by whether they have weight."""
    heavy, light = state.lists[p, 0], state.lists[p, 1]
    n_heavy = np.uint64(0)
    n_light = np.uint64(0)
    bounds = state.bounds[p, 0]
    for c in range(2):
        bounds[c, 0] = n_heavy
        bounds[c + 2, 0] = n_light
        first = rows.split if c == 1 else 0
        end = state.marks.size if c == 1 else rows.split
        for start in range(first + p * BLOCK, end, n_shares * BLOCK):
            stop = min(start + BLOCK, end)
            weigh_block(c, start, stop, rows, state, keeper)
            for i in range(np.uint64(start), np.uint64(stop)):
                heavy[n_heavy] = i  # both are written and one is kept: the loop has no branch
                light[n_light] = i
                weighs = np.uint64(state.marks[i] != 0)
                n_heavy += weighs
                n_light += np.uint64(1) - weighs
        bounds[c, 1] = n_heavy
        bounds[c + 2, 1] = n_light


def follow(n_shares: int, rows: BinnedRows, state: RowState, keeper: Any, nodes: Nodes) -> None:
    """Send the rows of all shares to the leaves of a tree."""
    for p in range(n_shares):
        list_rows(p, n_shares, rows, state, keeper)
    for node in range(nodes.at[N_NODES]):
        if nodes.questions[node, 3] > 0:
            ask(node, rows, state, nodes)
            for p in range(n_shares):
                divide(p, node, rows, state, nodes)


def sum_all(p: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Write the sums of the root over the rows of a share."""
    sum_rows(p, np.int64(0), np.int64(0), rows, state, nodes)


def total_node(p: int, node: int, rows: BinnedRows, state: RowState) -> None:
    """Write the totals of a node over the rows of a share to ``parts``."""
    totals = state.parts[p]
    for k in range(totals.shape[0]):
        for lane in range(totals.shape[1]):
            totals[k, lane] = 0
    for c in range(2):
        bounds = state.bounds[p, node, c]
        add_totals(c, state.lists[p, 0, bounds[0] : bounds[1]], rows, state, totals)


@inner_kernel
def join_totals(state: RowState, nodes: Nodes) -> None:
    """Add up the totals of the root over all shares."""
    totals = nodes.totals[0]
    for k in range(totals.shape[0]):
        for lane in range(totals.shape[1]):
            totals[k, lane] = 0
            for p in range(state.parts.shape[0]):
                totals[k, lane] += state.parts[p, k, lane]


def sum_node(p: int, node: int, slot: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Write the sums of a share and a node to a slot."""
    sums = nodes.sums[p, slot]
    for k in range(sums.shape[0]):
        for b in range(sums.shape[1]):
            sums[k, b] = 0
    for c in range(2):
        bounds = state.bounds[p, node, c]
        add_rows(c, state.lists[p, 0, bounds[0] : bounds[1]], rows, state, sums)


def look_up(node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Look up which rows the question of a node sends left."""
    feature, cut = nodes.questions[node, 0], nodes.questions[node, 1]
    state.asked_column[0] = find_column(feature, rows, state)
    for b in range(256):
        state.goes_left[b] = b <= cut
    if rows.bins.missing[feature]:
        last = rows.bins.offsets[feature + 1] - rows.bins.offsets[feature] - 1
        state.goes_left[last] = nodes.questions[node, 2]


def divide_share(p: int, node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Divide the rows of a share by the question of the node that was asked."""
    left = nodes.questions[node, 3]
    column = state.columns[state.asked_column[0]]
    scratch = state.lists[p, 2]
    for g in range(4):
        first, end = state.bounds[p, node, g, 0], state.bounds[p, node, g, 1]
        middle = first + _part(state.lists[p, g // 2, first:end], column, state.goes_left, scratch)
        state.bounds[p, left, g, 0] = first
        state.bounds[p, left, g, 1] = middle
        state.bounds[p, left + 1, g, 0] = middle
        state.bounds[p, left + 1, g, 1] = end


@inner_kernel
def _part(rows: Array, column: Array, goes_left: Array, scratch: Array) -> Any:
    """Move the rows that go left to the front, in order, and return how many they are."""
    n_left = np.uint64(0)
    n_right = np.uint64(0)
    for q in range(np.uint64(rows.size)):
        i = rows[q]
        goes = np.uint64(goes_left[column[np.uint64(i)]])
        rows[n_left] = i  # both are written and one is kept: the loop has no branch
        scratch[n_right] = i
        n_left += goes
        n_right += np.uint64(1) - goes
    for q in range(n_right):
        rows[n_left + q] = scratch[q]
    return np.int64(n_left)


def sum_both(p: int, node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Write the sums of both sides of a node that is divided: the smaller is summed."""
    left = nodes.questions[node, 3]
    slot, held = nodes.slots[left], nodes.slots[left + 1]
    smaller = left + (_n_heavy(state.bounds[p], left) > _n_heavy(state.bounds[p], left + 1))
    sum_rows(p, smaller, slot, rows, state, nodes)
    sums = nodes.sums[p]
    for k in range(sums.shape[1]):
        for b in range(sums.shape[2]):
            other = sums[held, k, b] - sums[slot, k, b]  # the node's less one side's
            if smaller == left:
                sums[held, k, b] = other
            else:
                sums[held, k, b] = sums[slot, k, b]
                sums[slot, k, b] = other


@inner_kernel
def _n_heavy(bounds: Array, node: int) -> Any:
    """Return the number of rows of nonzero weight."""
    return bounds[node, 0, 1] - bounds[node, 0, 0] + bounds[node, 1, 1] - bounds[node, 1, 0]


@inner_kernel
def needs_sums(node: int, nodes: Nodes) -> bool:
    """Return whether a side of a node is looked at for a question."""
    left = nodes.questions[node, 3]
    for f in range(nodes.at[N_FRESH]):
        if nodes.fresh[f] == left or nodes.fresh[f] == left + 1:
            return True
    return False


@inner_kernel
def dense_column(feature: int, rows: BinnedRows, state: RowState) -> Any:
    """Return the number of the column that holds a feature."""
    return feature


@inner_kernel
def sparse_column(feature: int, rows: BinnedRows, state: RowState) -> Any:
    """Return the column that holds a feature; if none does, the oldest is written over."""
    slot = state.column_of[feature]
    if slot >= 0:
        return slot
    n_slots = state.columns.shape[0]
    slot = state.owners[n_slots]
    state.owners[n_slots] = (slot + 1) % n_slots
    if state.owners[slot] >= 0:
        state.column_of[state.owners[slot]] = -1
    state.owners[slot] = feature
    state.column_of[feature] = slot
    column = state.columns[slot]
    for i in range(column.size):
        column[i] = rows.bins.implicit[feature]
    for e in range(rows.list_starts[feature], rows.list_starts[feature + 1]):
        column[np.uint64(rows.listed[e])] = rows.listed_bins[e]
    return slot


sum_counts: Callable[..., bool] = NotImplemented


def begin(rows: BinnedRows, state: RowState, keeper: Any, nodes: Nodes) -> None:
    """List the rows of a single share, and sum its root."""
    if keeper.at[LISTED]:
        list_rows(np.int64(0), np.int64(1), rows, state, keeper)
    if not sum_counts(np.int64(0), state, keeper, nodes):
        sum_root(np.int64(0), rows, state, nodes)


def divide_node(
    node: int, sums: bool, rows: BinnedRows, state: RowState, keeper: Any, nodes: Nodes
) -> None:
    """Divide the rows of a single share at a node; sum both sides if asked to."""
    ask(node, rows, state, nodes)
    divide(np.int64(0), node, rows, state, nodes)
    if sums:
        sum_sides(np.int64(0), node, rows, state, nodes)
