"""How rows move after a round: those that erred go up a level, or the others down.

A move is cheap where the smaller side of a class moves. The tally, if it is kept, counts every row
that moves in all its bins. `positions` tells what levels and the tally are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array, first_from
from driftgames.boosting.growth.nodes import LISTED, N_NODES, N_ROUNDS, Nodes
from driftgames.boosting.growth.positions import (
    FIRST,
    N_COSTLY,
    TALLIED,
    WIDTH,
    Positions,
    Rule,
    end_round,
)
from driftgames.boosting.growth.rounds import Record
from driftgames.boosting.growth.rows import BinnedRows, RowState

_MOVE = 2.3  # entering a row in the tally, relative to adding its weight to a bin
_COUNT = 0.3  # adding up a count, relative to adding a weight to a bin

enter: Callable[..., None] = NotImplemented  # names for `specialise` to bind
move_column: Callable[..., None] = NotImplemented
move_leaves: Callable[..., None] = NotImplemented
move: Callable[..., None] = NotImplemented
ask: Callable[..., None] = NotImplemented


@inner_kernel
def begin_move(rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes) -> None:
    """Choose which rows of each class move: those that err, or the others if they are fewer."""
    n_moved = np.int64(0)
    for c in range(2):
        positions.rise[c] = True
        if positions.at[TALLIED]:
            erring, others = _sizes(c, rows, state, positions, nodes)
            positions.rise[c] = erring <= others
            n_moved += min(erring, others)
    if positions.at[TALLIED]:
        n_heavy = np.int64(0)
        for c in range(2):
            for level in range(positions.low[c], positions.high[c] + 1):
                if positions.tables[c, level] > 0:
                    n_heavy += positions.masses[c, level + positions.shift[c]]
        _judge_tally(n_moved, n_heavy, positions)


@inner_kernel
def _sizes(
    c: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> tuple[Any, Any]:
    """Return how many examples of a class err, and how many do not."""
    sizes = np.int64(0), np.int64(0)
    if not positions.at[LISTED]:
        offsets = rows.bins.offsets
        feature = nodes.questions[0, 0]
        for b in range(offsets[feature + 1] - offsets[feature]):
            side = 1 if state.goes_left[b] else 2
            size = rows.counts[c, offsets[feature] + b]
            errs = (nodes.votes[side, 0] > 0) != (c == 1)
            sizes = sizes[0] + (size if errs else 0), sizes[1] + (0 if errs else size)
        return sizes
    for node in range(nodes.at[N_NODES]):
        if nodes.questions[node, 3] == 0:
            errs = (nodes.votes[node, 0] > 0) != (c == 1)
            for p in range(state.bounds.shape[0]):
                size = np.int64(0)
                for g in (c, c + 2):
                    size += state.bounds[p, node, g, 1] - state.bounds[p, node, g, 0]
                sizes = sizes[0] + (size if errs else 0), sizes[1] + (0 if errs else size)
    return sizes


@inner_kernel
def _judge_tally(n_moved: Any, n_heavy: Any, positions: Positions) -> None:
    """Give the tally up if it has been costlier than sums over the rows in too many rounds."""
    n_levels = positions.high[0] - positions.low[0] + positions.high[1] - positions.low[1] + 2
    n_counts = float(n_levels * positions.tally.shape[3])
    per_row = positions.edges[1]  # the mean number of codes that a row lists
    costly = _MOVE * n_moved * per_row + _COUNT * n_counts > n_heavy * per_row
    positions.at[N_COSTLY] = max(positions.at[N_COSTLY] + (1 if costly else -1), 0)


def move_rows(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of the tree on the rows of a share."""
    if positions.at[LISTED]:
        move_leaves(p, rows, state, positions, nodes)
    else:
        move_column(p, rows, state, positions, nodes)


