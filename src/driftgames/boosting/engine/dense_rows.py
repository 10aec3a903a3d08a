"""The layout of rows that hold a code for every feature. `sparse_rows` has the same functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.jit import inner_kernel, inner_scalar
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.nodes import Nodes
from driftgames.boosting.engine.positions import Positions, find_counts, shift_rows
from driftgames.boosting.engine.rows import BinnedRows, RowState


@inner_kernel
def find_column(feature: int, rows: BinnedRows, state: RowState) -> Any:
    """Return the number of the column that holds a feature."""
    return feature


@inner_kernel
def add_weights(listed: Array, weights: Array, rows: BinnedRows, out: Array) -> None:
    """Add the weights of rows to their bins, for two classes."""
    one = np.uint64(1)
    codes, offsets = rows.codes, rows.bins.offsets
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
def add_blocks(listed: Array, weights: Array, rows: BinnedRows, out: Array) -> None:
    """Add the blocks of weights of rows to their bins, for several classes."""
    codes, offsets = rows.codes, rows.bins.offsets
    width = np.uint64(offsets.size - 1)
    for q in range(np.uint64(listed.size)):
        i = np.uint64(listed[q])
        block = weights[i]
        if (block[0] | block[1] | block[2] | block[3]) != 0:
            for j in range(width):
                b = np.uint64(offsets[j]) + np.uint64(codes[i * width + j])
                blocks.add_block(out, np.uint64(blocks.WIDTH) * b, block)


@inner_scalar
def add_value(i: Any, lane: Any, value: Any, rows: BinnedRows, out: Array) -> None:
    """Add a value to one lane of the bins of row ``i``, for several classes."""
    offsets = rows.bins.offsets
    width = np.uint64(offsets.size - 1)
    for j in range(width):
        b = np.uint64(offsets[j]) + np.uint64(rows.codes[i * width + j])
        out[np.uint64(blocks.WIDTH) * b + lane] += value


@inner_kernel
def count_moved(
    p: int, c: int, listed: Array, rows: BinnedRows, state: RowState, positions: Positions
) -> None:
    """Change the tally by rows that have moved: in the bins of every feature."""
    one = np.uint64(1)
    offsets = rows.bins.offsets
    n_rows, width = np.uint64(listed.size), np.uint64(offsets.size - 1)
    last = np.uint64(positions.tally.shape[3] - 1)
    for q in range(n_rows):
        ahead = np.uint64(listed[min(q + AHEAD, n_rows - one)]) * width
        prefetch(rows.codes, ahead)
        prefetch(rows.codes, ahead + width - one)
        i = np.uint64(listed[q])
        if state.sample_weights[i] != 0:  # rows held out are not counted
            level, count = find_counts(c, i, state, positions)
            counts = positions.tally[p, c, level]
            counts[last] += count
            for j in range(width):
                code = rows.codes[i * width + j]
                counts[np.uint64(offsets[j]) + np.uint64(code)] += count


@inner_kernel
def move_column(
    p: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> None:
    """Move the rows of a share that are not listed, by the votes of a stump."""
    column = state.columns[nodes.feature[0]]
    collected = positions.collected[p]
    for c in range(2):
        errs_left = (nodes.votes[1, 0] > 0) != (c == 1)
        wanted = np.uint8(errs_left == positions.rise[c])  # the side that moves
        i, end = np.uint64(positions.begins[p, c]), np.uint64(positions.ends[p, c])
        while i < end:
            n = np.uint64(0)
            stop = min(end, i + np.uint64(collected.size))
            while i < stop:
                collected[n] = i
                n += np.uint64(state.goes_left[column[i]] == wanted)
                i += np.uint64(1)
            shift_rows(p, c, collected[:n], state, positions)
            count_moved(p, c, collected[:n], rows, state, positions)
