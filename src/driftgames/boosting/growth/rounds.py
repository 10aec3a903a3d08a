"""Whole rounds of boosting in one compiled call: weigh, grow, move, and again.

Every thread plays all rounds on its own rows and meets the others where it needs their sums. Thread
0 alone changes what all share: nodes, positions and the record.

A call ends after the rounds asked for, or where a tree has no edge, or where an array is too small;
`engine` then makes it larger and calls again. The next call goes on where the last one ended, in
the middle of a tree if need be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames._kernels.barrier import meet
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.nodes import (
    ASKS,
    FULL,
    GROWING,
    LISTED,
    MOVES,
    N_NODES,
    N_ROUNDS,
    N_STORED,
    STATUS,
    STEP,
    Nodes,
    number_nodes,
)
from driftgames.boosting.growth.rows import BinnedRows, RowState, join_totals, needs_sums

PLAYED, NO_EDGE, NODES_FULL, TALLY_FULL, RECORD_FULL = range(5)
"""How a call ends: all rounds are played, no tree has an edge, or an array is too small."""


@dataclass(frozen=True, eq=False)
class Record(Struct):
    """What is kept of the rounds: trees, one behind the other, and four numbers of each round."""

    n_nodes: Array
    questions: Array
    votes: Array
    gains: Array
    edges: Array
    vote_weights: Array
    zeros: Array
    """After each round, the mass that weighs zero in the next one."""
    wrong: Array
    """After each round, the mass that the vote gets wrong."""
    sums: Array
    """``sum_i w_i y_i h(x_i)`` and ``sum_i w_i`` of the last tree."""
    order: Array
    place: Array
    """Scratch buffers, one number for each node of a tree."""


# names for `specialise` to bind
plant: Callable[..., Any] = NotImplemented
find: Callable[..., Any] = NotImplemented
choose: Callable[..., Any] = NotImplemented
measure: Callable[..., Any] = NotImplemented
list_rows: Callable[..., Any] = NotImplemented
sum_root: Callable[..., Any] = NotImplemented
total_node: Callable[..., Any] = NotImplemented
ask: Callable[..., Any] = NotImplemented
divide: Callable[..., Any] = NotImplemented
sum_sides: Callable[..., Any] = NotImplemented
is_full: Callable[..., Any] = NotImplemented
sum_counts: Callable[..., Any] = NotImplemented
keep_edge: Callable[..., Any] = NotImplemented
begin_move: Callable[..., Any] = NotImplemented
move: Callable[..., Any] = NotImplemented
end_round: Callable[..., Any] = NotImplemented


def play(
    p: int,
    n_threads: int,
    until: int,
    rows: BinnedRows,
    state: RowState,
    keeper: Any,
    nodes: Nodes,
    record: Record,
    rule: Any,
    barrier: Array,
) -> int:
    """Play rounds until there are ``until`` of them; return how the call ended."""
    at = keeper.at
    while at[N_ROUNDS] < until:
        if not at[GROWING]:
            if is_full(keeper):
                return TALLY_FULL
            if at[N_STORED] + nodes.gains.size > record.gains.size:
                return RECORD_FULL
            if at[LISTED]:
                list_rows(p, n_threads, rows, state, keeper)
            if not sum_counts(p, state, keeper, nodes):
                sum_root(p, rows, state, nodes)
                total_node(p, np.int64(0), rows, state)
            meet(barrier, n_threads)
            if p == 0:
                join_totals(state, nodes)
                plant(nodes)
                at[STEP] = ASKS
                at[GROWING] = 1
            meet(barrier, n_threads)
        while True:
            if at[STEP] != FULL:
                find(p, rows.bins, nodes)
            meet(barrier, n_threads)
            if p == 0:
                at[STEP] = choose(rows.bins, nodes, 1)
                if at[STEP] == ASKS:
                    ask(nodes.asked[0], rows, state, nodes)
            meet(barrier, n_threads)
            if at[STEP] != ASKS:
                break
            if at[LISTED]:
                divide(p, nodes.asked[0], rows, state, nodes)
                if needs_sums(nodes.asked[0], nodes):
                    sum_sides(p, nodes.asked[0], rows, state, nodes)
            meet(barrier, n_threads)
        if at[STEP] == FULL:
            return NODES_FULL
        meet(barrier, n_threads)
        if p == 0:
            at[GROWING] = 0
            value, norm = measure(nodes)
            at[STATUS] = NO_EDGE
            record.sums[0] = value
            record.sums[1] = norm
            if value > 0:
                at[STATUS] = PLAYED
                store_tree(norm, keeper, nodes, record)
                if at[MOVES]:
                    keep_edge(value, norm, keeper, record)
                    begin_move(rows, state, keeper, nodes)
        meet(barrier, n_threads)
        if at[STATUS] == NO_EDGE or not at[MOVES]:
            return int(at[STATUS])
        move(p, rows, state, keeper, nodes)
        meet(barrier, n_threads)
        if p == 0:
            end_round(rule, keeper, record)
        meet(barrier, n_threads)
    return PLAYED


@inner_kernel
def store_tree(norm: int, keeper: Any, nodes: Nodes, record: Record) -> None:
    """Append the tree to the record, its nodes in the order of best-first growing."""
    at = keeper.at
    number_nodes(nodes, record.order, record.place)
    n_nodes = nodes.at[N_NODES]
    for n in range(n_nodes):
        node = record.order[n]
        to = at[N_STORED] + n
        left = nodes.questions[node, 3]
        if left > 0:
            for k in range(3):
                record.questions[to, k] = nodes.questions[node, k]
            record.questions[to, 3] = record.place[left]
            record.gains[to] = nodes.gains[node] / float(norm)
        else:
            record.questions[to, 0] = -1
            record.questions[to, 1] = 0
            record.questions[to, 2] = 0
            record.questions[to, 3] = 0
            record.gains[to] = 0.0
        for label in range(nodes.votes.shape[1]):
            record.votes[to, label] = 0 if left > 0 else nodes.votes[node, label]
    record.n_nodes[at[N_ROUNDS]] = n_nodes
    at[N_STORED] += n_nodes


def make_record(n_rounds: int, n_nodes: int, n_labels: int) -> Record:
    """Return a record with room for ``n_rounds`` rounds, and ``n_nodes`` nodes of all trees."""
    integers = np.int64
    return Record(
        n_nodes=np.zeros(n_rounds, integers),
        questions=np.zeros((n_nodes, 4), np.int32),
        votes=np.zeros((n_nodes, n_labels), np.int8),
        gains=np.zeros(n_nodes),
        edges=np.zeros(n_rounds),
        vote_weights=np.ones(n_rounds),
        zeros=np.zeros(n_rounds, integers),
        wrong=np.zeros(n_rounds, integers),
        sums=np.zeros(2, integers),
        order=np.zeros(n_nodes, integers),
        place=np.zeros(n_nodes, integers),
    )