def move_all(
    rows: BinnedRows,
    state: RowState,
    positions: Positions,
    nodes: Nodes,
    record: Record,
    rule: Rule,
) -> None:
    """Count the mistakes of a tree whose leaves hold the rows; weights are set later."""
    if not positions.at[LISTED]:
        ask(np.int64(0), rows, state, nodes)
    begin_move(rows, state, positions, nodes)
    for p in range(positions.moved.shape[0]):
        move(p, rows, state, positions, nodes)
    end_round(rule, positions, record)


def move_listed(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of the tree on the rows of a share, which are in its leaves."""
    _clear_moved(p, positions)
    for node in range(nodes.at[N_NODES]):
        if nodes.questions[node, 3] == 0:
            for g in range(4):
                c = g % 2
                errs = (nodes.votes[node, 0] > 0) != (c == 1)
                if errs == positions.rise[c]:
                    bounds = state.bounds[p, node, g]
                    listed = state.lists[p, g // 2, bounds[0] : bounds[1]]
                    shift_rows(p, c, listed, state, positions)
                    if positions.at[TALLIED]:
                        enter(p, c, listed, rows, state, positions)


@inner_kernel
def _clear_moved(p: int, positions: Positions) -> None:
    first, width = positions.at[FIRST], positions.at[WIDTH]
    for c in range(2):
        for k in range(first, first + width):
            if k >= positions.shift[c]:
                positions.moved[p, c, k - positions.shift[c]] = 0


@inner_kernel
def shift_rows(p: int, c: int, listed: Array, state: RowState, positions: Positions) -> None:
    """Move rows of one class by a level, and add their sample weights to ``moved``."""
    step = np.int64(1) if positions.rise[c] else np.int64(-1)
    moved = positions.moved[p, c]
    for q in range(np.uint64(listed.size)):
        i = np.uint64(listed[q])
        level = np.int64(state.levels[i])
        moved[np.uint64(level)] += state.sample_weights[i]
        state.levels[i] = level + step


@inner_kernel
def _count_row(p: int, c: int, i: Any, state: RowState, positions: Positions) -> tuple[Any, Any]:
    """Return the level whose counts change for a row that has moved, and by how much."""
    level = np.int64(state.levels[i]) - positions.base[c]
    count = np.int32(state.sample_weights[i])
    if positions.rise[c]:
        return np.uint64(level), count
    return np.uint64(level + 1), -count


@inner_kernel
def enter_dense(
    p: int, c: int, listed: Array, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Count rows that have moved in the bins of every feature."""
    one = np.uint64(1)
    n_rows, width = np.uint64(listed.size), np.uint64(rows.begins.size - 1)
    last = np.uint64(positions.tally.shape[3] - 1)
    for q in range(n_rows):
        ahead = np.uint64(listed[min(q + AHEAD, n_rows - one)]) * width
        prefetch(rows.codes, ahead)
        prefetch(rows.codes, ahead + width - one)
        i = np.uint64(listed[q])
        if state.sample_weights[i] != 0:  # rows held out are not counted
            level, count = _count_row(p, c, i, state, positions)
            counts = positions.tally[p, c, level]
            counts[last] += count
            for j in range(width):
                code = rows.codes[i * width + j]
                counts[np.uint64(rows.begins[j]) + np.uint64(code)] += count


@inner_kernel
def enter_sparse(
    p: int, c: int, listed: Array, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Count rows that have moved in the bins that they list."""
    one = np.uint64(1)
    n_rows = np.uint64(listed.size)
    last = np.uint64(positions.tally.shape[3] - 1)
    for q in range(n_rows):
        ahead = np.uint64(listed[min(q + AHEAD, n_rows - one)])
        prefetch(rows.codes, np.uint64(rows.begins[ahead]))
        i = np.uint64(listed[q])
        if state.sample_weights[i] != 0:
            level, count = _count_row(p, c, i, state, positions)
            counts = positions.tally[p, c, level]
            counts[last] += count
            for e in range(np.uint64(rows.begins[i]), np.uint64(rows.begins[i + one])):
                counts[rows.codes[e]] += count


def move_dense_column(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of a stump on the rows of a share, which are not listed."""
    _clear_moved(p, positions)
    column = state.columns[nodes.questions[0, 0]]
    collected = positions.collected[p]
    for c in range(2):
        errs_left = (nodes.votes[1, 0] > 0) != (c == 1)
        wanted = np.uint8(errs_left == positions.rise[c])  # the side that moves
        i = np.uint64(positions.ends[p, c, 0])
        end = np.uint64(positions.ends[p, c, 1])
        while i < end:
            n = np.uint64(0)
            stop = min(end, i + np.uint64(collected.size))
            while i < stop:
                collected[n] = i
                n += np.uint64(state.goes_left[column[i]] == wanted)
                i += np.uint64(1)
            shift_rows(p, c, collected[:n], state, positions)
            enter(p, c, collected[:n], rows, state, positions)


def move_sparse_column(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Do the same where a feature lists the rows outside of its commonest bin."""
    _clear_moved(p, positions)
    feature = nodes.questions[0, 0]
    collected, common = positions.collected[p], state.goes_left[rows.bins.implicit[feature]]
    mine = slice(rows.list_starts[feature], rows.list_starts[feature + 1])
    listed, listed_bins = rows.listed[mine], rows.listed_bins[mine]
    for c in range(2):
        errs_left = (nodes.votes[1, 0] > 0) != (c == 1)
        wanted = np.uint8(errs_left == positions.rise[c])
        i = np.uint64(positions.ends[p, c, 0])
        end = np.uint64(positions.ends[p, c, 1])
        e = np.uint64(first_from(listed, 0, listed.size, positions.ends[p, c, 0]))
        last = np.uint64(first_from(listed, 0, listed.size, positions.ends[p, c, 1]))
        if common != wanted:  # only listed rows move
            i = end
        while i < end or (common != wanted and e < last):
            n = np.uint64(0)
            if common != wanted:
                stop = min(last, e + np.uint64(collected.size))
                while e < stop:
                    collected[n] = listed[e]
                    n += np.uint64(state.goes_left[listed_bins[e]] == wanted)
                    e += np.uint64(1)
            else:
                stop = min(end, i + np.uint64(collected.size))
                while i < stop:
                    collected[n] = i
                    lists = e < last and listed[e] == i
                    n += np.uint64(not lists or state.goes_left[listed_bins[e]] == wanted)
                    e += np.uint64(lists)
                    i += np.uint64(1)
            shift_rows(p, c, collected[:n], state, positions)
            enter(p, c, collected[:n], rows, state, positions)


def move_pairs(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Count the mistakes of the tree on all pairs of the rows of a share.

    ``wrong`` becomes the sample weight of the examples whose largest vote so far is for a wrong
    label. A tie is for the lowest label.
    """
    _clear_moved(p, positions)
    n_labels = np.uint64(nodes.votes.shape[1])
    n_rounds = positions.at[N_ROUNDS] + 1
    wrong = np.int64(0)
    for node in range(nodes.at[N_NODES]):
        if nodes.questions[node, 3] == 0:
            votes = nodes.votes[node]
            for g in (0, 2):
                for q in range(state.bounds[p, node, g, 0], state.bounds[p, node, g, 1]):
                    i = np.uint64(state.lists[p, g // 2, q])
                    best = np.int64(-1)
                    winner: Any = np.uint64(0)
                    for label in range(n_labels):
                        own = label == np.uint64(rows.labels[i])
                        pair = i * n_labels + label
                        made = np.int64(state.levels[pair])
                        if (votes[label] > 0) != own:
                            copies = np.int64(n_labels - np.uint64(1)) if own else np.int64(1)
                            mass = copies * state.sample_weights[i]
                            positions.moved[p, np.int64(own), np.uint64(made)] += mass
                            made += 1
                            state.levels[pair] = made
                        for_label = n_rounds - made if own else made  # how many votes were +1
                        if for_label > best:
                            best = for_label
                            winner = label
                    if winner != np.uint64(rows.labels[i]):
                        wrong += state.sample_weights[i]
    positions.wrong[p] = wrong
