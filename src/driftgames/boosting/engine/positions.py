r"""Positions of the examples: how often each has erred, and what follows for its weight.

With one vote per round an example's weight depends on its number of mistakes ``k`` alone. A *level*
is that number up to a shift that a class shares: ``k = level + shift``. After a round either the
rows that erred move up a level, or the others move down and the shift of the class rises:
whichever is cheaper.

The *tally* counts examples by class, level and bin. The weights in a bin add up to

.. math:: \sum_i w(k_i) [x_i \in b]
          = \sum_k \bigl(w(k) - w(k-1)\bigr) \sum_{i : k_i \ge k} [x_i \in b]

and the inner sums are counts: integers that change by one when an example moves. So the sums of the
root cost one addition for each level and bin, and a move costs one for each bin of a row that
moves. The tally serves two classes with integer sample weights, as long as it is cheaper than a sum
over the rows.

After a round the smaller side of a class moves, if there is a tally: it changes in all bins of
every row that moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import types

from driftgames._kernels.callbacks import FLOATS, call
from driftgames._kernels.integers import ratio
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct, new_counters
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine.binned_trees import TreeLearner
from driftgames.boosting.engine.nodes import Nodes, Record
from driftgames.boosting.engine.rows import BinnedRows, RowState

_PATIENCE = 8  # give the tally up once costly rounds outnumber cheap ones by this many
_MOVE = 2.3  # entering a row in the tally, relative to adding its weight to a bin
_COUNT = 0.3  # adding up a count, relative to adding a weight to a bin

SUM_BITS = 61
"""The number of bits in the sum of the weights of all examples."""

BY_INTEGERS, BY_FLOATS, AS_GIVEN = range(3)
"""How rows are weighed: by integers or by floats of their levels, or as Python code has done it."""

_INTEGERS = "first", "width", "tallied", "listed", "n_costly"
_REALS = "edge_sum", "codes_per_row"


@dataclass(frozen=True, eq=False)
class Positions(Struct):
    """Where the examples stand, by class and level."""

    weighing: int
    """How rows are weighed: one of the constants above."""
    moves: int
    """Whether rows move after a tree has grown."""
    counters: Array
    """One record: the least number of mistakes of an example, and how many numbers there are from
    it on; whether the tally is kept, and whether rows are listed; in how many more rounds the tally
    was costly than cheap; the sum of the edges; and the mean number of codes of a row."""
    shift: Array
    rise: Array
    """Whether the rows of a class that err move up, or the others down."""
    masses: Array
    """``masses[c, k]`` is the sample weight of class ``c`` with ``k`` mistakes."""
    moved: Array
    """``moved[p, c, level]`` is the sample weight of share ``p`` that left a level."""
    wrong: Array
    """For several classes, the sample weight of each share that the vote gets wrong."""
    tables: Array
    float_tables: Array
    """``tables[c, level]`` is the weight of the next round: an integer, or else a float."""
    unscaled: Array
    mass_scratch: Array
    """Scratch buffers by number of mistakes: weights before they are scaled, and masses."""
    tally: Array
    """``tally[p, c, level - base[c], b]`` counts what stands at this level or above in a bin."""
    base: Array
    low: Array
    high: Array
    """The occupied levels of each class."""
    begins: Array
    ends: Array
    """``begins[p, c]`` is where the rows of a share and a class begin, if they are not listed."""
    collected: Array
    """For each share a block of rows that are to move."""


def make_positions(
    learner: TreeLearner,
    n_rounds: int,
    start: int,
    *,
    exact: bool,
    listed: bool,
    n_tally_levels: int,
) -> Positions:
    """Return the positions before the first of ``n_rounds`` rounds: all rows at level ``start``.

    If weights are ``exact``, an example of weight 2 weighs as two, to the bit. Without levels there
    is no tally.
    """
    integers, data, n_shares = np.int64, learner.data, learner.n_threads
    # of several classes the wrong examples are counted as the rows move: pairs do not tell them
    counts_wrong = learner.labels is not None and learner.gaps is None
    width = n_rounds + 3
    n_levels = start + width
    counters = new_counters(*_INTEGERS, reals=_REALS)
    counters[0].width = 1
    counters[0].tallied = n_tally_levels > 0
    counters[0].listed = listed
    counters[0].codes_per_row = data.bins.codes.size / max(data.n_rows, 1)
    by_mistakes = np.zeros((2, width), integers)
    by_mistakes[:, 0] = _masses_by_label(learner)
    levels = np.full(2, start, integers)
    tally = (n_shares, 2, n_tally_levels, data.n_codes + 1) if n_tally_levels else (0, 2, 0, 0)
    spans = (0, data.split), (data.split, data.n_rows)
    cuts = np.stack([np.linspace(*span, n_shares + 1).astype(integers) for span in spans], axis=1)
    return Positions(
        weighing=BY_INTEGERS if exact else BY_FLOATS,
        moves=1,
        counters=counters,
        shift=-levels,
        rise=np.ones(2, dtype=np.bool_),
        masses=by_mistakes,
        moved=np.zeros((n_shares, 2, n_levels), integers),
        wrong=np.zeros(n_shares if counts_wrong else 0, integers),
        tables=np.zeros((2, n_levels if exact else 0), integers),
        float_tables=np.zeros((2, 0 if exact else n_levels)),
        unscaled=np.zeros(width),
        mass_scratch=np.zeros(width),
        tally=np.zeros(tally, dtype=np.int32),
        base=levels - n_tally_levels // 2,
        low=levels.copy(),
        high=levels.copy(),
        begins=np.ascontiguousarray(cuts[:-1]),
        ends=np.ascontiguousarray(cuts[1:]),
        collected=np.empty((n_shares, 4096), dtype=np.uint32),
    )


def _masses_by_label(learner: TreeLearner) -> list[int]:
    """Return the mass of class 0 and of class 1; of pairs, that of label -1 and of +1."""
    labels, gaps = learner.labels, learner.gaps
    if labels is None:
        return learner.masses
    if gaps is None:
        return 2 * [(learner.n_classes - 1) * learner.mass]
    above = int(learner.sample_weights @ np.append(0, np.cumsum(gaps))[labels])
    return [learner.judged_mass - above, above]


def widen_tally(positions: Positions) -> Positions:
    """Return a copy with each class in the middle of the levels, which are doubled if needed."""
    old, low, high = positions.tally, positions.low, positions.high
    n_occupied = high - low + 1
    n_levels = old.shape[2]
    n_levels = 2 * n_levels if int(n_occupied.max()) > n_levels // 2 else n_levels
    starts = (n_levels - n_occupied) // 2
    wider = np.zeros((*old.shape[:2], n_levels, old.shape[3]), dtype=np.int32)
    for c in range(2):
        begin = low[c] - positions.base[c]
        occupied = old[:, c, begin : begin + n_occupied[c]]
        wider[:, c, : starts[c]] = occupied[:, :1]  # all rows are above these levels
        wider[:, c, starts[c] : starts[c] + n_occupied[c]] = occupied
    return replace(positions, tally=wider, base=low - starts)


@dataclass(frozen=True, eq=False)
class Rule(Struct):
    """How the weights of a round follow from the positions: a function of type `RULE_ARGUMENTS`.

    It is called as ``rule(parameters, first, t, edge_sum, masses, n, out)``, and writes the weights
    in round ``t`` of ``first``, ``first + 1``, ... mistakes to ``out``, ``n`` of them.
    """

    function: int
    """The address of the function; 0 if Python code sets the weights after each round."""
    looks_at_masses: int
    """Whether weights depend on how many examples have made each number of mistakes."""
    parameters: Array


RULE_ARGUMENTS = FLOATS, types.int64, types.int64, types.float64, FLOATS, types.int64, FLOATS


@inner_kernel
def scale_weights(positions: Positions, n_rounds: int, begin: int) -> tuple[Any, Any]:
    """Scale the weights of a round; return the mass that weighs zero, and that the vote gets wrong.

    ``unscaled[begin + k]`` is the weight of ``first + k`` mistakes. In ``tables`` the weights of
    all examples sum to just below ``2**SUM_BITS``. If all weights are zero, they become equal. A
    tied vote is for class 0.
    """
    masses, unscaled = positions.masses, positions.unscaled
    first, width = positions.counters[0].first, positions.counters[0].width
    total = 0.0
    n_examples = np.int64(0)
    zeros = np.int64(0)
    wrong = np.int64(0)
    for k in range(width):
        lower, upper = masses[0, first + k], masses[1, first + k]
        n_examples += lower + upper
        total += (lower + upper) * unscaled[begin + k]
        zeros += lower + upper if unscaled[begin + k] == 0.0 else 0
        wrong += lower if 2 * (first + k) > n_rounds else 0
        wrong += upper if 2 * (first + k) >= n_rounds else 0
    equal = total == 0.0
    exponent = math.frexp(float(n_examples) if equal else total)[1]
    for k in range(width):
        weight = 0.0  # if no example has this number of mistakes
        if masses[0, first + k] + masses[1, first + k] > 0:
            # ldexp, because the factor of tiny weights would be infinite
            weight = math.ldexp(1.0 if equal else unscaled[begin + k], SUM_BITS - exponent)
        for c in range(2):
            if masses[c, first + k] > 0:
                level = first + k - positions.shift[c]
                if positions.weighing == BY_INTEGERS:
                    positions.tables[c, level] = np.int64(np.rint(weight))
                else:
                    positions.float_tables[c, level] = weight
    return (np.int64(0) if equal else zeros), wrong


@inner_kernel
def _write_masses(positions: Positions, ahead: bool, out: Array) -> Any:
    """Write the mass at each number of mistakes from the first on; return how many there are.

    With ``ahead`` it is the mass that may stand there after one more move.
    """
    first, width = positions.counters[0].first, positions.counters[0].width
    for k in range(width + ahead):
        mass = np.int64(0)
        for c in range(2):
            mass += positions.masses[c, first + k] if k < width else 0
            mass += positions.masses[c, first + k - 1] if k > 0 and ahead else 0
        out[k] = mass
    return width + ahead


@inner_kernel
def _end_move(positions: Positions) -> None:
    """Bring masses and levels up to date after the rows have moved."""
    counters, masses = positions.counters[0], positions.masses
    first, width = counters.first, counters.width
    for c in range(2):
        rise = positions.rise[c]
        shift = positions.shift[c]
        for k in range(first + width - 1, first - 1, -1):
            moved = np.int64(0)
            if k >= shift:
                for p in range(positions.moved.shape[0]):
                    moved += positions.moved[p, c, k - shift]
            erred = moved if rise else masses[c, k] - moved
            masses[c, k] -= erred
            masses[c, k + 1] += erred
        if not rise:
            positions.shift[c] += 1
    end = first + width
    while masses[0, end] + masses[1, end] == 0:
        end -= 1
    while masses[0, first] + masses[1, first] == 0:
        first += 1
    counters.first = first
    counters.width = end - first + 1
    if counters.tallied:
        for c in range(2):
            shift = positions.shift[c]
            low, high = first, end
            while low < high and masses[c, low] == 0:
                low += 1
            while low < high and masses[c, high] == 0:
                high -= 1
            positions.low[c] = low - shift
            positions.high[c] = high - shift


@inner_kernel
def tally_is_full(positions: Positions) -> bool:
    """Return whether the next move may leave the levels of the tally."""
    if not positions.counters[0].tallied:
        return False
    n_levels = positions.tally.shape[2]
    for c in range(2):
        if positions.low[c] - positions.base[c] < 1:
            return True
        if positions.high[c] - positions.base[c] > n_levels - 3:
            return True
    return False


@inner_kernel
def sum_counts(p: int, state: RowState, positions: Positions, nodes: Nodes) -> bool:
    """Write the sums and totals of the root over the rows of a share from their counts, if any.

    Sums may wrap around on the way: the result is exact modulo 2**64 and lies within.
    """
    if not positions.counters[0].tallied:
        return False
    for c in range(2):
        sums = nodes.sums[p, 0, c]
        for b in range(sums.size):
            sums[b] = 0
        total = np.int64(0)
        before = np.int64(0)
        for level in range(positions.low[c], positions.high[c] + 1):
            now = np.int64(positions.tables[c, level])
            step = now - before
            before = now
            if step != 0:
                counts = positions.tally[p, c, level - positions.base[c]]
                for b in range(sums.size):
                    sums[b] += step * counts[b]
                total += step * counts[sums.size]
        state.share_totals[p, c, 0] = total
    return True


@inner_kernel
def keep_edge(value: int, norm: int, positions: Positions, record: Record) -> None:
    """Keep the edge of a tree; every vote weighs 1."""
    edge = ratio(value, 2 * norm)
    positions.counters[0].edge_sum += edge
    record.edges[record.counters[0].n_rounds] = edge


@inner_kernel
def end_round(rule: Rule, positions: Positions, record: Record) -> None:
    """Bring the positions up to date, and find the weights of the next round."""
    counters = positions.counters[0]
    n_rounds = record.counters[0].n_rounds + 1
    record.counters[0].n_rounds = n_rounds
    first = counters.first
    # as a remote game does, which asks for a move and the next sums at once: weights must agree
    ahead = rule.looks_at_masses == 0
    if ahead:
        _weigh(rule, ahead, n_rounds + 1, positions)
    _end_move(positions)
    if not ahead:
        first = counters.first
        _weigh(rule, ahead, n_rounds + 1, positions)
    zeros, wrong = scale_weights(positions, n_rounds, counters.first - first)
    record.zeros[n_rounds - 1] = zeros
    for p in range(positions.wrong.size):  # of pairs: the examples whose largest vote is wrong
        wrong = positions.wrong[p] + (wrong if p > 0 else 0)
    record.wrong[n_rounds - 1] = wrong
    if counters.n_costly == _PATIENCE:
        counters.tallied = 0
        counters.listed = 1


@inner_kernel
def _weigh(rule: Rule, ahead: bool, t: int, positions: Positions) -> None:
    """Write the weights of round ``t`` to ``unscaled``, from the first number of mistakes on.

    With ``ahead`` the rows have yet to move.
    """
    counters, out = positions.counters[0], positions.unscaled
    first, edge_sum, masses = counters.first, counters.edge_sum, positions.mass_scratch
    n = _write_masses(positions, ahead, masses)
    if rule.function == 0:
        for k in range(n):
            out[k] = 0.0  # Python code sets them later
        return
    call(rule.function, (rule.parameters, first, t, edge_sum, masses, n, out))


@inner_kernel
def begin_move(rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes) -> None:
    """Choose which rows of each class move: those that err, or the others if they are fewer."""
    n_moved = np.int64(0)
    for c in range(2):
        positions.rise[c] = True
        if positions.counters[0].tallied:
            erring, others = _count_errors(c, rows, state, positions, nodes)
            positions.rise[c] = erring <= others
            n_moved += min(erring, others)
    if positions.counters[0].tallied:
        n_heavy = np.int64(0)
        for c in range(2):
            for level in range(positions.low[c], positions.high[c] + 1):
                if positions.tables[c, level] > 0:
                    n_heavy += positions.masses[c, level + positions.shift[c]]
        _judge_tally(n_moved, n_heavy, positions)


@inner_kernel
def _count_errors(
    c: int, rows: BinnedRows, state: RowState, positions: Positions, nodes: Nodes
) -> tuple[Any, Any]:
    """Return how many examples of a class err, and how many do not."""
    sizes = np.int64(0), np.int64(0)
    if not positions.counters[0].listed:
        offsets = rows.bins.offsets
        feature = nodes.feature[0]
        for b in range(offsets[feature + 1] - offsets[feature]):
            side = 1 if state.goes_left[b] else 2
            size = rows.counts[c, offsets[feature] + b]
            errs = (nodes.votes[side, 0] > 0) != (c == 1)
            sizes = sizes[0] + (size if errs else 0), sizes[1] + (0 if errs else size)
        return sizes
    for node in range(nodes.counters[0].n_nodes):
        if nodes.left[node] == 0:
            errs = (nodes.votes[node, 0] > 0) != (c == 1)
            for p in range(state.begins.shape[0]):
                size = np.int64(0)
                for g in (c, c + 2):
                    size += state.ends[p, node, g] - state.begins[p, node, g]
                sizes = sizes[0] + (size if errs else 0), sizes[1] + (0 if errs else size)
    return sizes


@inner_kernel
def _judge_tally(n_moved: Any, n_heavy: Any, positions: Positions) -> None:
    """Give the tally up if it has been costlier than sums over the rows in too many rounds."""
    n_levels = positions.high[0] - positions.low[0] + positions.high[1] - positions.low[1] + 2
    n_counts = float(n_levels * positions.tally.shape[3])
    counters, per_row = positions.counters[0], positions.counters[0].codes_per_row
    costly = _MOVE * n_moved * per_row + _COUNT * n_counts > n_heavy * per_row
    counters.n_costly = max(counters.n_costly + (1 if costly else -1), 0)


@inner_kernel
def clear_moved(p: int, positions: Positions) -> None:
    """Write zeros to what a share has moved."""
    first, width = positions.counters[0].first, positions.counters[0].width
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
def find_counts(c: int, i: Any, state: RowState, positions: Positions) -> tuple[Any, Any]:
    """Return the level whose counts change for a row that has moved, and by how much."""
    level = np.int64(state.levels[i]) - positions.base[c]
    count = np.int32(state.sample_weights[i])
    if positions.rise[c]:
        return np.uint64(level), count
    return np.uint64(level + 1), -count
