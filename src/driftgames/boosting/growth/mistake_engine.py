"""Engines that know each row by its number of mistakes, and trees on weights that are given."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from driftgames._kernels.barrier import new_barrier, run_together
from driftgames._kernels.jit import kernel
from driftgames._kernels.structs import new_counters
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth import positions as position_steps
from driftgames.boosting.growth import rounds, several_classes
from driftgames.boosting.growth.binned_trees import BinnedTree
from driftgames.boosting.growth.engine import Engine
from driftgames.boosting.growth.positions import (
    AS_GIVEN,
    BY_FLOATS,
    BY_INTEGERS,
    SUM_BITS,
    Positions,
    Rule,
)
from driftgames.boosting.growth.record import make_record, widen_record
from driftgames.boosting.growth.rows import BLOCK
from driftgames.boosting.growth.shape import TreeShape
from driftgames.core.typing import FloatArray, IntArray

_LEVELS = 32  # levels of the tally at first
_CHUNK_NODES = 1 << 12  # nodes for which a record has room at least
_FEW_CODES = 1 << 18  # with fewer bins listed by rows, a tally saves nothing

PYTHON_RULE = Rule(function=0, looks_at_masses=1, parameters=np.zeros(0))
"""The rule of weights that Python code sets after each round."""


class MistakeEngine(Engine):
    """Plays rounds on rows that are known by their numbers of mistakes."""

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        sample_weights: IntArray,
        n_rounds: int,
        *,
        n_classes: int = 2,
        n_threads: int = 1,
        counts_rows: bool = True,
        **settings: Any,
    ) -> None:
        tallied = (
            counts_rows
            and n_classes == 2
            and data.integer_weights
            and not shape.has_least_size
            and _is_tally_cheap(data, shape)
            and int(sample_weights.sum()) < 2**31
        )
        start = n_rounds + 1 if tallied else 0
        sizes: dict[str, Any] = {"n_classes": n_classes, "n_threads": n_threads, "start": start}
        super().__init__(data, shape, sample_weights, **sizes, **settings)
        self.positions = self._make_positions(n_rounds, start, tallied, shape.is_stump)
        self._record = make_record(n_rounds, _CHUNK_NODES, self.nodes.votes.shape[1])
        self._barrier = new_barrier()
        if tallied:
            self._fill_tally()

    def _make_positions(
        self, n_rounds: int, start: int, tallied: bool, is_stump: bool
    ) -> Positions:
        data, n_shares, integers = self.data, self.n_threads, np.int64
        width = n_rounds + 3
        n_levels = start + width
        counters = new_counters(*position_steps.COUNTERS, reals=position_steps.REALS)
        counters[0].width = 1
        counters[0].tallied = tallied
        counters[0].listed = not (tallied and is_stump)
        counters[0].codes_per_row = data.bins.codes.size / max(data.n_rows, 1)
        exact = data.integer_weights
        weights = self.state.sample_weights
        masses = np.zeros((2, width), integers)
        if self.has_pairs:
            masses[:, 0] = (self.nodes.votes.shape[1] - 1) * int(weights.sum())
        else:
            masses[:, 0] = weights[: data.split].sum(), weights[data.split :].sum()
        levels = np.full(2, start, integers)
        shape = (n_shares, 2, _LEVELS, data.n_codes + 1) if tallied else (0, 2, 0, 0)
        spans = (0, data.split), (data.split, data.n_rows)
        cuts = np.stack([np.linspace(*span, n_shares + 1).astype(integers) for span in spans], 1)
        return Positions(
            weighing=BY_INTEGERS if exact else BY_FLOATS,
            moves=1,
            counters=counters,
            shift=-levels,
            rise=np.ones(2, dtype=np.bool_),
            masses=masses,
            moved=np.zeros((n_shares, 2, n_levels), integers),
            wrong=np.zeros(n_shares if self.has_pairs else 0, integers),
            tables=np.zeros((2, n_levels if exact else 0), integers),
            float_tables=np.zeros((2, 0 if exact else n_levels)),
            unscaled=np.zeros(width),
            mass_scratch=np.zeros(width),
            tally=np.zeros(shape, dtype=np.int32),
            base=levels - _LEVELS // 2,
            low=levels.copy(),
            high=levels.copy(),
            begins=np.ascontiguousarray(cuts[:-1]),
            ends=np.ascontiguousarray(cuts[1:]),
            collected=np.empty((n_shares, 4096), dtype=np.uint32),
        )

    def _fill_tally(self) -> None:
        """Count all rows at their first level, and at the levels below it."""
        count_moved = instantiate(self._parts["layout"].count_moved, kernel)
        positions, split = self.positions, self.data.split
        for p in range(self.n_threads):
            for c, (begin, end) in enumerate(((0, split), (split, self.data.n_rows))):
                rows = np.arange(begin, end, dtype=np.uint32)
                if self.is_listed:  # the rows of a share are those of its lists
                    rows = rows[(rows - begin) // BLOCK % self.n_threads == p]
                else:
                    rows = np.arange(positions.begins[p, c], positions.ends[p, c], dtype=np.uint32)
                count_moved(p, c, rows, self.rows, self.state, positions)
        half = _LEVELS // 2
        positions.tally[:, :, :half] = positions.tally[:, :, half : half + 1]

    def _widen_tally(self) -> None:
        """Move each class to the middle of the levels; double their number if needed."""
        names = "tally", "low", "high", "base"
        old, low, high, base = (getattr(self.positions, name) for name in names)
        spread = high - low + 1
        n_levels = old.shape[2]
        n_levels = 2 * n_levels if int(spread.max()) > n_levels // 2 else n_levels
        starts = (n_levels - spread) // 2
        wider = np.zeros((*old.shape[:2], n_levels, old.shape[3]), dtype=np.int32)
        for c in range(2):
            begin = low[c] - base[c]
            occupied = old[:, c, begin : begin + spread[c]]
            wider[:, c, : starts[c]] = occupied[:, :1]  # all rows are above these levels
            wider[:, c, starts[c] : starts[c] + spread[c]] = occupied
        base[:] = low - starts
        self.positions = replace(self.positions, tally=wider)

    @property
    def n_rounds(self) -> int:
        """The number of rounds played."""
        return self._record.n_rounds

    @property
    def most_rounds(self) -> int:
        """The number of rounds that there is room for."""
        return int(self._record.edges.size)

    @property
    def edge_sum(self) -> float:
        """The sum of the edges so far."""
        return float(self.positions.counters[0].edge_sum)

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each from there on."""
        counters = self.positions.counters[0]
        first = int(counters.first)
        return first, self.positions.masses[:, first : first + int(counters.width)].copy()

    def mistakes(self) -> IntArray:
        """Return the number of mistakes of every row, or pair."""
        mistakes = self.state.levels.astype(np.int64)
        if not self.has_pairs:
            mistakes[: self.data.split] += self.positions.shift[0]
            mistakes[self.data.split :] += self.positions.shift[1]
        return mistakes

    def votes_for(self) -> IntArray:
        """Return how many votes were +1 on every row, for each label if there are several."""
        mistakes = self.mistakes()
        if self.has_pairs:
            mistakes = mistakes.reshape(self.data.n_rows, -1)
            own = self.rows.labels[:, None] == np.arange(mistakes.shape[1])
            return np.asarray(np.where(own, self.n_rounds - mistakes, mistakes))
        upper = mistakes[self.data.split :]
        np.subtract(self.n_rounds, upper, out=upper)
        return mistakes

    @property
    def _table(self) -> Array:
        exact = self.positions.weighing == BY_INTEGERS
        return np.asarray(self.positions.tables if exact else self.positions.float_tables)

    def set_weights(self, weights: FloatArray) -> None:
        """Take the weights of the next round by number of mistakes, from the first on."""
        self.positions.unscaled[: weights.size] = weights
        scale_weights = instantiate(position_steps.scale_weights, kernel)
        zeros, _ = scale_weights(self.positions, self.n_rounds, 0)
        if self.n_rounds:
            self._record.zeros[self.n_rounds - 1] = zeros

    def play(self, until: int, rule: Rule = PYTHON_RULE) -> bool:
        """Play up to round ``until``; return False if a tree had no edge."""
        self.wake()
        status = self._call(until, rule)
        while status not in (rounds.PLAYED, rounds.NO_EDGE):
            if status == rounds.TALLY_FULL:
                self._widen_tally()
            elif status == rounds.NODES_FULL:
                self.make_room(self.nodes.gains.size + 1)
            self._widen_record()
            status = self._call(until, rule)
        return bool(status == rounds.PLAYED)

    def _call(self, until: int, rule: Rule) -> int:
        """Run the compiled loop in all threads; return how it ended."""
        loop, n = self.compile(rounds.play), self.n_threads
        given = *self.arrays(), self._record, rule, self._barrier
        if n > 1:
            loop(0, 1, 0, *given)  # no round: it is compiled here, where it can be interrupted
        return run_together(lambda p: loop(p, n, until, *given), n)[0]

    def _widen_record(self) -> None:
        """Make room in the record for the largest tree that the nodes have room for."""
        self._record = widen_record(self._record, self.nodes.gains.size)

    def move_leaves(self) -> int:
        """Count the mistakes of the tree whose leaves hold the rows.

        Return the mass of examples that the vote gets wrong, of several classes.
        """
        if instantiate(position_steps.tally_is_full, kernel)(self.positions):
            self._widen_tally()
        self.compile(rounds.move_all)(*self.arrays(), self._record, PYTHON_RULE)
        return int(self.positions.wrong.sum())

    def take_weights(self, first: int, weights: Array) -> None:
        """Take the weights of the next round as they are, from ``first`` mistakes on."""
        for c in range(2):
            level = first - int(self.positions.shift[c])
            skipped = max(-level, 0)
            table = self._table[c, level + skipped :]
            taken = weights[skipped:][: table.size]
            table[: taken.size] = taken

    def rounds(self, begin: int, end: int) -> list[tuple[BinnedTree, float, int, int]]:
        """Return the rounds from ``begin`` to ``end``.

        Each has its tree and edge, and the masses that weigh zero and that err after it.
        """
        record = self._record
        ends = np.cumsum(record.tree_sizes[:end])
        first = int(ends[begin - 1]) if begin else 0
        ends = ends[begin:] - first
        trees = record.trees(first, first + int(ends[-1]) if ends.size else first)
        starts = [0, *ends.tolist()]
        edges, zeros, wrong = (
            column[begin:end].tolist() for column in (record.edges, record.zeros, record.wrong)
        )
        parts = [trees.part(*span) for span in pairwise(starts)]
        return list(zip(parts, edges, zeros, wrong, strict=True))


