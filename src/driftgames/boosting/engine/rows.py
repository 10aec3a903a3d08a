"""The rows of a fit: where each stands, what it weighs, and in which leaf it is.

A fit has arrays of its own and shares the bins with other fits. Rows whose sample weight is zero
are held out: they go through the trees, and their mistakes are counted, but they weigh nothing.

Rows are divided among threads in blocks. Each thread has lists of its own: first the rows of
nonzero weight, then those of weight zero. In a node the lists are cut into four groups: two classes
of nonzero weight, and two of weight zero. Pairs have one class.

The loops are compiled for the ``sides`` of `two_classes` or `several_classes`, and for the
``layout`` of `dense_rows` or `sparse_rows`. Indices are unsigned: Numba then leaves out the code
that makes negative ones count from the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.structs import Struct
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.engine.nodes import Nodes

sides, layout = Part("sides"), Part("layout")

BLOCK = 1024
"""Rows that a thread takes in turn with the others, so that all get rows of every kind."""


@dataclass(frozen=True, eq=False)
class BinnedRows(Struct):
    """The bins of the rows, which no fit changes."""

    split: int
    """The number of rows of class 0; with pairs, of all rows."""
    labels: Array
    """For pairs the class of each row, or how many thresholds are below its outcome; else empty."""
    gaps: Array
    """The mass of a pair with each threshold; else empty."""
    bins: FeatureBins
    counts: Array
    """The mass of each class in each bin of all features, for two classes."""
    codes: Array
    """The bins of the rows, one row after the other."""
    starts: Array
    """Where the codes of each row begin, if rows list codes; else empty."""
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
    label_weights: Array
    """The weight of the pair of a row and its own label; else empty."""
    has_weight: Array
    """Nonzero for the rows that have weight."""
    lists: Array
    """For each share the rows of nonzero weight, the rows of weight zero, and scratch."""
    begins: Array
    ends: Array
    """Where the rows of a share and a node begin and end, in each of four groups."""
    share_totals: Array
    """The totals of a node in each share."""
    columns: Array
    """The bins of features by columns: of all, or of some if rows list codes."""
    column_of: Array
    """Which column holds a feature, or -1."""
    features_held: Array
    """Which feature a column holds, or -1."""
    counters: Array
    """One record: the column asked about, and the column that was written first."""
    goes_left: Array
    """For each bin of the feature asked about: 1 if it goes left, else 0."""


COUNTERS = "asked_column", "oldest_column"
"""The counters of a `RowState`."""


@inner_kernel
def list_rows(
    p: int, n_shares: int, weighs: bool, rows: BinnedRows, state: RowState, positions: Any
) -> None:
    """List the rows of a share by whether they have weight, after it ``weighs`` them.

    Otherwise all rows have weight zero: they are only divided.
    """
    heavy, light = state.lists[p, 0], state.lists[p, 1]
    n_heavy = np.uint64(0)
    n_light = np.uint64(0)
    begins, ends = state.begins[p, 0], state.ends[p, 0]
    for c in range(2):
        begins[c] = n_heavy
        begins[c + 2] = n_light
        first = rows.split if c == 1 else 0
        end = state.has_weight.size if c == 1 else rows.split
        for start in range(first + p * BLOCK, end, n_shares * BLOCK):
            stop = min(start + BLOCK, end)
            if weighs:
                sides.weigh_block(c, start, stop, rows, state, positions)
            else:
                for i in range(start, stop):
                    state.has_weight[i] = 0
            for i in range(np.uint64(start), np.uint64(stop)):
                heavy[n_heavy] = i  # both are written and one is kept: the loop has no branch
                light[n_light] = i
                counts = np.uint64(state.has_weight[i] != 0)
                n_heavy += counts
                n_light += np.uint64(1) - counts
        ends[c] = n_heavy
        ends[c + 2] = n_light


@kernel
def follow(n_shares: int, rows: BinnedRows, state: RowState, positions: Any, nodes: Nodes) -> None:
    """Send the rows of all shares to the leaves of a tree."""
    for p in range(n_shares):
        list_rows(p, n_shares, False, rows, state, positions)
    for node in range(nodes.counters[0].n_nodes):
        if nodes.left[node] > 0:
            ask(node, rows, state, nodes)
            for p in range(n_shares):
                divide(p, node, rows, state, nodes)


@inner_kernel
def total_node(p: int, node: int, rows: BinnedRows, state: RowState) -> None:
    """Write the totals of a node over the rows of a share to ``share_totals``."""
    totals = state.share_totals[p]
    for k in range(totals.shape[0]):
        for lane in range(totals.shape[1]):
            totals[k, lane] = 0
    for c in range(2):
        listed = state.lists[p, 0, state.begins[p, node, c] : state.ends[p, node, c]]
        sides.add_totals(c, listed, rows, state, totals)


@inner_kernel
def join_totals(state: RowState, nodes: Nodes) -> None:
    """Add up the totals of the root over all shares."""
    totals = nodes.totals[0]
    for k in range(totals.shape[0]):
        for lane in range(totals.shape[1]):
            totals[k, lane] = 0
            for p in range(state.share_totals.shape[0]):
                totals[k, lane] += state.share_totals[p, k, lane]


@inner_kernel
def sum_node(p: int, node: int, slot: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Write the sums of a share and a node to a slot."""
    sums = nodes.sums[p, slot]
    for k in range(sums.shape[0]):
        for b in range(sums.shape[1]):
            sums[k, b] = 0
    for c in range(2):
        listed = state.lists[p, 0, state.begins[p, node, c] : state.ends[p, node, c]]
        sides.add_rows(c, listed, rows, state, sums)


