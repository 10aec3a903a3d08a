"""Trees as circuits: the votes of all trees on 512 rows at a time, in operations on bits.

A mean of boosters has thousands of trees, which ask the same few thousand questions. So each
question is answered once, for 512 rows, as a row of bits, after one search for each value. A node
is a gate: it chooses, bit by bit, between what its two sides vote, by the answers to its question.
It takes a few instructions for all rows, and no row goes anywhere. Two sides that vote the same
need no gate, and two leaves need none either: they are the answers, or their complement.

A tree has one circuit for each class, or one alone for two classes. The votes of circuits of one
class and weight are counted in bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bits import ROWS, WORDS, choose, count, rows_of_bits
from driftgames._kernels.jit import inner_kernel, inner_scalar, kernel
from driftgames.boosting.data.bins import Array, first_from
from driftgames.boosting.model.additive import find_places, has_infinity
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import BoolArray, FloatArray, IntArray

_MOST = 255
"""The most votes that a byte can count."""


class Circuits(NamedTuple):
    """The circuits of trees, of one weight and class after another.

    Rows of bits are 0, all false, and 1, all true; then the answers to each question, true where a
    value goes right; then their complements; then what the gates of a circuit choose, in order.
    """

    features: IntArray
    """The feature of each group of questions: those that send missing values to the same side."""
    to_left: BoolArray
    """Whether that is the left side."""
    starts: IntArray
    """Where the questions of each group begin, and one end."""
    thresholds: FloatArray
    """Ascending in each group."""
    gates: npt.NDArray[np.uint32]
    """For each gate the rows of bits of its question, its left side and its right side."""
    gate_ends: IntArray
    """Where the gates of each circuit end."""
    outputs: npt.NDArray[np.uint32]
    """The row of bits that is true where a circuit votes +1."""
    run_ends: IntArray
    """Where the circuits of each run of one weight and class end: at most 255 of them."""
    run_classes: IntArray
    run_weights: FloatArray
    offset: float
    """The sum of the weights of all trees."""
    n_rows: int
    """How many rows of bits there are."""


def make_circuits(trees: Trees, weights: FloatArray) -> Circuits:
    """Return the circuits of trees with these weights, for all classes."""
    asking = np.flatnonzero(trees.left)
    named = trees.threshold[asking], trees.missing_left[asking], trees.feature[asking]
    asking = asking[np.lexsort(named)]
    feature, to_left = trees.feature[asking].astype(np.int64), trees.missing_left[asking] == 1
    threshold = trees.threshold[asking]
    group = np.diff(feature, prepend=-1) != 0
    group[1:] |= to_left[1:] != to_left[:-1]
    new = group.copy()
    new[1:] |= threshold[1:] != threshold[:-1]
    question = np.zeros(trees.left.size, dtype=np.uint32)
    question[asking] = np.cumsum(new) - 1
    n_questions, votes = int(new.sum()), trees.vote.reshape(question.size, -1)
    order, runs = _divide_runs(weights, votes.shape[1])
    gates = np.empty((votes.shape[1] * asking.size, 3), dtype=np.uint32)
    gate_ends, outputs = np.empty(len(order), dtype=np.int64), np.empty(len(order), dtype=np.uint32)
    nodes = trees.starts, trees.left, question, votes
    room = np.empty(int(trees.n_nodes.max(initial=1)), dtype=np.uint32)
    most = _connect(order, nodes, n_questions, room, gates, gate_ends, outputs)
    return Circuits(
        feature[group],
        to_left[group],
        np.append(np.flatnonzero(group[new]), n_questions),
        threshold[new],
        gates[: gate_ends[-1:].sum()].reshape(-1).copy(),
        gate_ends,
        outputs,
        *runs,
        float(weights.sum()),
        2 + 2 * n_questions + most,
    )


def _divide_runs(
    weights: FloatArray, n_classes: int
) -> tuple[IntArray, tuple[IntArray, IntArray, FloatArray]]:
    """Return the tree and the class of each circuit, and the ends, classes and weights of runs."""
    order = np.argsort(weights, kind="stable")
    ends = np.flatnonzero(np.diff(weights[order], append=np.nan)) + 1
    circuits, runs, begin = [np.empty((0, 2), dtype=np.int64)], [], 0
    for end in ends.tolist():
        for first in range(begin, end, _MOST):
            some = order[first : min(first + _MOST, end)]
            for label in range(n_classes):
                circuits.append(np.column_stack([some, np.full(some.size, label)]))
                runs.append((some.size, label, weights[some[0]]))
        begin = end
    sizes, classes, worth = np.array(runs).reshape(-1, 3).T
    return np.concatenate(circuits), (
        np.cumsum(sizes).astype(np.int64),
        classes.astype(np.int64),
        worth.copy(),
    )


@kernel
def _connect(
    order: IntArray,
    nodes: tuple[Array, Array, Array, Array],
    n_questions: int,
    rows: Array,
    gates: Array,
    gate_ends: IntArray,
    outputs: Array,
) -> int:
    """Connect the gates of all circuits; return the most gates of one of them.

    ``order`` has the tree and the class of each circuit. ``rows`` is scratch: the row of bits of
    each node of a tree.
    """
    starts, left, question, votes = nodes
    n_gates = most = 0
    for c in range(order.shape[0]):
        begin, end = starts[order[c, 0]], starts[order[c, 0] + 1]
        begun = n_gates
        for n in range(end - 1, begin - 1, -1):  # a node comes after the one above it
            if left[n] == 0:
                rows[n - begin] = votes[n, order[c, 1]] > 0
                continue
            at_most, above_it = rows[left[n]], rows[left[n] + 1]
            if at_most == above_it:
                rows[n - begin] = at_most
            elif at_most <= 1 and above_it <= 1:
                rows[n - begin] = 2 + question[n] + (0 if above_it == 1 else n_questions)
            else:
                gates[n_gates, 0] = 2 + question[n]
                gates[n_gates, 1] = at_most
                gates[n_gates, 2] = above_it
                rows[n - begin] = 2 + 2 * n_questions + n_gates - begun
                n_gates += 1
        most = max(most, n_gates - begun)
        gate_ends[c], outputs[c] = n_gates, rows[0]
    return most


class Scratch(NamedTuple):
    """The arrays that a thread writes to."""

    bits: npt.NDArray[np.uint64]
    column: FloatArray
    places: IntArray
    counts: npt.NDArray[np.uint8]
    totals: FloatArray


def _make_scratch(circuits: Circuits, n_classes: int) -> Scratch:
    """Return arrays for the rows of bits, a column and its places, and the votes for classes."""
    bits = rows_of_bits(circuits.n_rows)
    bits[:WORDS] = 0
    bits[WORDS : 2 * WORDS] = ~np.uint64(0)
    places = np.empty(max(ROWS, circuits.features.size), dtype=np.int64)
    counts = np.empty(ROWS, dtype=np.uint8)
    return Scratch(bits, np.empty(ROWS), places, counts, np.empty((n_classes, ROWS)))


def score_dense(rows: Array, circuits: Circuits, out: FloatArray, flat: Array) -> bool:
    """Write the sums of votes on each row; return whether ``flat`` holds no infinity.

    ``flat`` has all entries of the rows, or none.
    """
    return bool(_score_dense(rows, circuits, _make_scratch(circuits, out.shape[1]), out, flat))


def score_sparse(
    data: FloatArray,
    indices: Array,
    pointers: IntArray,
    n_features: int,
    circuits: Circuits,
    out: FloatArray,
) -> None:
    """Write the sums of votes on each row of a CSR matrix."""
    groups = np.full((2, n_features), -1, dtype=np.int64)
    numbers = np.arange(circuits.features.size)
    groups[circuits.to_left.astype(np.int64), circuits.features] = numbers
    scratch = _make_scratch(circuits, out.shape[1])
    _score_sparse(data, indices, pointers, groups, circuits, scratch, out)


@kernel
def _score_dense(
    rows: Array, circuits: Circuits, scratch: Scratch, out: FloatArray, flat: Array
) -> bool:
    """Answer the questions of each block of rows, a group at a time, and count the votes."""
    infinite, width, n_questions = False, rows.shape[1], circuits.thresholds.size
    column, places = scratch.column, scratch.places
    for start in range(0, rows.shape[0], ROWS):
        size = min(ROWS, rows.shape[0] - start)
        if flat.size > 0:
            infinite |= has_infinity(flat, start * width, (start + size) * width)
        scratch.bits[2 * WORDS : (2 + n_questions) * WORDS] = 0
        for g in range(circuits.features.size):
            j, to_left = circuits.features[g], circuits.to_left[g]
            for i in range(size):
                x = rows[start + i, j]
                column[i] = -np.inf if to_left and x != x else x  # NaN differs
            begin, end = circuits.starts[g], circuits.starts[g + 1]
            find_places(circuits.thresholds, begin, end, column, size, places)
            for i in range(size):
                _mark(scratch.bits, begin, places[i], i)
        _answer(circuits, scratch.bits)
        _count_votes(circuits, scratch, out[start : start + size])
    return not infinite


@kernel
def _score_sparse(
    data: FloatArray,
    indices: Array,
    pointers: IntArray,
    groups: IntArray,
    circuits: Circuits,
    scratch: Scratch,
    out: FloatArray,
) -> None:
    """Mark zeros in all rows, correct the marks of the stored entries, and count the votes."""
    bits, thresholds, starts = scratch.bits, circuits.thresholds, circuits.starts
    zeros, marks = scratch.places, bits[2 * WORDS : (2 + thresholds.size) * WORDS]
    for g in range(circuits.features.size):
        zeros[g] = first_from(thresholds, starts[g], starts[g + 1], 0.0)
    for start in range(0, out.shape[0], ROWS):
        size = min(ROWS, out.shape[0] - start)
        marks[:] = 0
        for g in range(circuits.features.size):
            if zeros[g] > starts[g]:
                marks[(zeros[g] - 1) * WORDS : zeros[g] * WORDS] = ~np.uint64(0)
        for i in range(size):
            for e in range(pointers[start + i], pointers[start + i + 1]):
                x = data[e]
                for to_left in range(2):
                    g = groups[to_left, indices[e]]
                    if g < 0:
                        continue
                    begin, end = starts[g], starts[g + 1]
                    place = begin if to_left else end
                    if x == x:
                        place = first_from(thresholds, begin, end, x)
                    _mark(bits, begin, zeros[g], i)
                    _mark(bits, begin, place, i)
        _answer(circuits, bits)
        _count_votes(circuits, scratch, out[start : start + size])


@inner_scalar
def _mark(bits: Array, begin: int, place: int, i: int) -> None:
    """Mark the last question of a group that row ``i`` answers to the right, if there is one."""
    right = np.uint64(place > begin)
    bits[(1 + place) * WORDS + i // 64] ^= right << np.uint64(i % 64)


@inner_kernel
def _answer(circuits: Circuits, bits: Array) -> None:
    """Turn marks into answers, and write their complements.

    A row answers to the right up to its mark: each answer is the exclusive or of the next answer
    and the own mark.
    """
    starts, n_questions = circuits.starts, circuits.thresholds.size
    for g in range(circuits.features.size):
        for q in range(starts[g + 1] - 1, starts[g] - 1, -1):
            own = 2 + q
            if q + 1 < starts[g + 1]:
                choose(bits, own, own, own + 1, own + 1 + n_questions)
            choose(bits, own + n_questions, own, 1, 0)


@inner_kernel
def _count_votes(circuits: Circuits, scratch: Scratch, out: FloatArray) -> None:
    """Send the answers through all circuits; write the sums of the votes on each row."""
    bits, counts, totals, gates = scratch.bits, scratch.counts, scratch.totals, circuits.gates
    first = np.uint64(2 + 2 * circuits.thresholds.size)
    totals[:] = -circuits.offset
    one, two = np.uint64(1), np.uint64(2)  # an index with a sign is slower
    c, gate = 0, np.uint64(0)
    for run in range(circuits.run_ends.size):
        counts[:] = 0
        while c < circuits.run_ends[run]:
            to = first
            end = np.uint64(3 * circuits.gate_ends[c])
            while gate < end:
                asked, left, right = gates[gate], gates[gate + one], gates[gate + two]
                choose(bits, to, asked, left, right)
                to += one
                gate += one + two
            count(counts, bits, circuits.outputs[c])
            c += 1
        total, worth = totals[circuits.run_classes[run]], 2.0 * circuits.run_weights[run]
        for i in range(ROWS):
            total[i] += worth * counts[i]
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = totals[k, i]