class TreeGrower(MistakeEngine):
    """Grows one tree after another on weights that are given; the rows stay where they are."""

    def __init__(
        self, data: BinnedData, shape: TreeShape, sample_weights: IntArray, **settings: Any
    ) -> None:
        super().__init__(data, shape, sample_weights, 1, counts_rows=False, **settings)
        self.positions = replace(self.positions, weighing=AS_GIVEN, moves=0)

    def grow(self, weights: IntArray) -> tuple[int, int, BinnedTree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` for these weights."""
        progress = self._record.counters[0]
        progress.n_nodes = progress.growing = 0
        self.give_weights(weights)
        has_edge = self.play(1)
        value, norm = int(progress.value), int(progress.norm)
        if not has_edge:
            self.nodes.counters[0].n_nodes = 1
            return value, max(norm, 1), BinnedTree.leaf(self.nodes.votes[0])
        return value, norm, self._record.trees(0, int(self._record.tree_sizes[0]))

    def give_weights(self, weights: IntArray) -> None:
        """Take the weights of all rows, or pairs."""
        if self.has_pairs:
            several_classes.take_weights(weights, self.rows, self.state)
        else:
            self.state.weights[:] = weights


def _is_tally_cheap(data: BinnedData, shape: TreeShape) -> bool:
    """Return whether sums from counts may be cheaper than sums over rows."""
    codes = data.bins.codes.size
    if shape.is_stump:
        return bool(codes >= 16 * data.n_codes)
    return bool(codes >= max(_FEW_CODES, 64 * data.n_codes))


def scale_raw(
    weights: FloatArray, masses: IntArray, first: int, n_rounds: int, out: FloatArray
) -> tuple[int, int]:
    """Scale weights that stand elsewhere; return the masses of zero weight and of wrong votes."""
    held = masses.sum(axis=0)
    equal = not (held * weights).any()
    total = float(held.sum()) if equal else _ordered_sum(held * weights)
    exponent = math.frexp(total)[1]
    out[:] = 0.0  # where no example has this number of mistakes
    out[held > 0] = np.ldexp(1.0 if equal else weights[held > 0], SUM_BITS - exponent)
    mistakes = np.arange(first, first + held.size)
    wrong = masses[0][2 * mistakes > n_rounds].sum() + masses[1][2 * mistakes >= n_rounds].sum()
    return 0 if equal else int(held[weights == 0.0].sum()), int(wrong)


def _ordered_sum(values: FloatArray) -> float:
    total = 0.0
    for value in values.tolist():  # in the order of the compiled loop
        total += value
    return total