@inner_kernel
def ask(node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Look up which rows the question of a node sends left."""
    feature, cut = nodes.feature[node], nodes.cut[node]
    state.counters[0].asked_column = layout.find_column(feature, rows, state)
    for b in range(256):
        state.goes_left[b] = b <= cut
    if rows.bins.missing[feature]:
        last = rows.bins.offsets[feature + 1] - rows.bins.offsets[feature] - 1
        state.goes_left[last] = nodes.missing_left[node]


@inner_kernel
def divide(p: int, node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Divide the rows of a share by the question of the node that was asked."""
    left = nodes.left[node]
    column = state.columns[state.counters[0].asked_column]
    scratch = state.lists[p, 2]
    for g in range(4):
        begin, end = state.begins[p, node, g], state.ends[p, node, g]
        n_left = _part(state.lists[p, g // 2, begin:end], column, state.goes_left, scratch)
        state.begins[p, left, g] = begin
        state.ends[p, left, g] = begin + n_left
        state.begins[p, left + 1, g] = begin + n_left
        state.ends[p, left + 1, g] = end


@inner_kernel
def _part(listed: Array, column: Array, goes_left: Array, scratch: Array) -> Any:
    """Move the rows that go left to the front, in order, and return how many they are."""
    n_left = np.uint64(0)
    n_right = np.uint64(0)
    for q in range(np.uint64(listed.size)):
        i = listed[q]
        goes = np.uint64(goes_left[column[np.uint64(i)]])
        listed[n_left] = i  # both are written and one is kept: the loop has no branch
        scratch[n_right] = i
        n_left += goes
        n_right += np.uint64(1) - goes
    for q in range(n_right):
        listed[n_left + q] = scratch[q]
    return np.int64(n_left)


@inner_kernel
def sum_sides(p: int, node: int, rows: BinnedRows, state: RowState, nodes: Nodes) -> None:
    """Write the sums of both sides of a node that is divided: the smaller is summed."""
    left = nodes.left[node]
    slot, node_slot = nodes.slots[left], nodes.slots[left + 1]
    smaller = left + (_n_heavy(p, left, state) > _n_heavy(p, left + 1, state))
    sum_node(p, smaller, slot, rows, state, nodes)
    sums = nodes.sums[p]
    for k in range(sums.shape[1]):
        for b in range(sums.shape[2]):
            other = sums[node_slot, k, b] - sums[slot, k, b]  # the node's less one side's
            if smaller == left:
                sums[node_slot, k, b] = other
            else:
                sums[node_slot, k, b] = sums[slot, k, b]
                sums[slot, k, b] = other


@inner_kernel
def _n_heavy(p: int, node: int, state: RowState) -> Any:
    """Return the number of rows of nonzero weight in a node."""
    begins, ends = state.begins[p, node], state.ends[p, node]
    return ends[0] - begins[0] + ends[1] - begins[1]


@inner_kernel
def needs_sums(node: int, nodes: Nodes) -> bool:
    """Return whether a side of a node is looked at for a question."""
    left = nodes.left[node]
    for f in range(nodes.counters[0].n_fresh):
        if nodes.fresh[f] == left or nodes.fresh[f] == left + 1:
            return True
    return False
