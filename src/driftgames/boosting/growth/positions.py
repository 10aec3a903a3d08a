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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from driftgames._kernels.callbacks import FLOATS, call
from driftgames._kernels.integers import ratio
from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.nodes import (
    LISTED,
    N_NUMBERS,
    N_ROUNDS,
    WEIGHS,
    WHOLE,
    Nodes,
)
from driftgames.boosting.growth.rounds import Record
from driftgames.boosting.growth.rows import RowState

FIRST, WIDTH, TALLIED, N_COSTLY, N_AT = range(N_NUMBERS, N_NUMBERS + 5)
"""What ``Positions.at`` holds beside the numbers of `rounds`: the least number of mistakes of an
example, and how many numbers there are from it on; whether the tally is kept; in how many more
rounds the tally was costly than cheap."""

_PATIENCE = 8  # give the tally up once costly rounds outnumber cheap ones by this many

SUM_BITS = 61
"""The number of bits in the sum of the weights of all examples."""


@dataclass(frozen=True, eq=False)
class Positions(Struct):
    """Where the examples stand, by class and level."""

    at: Array
    shift: Array
    rise: Array
    """Whether the rows of a class that err move up, or the others down."""
    masses: Array
    """``masses[c, k]`` is the sample weight of class ``c`` with ``k`` mistakes."""
    moved: Array
    """``moved[p, c, level]`` is the sample weight of share ``p`` that left a level."""
    wrong: Array
    """For pairs, the sample weight of each share that the vote gets wrong."""
    tables: Array
    reals: Array
    """``tables[c, level]`` is the weight of the next round, or ``reals`` if it is not whole."""
    raw: Array
    held: Array
    """Scratch buffers by number of mistakes: weights before they are scaled, and masses."""
    edges: Array
    """The sum of the edges so far, and the mean number of codes of a row."""
    tally: Array
    """``tally[p, c, level - base[c], b]`` counts what stands at this level or above in a bin."""
    base: Array
    low: Array
    high: Array
    """The occupied levels of each class."""
    ends: Array
    """``ends[p, c]`` is where the rows of a share and a class begin and end, if not listed."""
    collected: Array
    """For each share a block of rows that are to move."""


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
def scale_weights(positions: Positions, begin: int) -> tuple[Any, Any]:
    """Scale the weights of a round; return the mass that weighs zero, and that the vote gets wrong.

    ``raw[begin + k]`` is the weight of ``first + k`` mistakes. In ``tables`` the weights of all
    examples sum to just below ``2**SUM_BITS``. If all weights are zero, they become equal. A tied
    vote is for class 0.
    """
    at, masses, raw = positions.at, positions.masses, positions.raw
    first, width, n_rounds = at[FIRST], at[WIDTH], at[N_ROUNDS]
    total = 0.0
    n_examples = np.int64(0)
    zeros = np.int64(0)
    wrong = np.int64(0)
    for k in range(width):
        lower, upper = masses[0, first + k], masses[1, first + k]
        n_examples += lower + upper
        total += (lower + upper) * raw[begin + k]
        zeros += lower + upper if raw[begin + k] == 0.0 else 0
        wrong += lower if 2 * (first + k) > n_rounds else 0
        wrong += upper if 2 * (first + k) >= n_rounds else 0
    equal = total == 0.0
    exponent = math.frexp(float(n_examples) if equal else total)[1]
    for k in range(width):
        weight = 0.0  # if no example has this number of mistakes
        if masses[0, first + k] + masses[1, first + k] > 0:
            # ldexp, because the factor of tiny weights would be infinite
            weight = math.ldexp(1.0 if equal else raw[begin + k], SUM_BITS - exponent)
        for c in range(2):
            if masses[c, first + k] > 0:
                level = first + k - positions.shift[c]
                if at[WEIGHS] == WHOLE:
                    positions.tables[c, level] = np.int64(np.rint(weight))
                else:
                    positions.reals[c, level] = weight
    return (np.int64(0) if equal else zeros), wrong


@inner_kernel
def write_masses(positions: Positions, reaches: bool, out: Array) -> Any:
    """Write the mass at each number of mistakes from the first on; return how many there are.

    If it ``reaches``, it is the mass that may stand there after one more move.
    """
    first, width = positions.at[FIRST], positions.at[WIDTH]
    for k in range(width + reaches):
        mass = np.int64(0)
        for c in range(2):
            mass += positions.masses[c, first + k] if k < width else 0
            mass += positions.masses[c, first + k - 1] if k > 0 and reaches else 0
        out[k] = mass
    return width + reaches


@inner_kernel
def end_move(positions: Positions) -> None:
    """Bring masses and levels up to date after the rows have moved."""
    at, masses = positions.at, positions.masses
    first, width = at[FIRST], at[WIDTH]
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
    at[FIRST] = first
    at[WIDTH] = end - first + 1
    if at[TALLIED]:
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
def is_full(positions: Positions) -> bool:
    """Return whether the next move may leave the levels of the tally."""
    if not positions.at[TALLIED]:
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
    if not positions.at[TALLIED]:
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
        state.parts[p, c, 0] = total
    return True


@inner_kernel
def keep_edge(value: int, norm: int, positions: Positions, record: Record) -> None:
    """Keep the edge of a tree; every vote weighs 1."""
    edge = ratio(value, 2 * norm)
    positions.edges[0] += edge
    record.edges[positions.at[N_ROUNDS]] = edge


@inner_kernel
def end_round(rule: Rule, positions: Positions, record: Record) -> None:
    """Bring the positions up to date, and find the weights of the next round."""
    at = positions.at
    at[N_ROUNDS] += 1
    first = at[FIRST]
    for k in range(2):  # some weights are known before the move
        if k == rule.looks_at_masses:
            first = at[FIRST]
            _weigh(rule, k == 0, positions)
        if k == 0:
            end_move(positions)
    zeros, wrong = scale_weights(positions, at[FIRST] - first)
    record.zeros[at[N_ROUNDS] - 1] = zeros
    for p in range(positions.wrong.size):  # of pairs: the examples whose largest vote is wrong
        wrong = positions.wrong[p] + (wrong if p > 0 else 0)
    record.wrong[at[N_ROUNDS] - 1] = wrong
    if at[N_COSTLY] == _PATIENCE:
        at[TALLIED] = 0
        at[LISTED] = 1


@inner_kernel
def _weigh(rule: Rule, reaches: bool, positions: Positions) -> None:
    """Write the weights of the next round to ``raw``, from the first number of mistakes on."""
    at, raw = positions.at, positions.raw
    n = write_masses(positions, reaches, positions.held)
    if rule.function == 0:
        for k in range(n):
            raw[k] = 0.0  # Python code sets them later
        return
    t, edge_sum = at[N_ROUNDS] + 1, positions.edges[0]
    call(rule.function, (rule.parameters, at[FIRST], t, edge_sum, positions.held, n, raw))
