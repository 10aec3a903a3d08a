"""The layout of rows that list the codes outside of the commonest bin of each feature.

`dense_rows` has the same functions for rows that hold a code for every feature.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array, first_from
from driftgames.boosting.engine.nodes import Nodes
from driftgames.boosting.engine.positions import Positions, find_counts, shift_rows
from driftgames.boosting.engine.rows import BinnedRows, RowState


@inner_kernel
def find_column(feature: int, rows: BinnedRows, state: RowState) -> Any:
    """Return the column that holds a feature; if none does, the oldest is written over."""
    counters, slot = state.counters[0], state.column_of[feature]
    if slot >= 0:
        return slot
    slot = counters.oldest_column
    counters.oldest_column = (slot + 1) % state.columns.shape[0]
    if state.features_held[slot] >= 0:
        state.column_of[state.features_held[slot]] = -1
    state.features_held[slot] = feature
    state.column_of[feature] = slot
    column = state.columns[slot]
    for i in range(column.size):
        column[i] = rows.bins.implicit[feature]
    for e in range(rows.list_starts[feature], rows.list_starts[feature + 1]):
        column[np.uint64(rows.listed[e])] = rows.listed_bins[e]
    return slot


@inner_kernel
def add_weights(listed: Array, weights: Array, rows: BinnedRows, out: Array) -> None:
    """Add the weights of rows to the bins that they list, for two classes."""
    one = np.uint64(1)
    codes, starts = rows.codes, rows.starts
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
def add_blocks(listed: Array, weights: Array, rows: BinnedRows, out: Array) -> None:
    """Add the blocks of weights of rows to the bins that they list, for several classes."""
    codes, starts = rows.codes, rows.starts
    for q in range(np.uint64(listed.size)):
        i = np.uint64(listed[q])
        block = weights[i]
        if (block[0] | block[1] | block[2] | block[3]) != 0:
            for e in range(np.uint64(starts[i]), np.uint64(starts[i + np.uint64(1)])):
                blocks.add_block(out, np.uint64(blocks.WIDTH) * np.uint64(codes[e]), block)


@inner_scalar
def add_value(i: Any, lane: Any, value: Any, rows: BinnedRows, out: Array) -> None:
    """Add a value to one lane of the bins that row ``i`` lists, for several classes."""
    for e in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + np.uint64(1)])):
        out[np.uint64(blocks.WIDTH) * np.uint64(rows.codes[e]) + lane] += value


@inner_kernel
def count_moved(
    p: int, c: int, listed: Array, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Change the tally by rows that have moved: in the bins that they list."""
    one = np.uint64(1)
    n_rows = np.uint64(listed.size)
    last = np.uint64(positions.tally.shape[3] - 1)
    for q in range(n_rows):
        ahead = np.uint64(listed[min(q + AHEAD, n_rows - one)])
        prefetch(rows.codes, np.uint64(rows.starts[ahead]))
        i = np.uint64(listed[q])
        if state.sample_weights[i] != 0:  # rows held out are not counted
            level, count = find_counts(c, i, state, positions)
            counts = positions.tally[p, c, level]
            counts[last] += count
            for e in range(np.uint64(rows.starts[i]), np.uint64(rows.starts[i + one])):
                counts[rows.codes[e]] += count


@inner_kernel
def move_column(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Move the rows of a share that are not listed, by the votes of a stump.

    Where the rows of the commonest bin stay, only the rows that the feature lists are looked at.
    """
    feature = nodes.feature[0]
    collected, common = positions.collected[p], state.goes_left[rows.bins.implicit[feature]]
    span = slice(rows.list_starts[feature], rows.list_starts[feature + 1])
    listed, listed_bins = rows.listed[span], rows.listed_bins[span]
    for c in range(2):
        errs_left = (nodes.votes[1, 0] > 0) != (c == 1)
        wanted = np.uint8(errs_left == positions.rise[c])  # the side that moves
        begin, finish = positions.begins[p, c], positions.ends[p, c]
        i, end = np.uint64(begin), np.uint64(finish)
        e = np.uint64(first_from(listed, 0, listed.size, begin))
        last = np.uint64(first_from(listed, 0, listed.size, finish))
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
            count_moved(p, c, collected[:n], rows, state, positions)
