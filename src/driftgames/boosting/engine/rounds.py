"""Whole rounds of boosting in one compiled call: weigh, grow, move, and again.

Every thread plays all rounds on its own rows and meets the others where it needs their sums. Thread
0 alone changes what all share: nodes, positions and the record.

A call of `play` ends after the rounds asked for, or where a tree has no edge, or where an array is
too small; `mistake_engine` then makes it larger and calls again. The next call goes on where the
last one ended, in the middle of a tree if need be.

The other kernels take a single step of a round, for trees that grow elsewhere: `begin_share`,
`divide_share` and `total_share` on the rows of one share, and `grow_remotely` without any rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.barrier import meet
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.structs import Struct
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.engine.nodes import (
    ASKS,
    FULL,
    GROWN,
    Nodes,
    Record,
    choose_leaves,
    find_questions,
    measure_edge,
    plant_root,
    store_tree,
)
from driftgames.boosting.engine.positions import (
    Positions,
    Rule,
    begin_move,
    end_round,
    keep_edge,
    sum_counts,
    tally_is_full,
)
from driftgames.boosting.engine.rows import (
    BinnedRows,
    RowState,
    ask,
    divide,
    join_totals,
    list_rows,
    needs_sums,
    sum_node,
    sum_sides,
    total_node,
)

sides = Part("sides")

PLAYED, NO_EDGE, NODES_FULL, TALLY_FULL, RECORD_FULL = range(5)
"""How a call ends: all rounds are played, no tree has an edge, or an array is too small."""

_ROOT: Any = np.int64(0)  # the first node, slot and share; typed, for one signature
_ONE: Any = np.int64(1)


@dataclass(frozen=True, eq=False)
class GameArrays(Struct):
    """What the steps of a round work on."""

    rows: BinnedRows
    state: RowState
    positions: Positions
    nodes: Nodes
    record: Record
    barrier: Array
    """Where the threads meet."""
    n_threads: int


@kernel
def play(p: int, until: int, arrays: GameArrays, rule: Rule) -> int:
    """Play rounds in thread ``p`` until there are ``until`` of them; return how the call ended."""
    rows, state = arrays.rows, arrays.state
    positions, nodes, record = arrays.positions, arrays.nodes, arrays.record
    progress = record.counters[0]
    while progress.n_rounds < until:
        if not progress.growing:
            if tally_is_full(positions):
                return TALLY_FULL
            if progress.n_nodes + nodes.gains.size > record.gains.size:
                return RECORD_FULL
            _begin_tree(p, arrays)
        _grow_tree(p, arrays)
        if progress.step == FULL:
            return NODES_FULL
        meet(arrays.barrier, arrays.n_threads)
        if p == 0:
            _end_tree(arrays)
        meet(arrays.barrier, arrays.n_threads)
        if progress.status == NO_EDGE or not positions.moves:
            return int(progress.status)
        sides.move(p, progress.n_rounds + 1, rows, state, positions, nodes)
        meet(arrays.barrier, arrays.n_threads)
        if p == 0:
            end_round(rule, positions, record)
        meet(arrays.barrier, arrays.n_threads)
    return PLAYED


@inner_kernel
def _begin_tree(p: int, arrays: GameArrays) -> None:
    """Weigh the rows, and sum the root."""
    rows, state, positions, nodes = arrays.rows, arrays.state, arrays.positions, arrays.nodes
    n_threads, barrier = arrays.n_threads, arrays.barrier
    if positions.counters[0].listed:
        list_rows(p, n_threads, True, rows, state, positions)
    if not sum_counts(p, state, positions, nodes):
        sum_node(p, _ROOT, _ROOT, rows, state, nodes)
        total_node(p, _ROOT, rows, state)
    meet(barrier, n_threads)
    if p == 0:
        join_totals(state, nodes)
        plant_root(nodes)
        arrays.record.counters[0].step = ASKS
        arrays.record.counters[0].growing = 1
    meet(barrier, n_threads)


@inner_kernel
def _grow_tree(p: int, arrays: GameArrays) -> None:
    """Divide one leaf after another until the tree is grown, or the nodes are full."""
    rows, state, positions, nodes = arrays.rows, arrays.state, arrays.positions, arrays.nodes
    n_threads, barrier = arrays.n_threads, arrays.barrier
    progress = arrays.record.counters[0]
    while True:
        if progress.step != FULL:  # else the questions of these leaves are known
            find_questions(p, rows.bins, nodes)
        meet(barrier, n_threads)
        if p == 0:
            progress.step = choose_leaves(rows.bins, nodes, 1)
            if progress.step == ASKS:
                ask(nodes.asked[0], rows, state, nodes)
        meet(barrier, n_threads)
        if progress.step != ASKS:
            break
        if positions.counters[0].listed:
            divide(p, nodes.asked[0], rows, state, nodes)
            if needs_sums(nodes.asked[0], nodes):
                sum_sides(p, nodes.asked[0], rows, state, nodes)
        meet(barrier, n_threads)


@inner_kernel
def _end_tree(arrays: GameArrays) -> None:
    """Keep the tree if it has an edge, and choose which rows move by it."""
    positions, nodes, record = arrays.positions, arrays.nodes, arrays.record
    progress = record.counters[0]
    progress.growing = 0
    value, norm = measure_edge(nodes)
    progress.value = value
    progress.norm = norm
    progress.status = NO_EDGE
    if value > 0:
        progress.status = PLAYED
        store_tree(norm, nodes, record)
        if positions.moves:
            keep_edge(value, norm, positions, record)
            begin_move(arrays.rows, arrays.state, positions, nodes)


@kernel
def move_all(
    rows: BinnedRows,
    state: RowState,
    positions: Positions,
    nodes: Nodes,
    record: Record,
    rule: Rule,
) -> None:
    """Count the mistakes of a tree whose leaves hold the rows; weights are set later."""
    if not positions.counters[0].listed:
        ask(_ROOT, rows, state, nodes)
    begin_move(rows, state, positions, nodes)
    for p in range(positions.moved.shape[0]):
        sides.move(p, record.counters[0].n_rounds + 1, rows, state, positions, nodes)
    end_round(rule, positions, record)


@kernel
def begin_share(rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes) -> None:
    """List the rows of a single share, and sum its root."""
    if positions.counters[0].listed:
        list_rows(_ROOT, _ONE, True, rows, state, positions)
    if not sum_counts(_ROOT, state, positions, nodes):
        sum_node(_ROOT, _ROOT, _ROOT, rows, state, nodes)


@kernel
def divide_share(
    node: int, sums: bool, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Divide the rows of a single share at a node; sum both sides if asked to."""
    ask(node, rows, state, nodes)
    divide(_ROOT, node, rows, state, nodes)
    if sums:
        sum_sides(_ROOT, node, rows, state, nodes)


@kernel
def total_share(node: int, rows: BinnedRows, state: RowState) -> None:
    """Write the totals of a node over the rows of a single share."""
    total_node(_ROOT, node, rows, state)


@kernel
def grow_remotely(begins: bool, most: int, bins: FeatureBins, nodes: Nodes, record: Record) -> Any:
    """Look at the sums of fresh leaves, and choose the leaves that are divided next."""
    if begins:
        plant_root(nodes)
    find_questions(_ROOT, bins, nodes)
    step = choose_leaves(bins, nodes, most)
    if step == GROWN:
        value, norm = measure_edge(nodes)
        record.counters[0].value = value
        record.counters[0].norm = norm
        store_tree(norm, nodes, record)
    return step
