"""Engines that know each row by its number of mistakes, and trees on weights that are given."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth import positions as keeping
from driftgames.boosting.growth.binned_trees import BinnedTree
from driftgames.boosting.growth.compiled_steps import (
    compile_counting,
    compile_moving,
    compile_packing,
    compile_play,
    compile_scaling,
)
from driftgames.boosting.growth.engine import Engine
from driftgames.boosting.growth.nodes import GIVEN as GIVEN_WEIGHTS
from driftgames.boosting.growth.nodes import (
    GROWING,
    LISTED,
    MOVES,
    N_NODES,
    N_ROUNDS,
    N_STORED,
    REAL,
    WEIGHS,
    WHOLE,
)
from driftgames.boosting.growth.positions import SUM_BITS, Positions, Rule
from driftgames.boosting.growth.rows import BLOCK
from driftgames.boosting.growth.shape import TreeShape
from driftgames.core.typing import FloatArray, IntArray

_LEVELS = 32  # levels of the tally at first
_FEW_CODES = 1 << 18  # with fewer bins listed by rows, a tally saves nothing

GIVEN = Rule(function=0, looks_at_masses=1, parameters=np.zeros(0))
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
        super().__init__(data, shape, sample_weights, n_rounds=n_rounds, **sizes, **settings)
        self.keeper = self._make_positions(n_rounds, start, tallied, shape.is_stump)
        if tallied:
            self._fill_tally()

    def _make_positions(
        self, n_rounds: int, start: int, tallied: bool, is_stump: bool
    ) -> Positions:
        data, n_shares, integers = self.data, self.n_threads, np.int64
        width = n_rounds + 3
        n_levels = start + width
        at = np.zeros(keeping.N_AT, integers)
        at[keeping.WIDTH] = 1
        at[keeping.TALLIED] = tallied
        at[LISTED] = not (tallied and is_stump)
        at[WEIGHS] = WHOLE if self._whole else REAL
        at[MOVES] = 1
        weights = self.state.sample_weights
        masses = np.zeros((2, width), integers)
        if self.kind.pairs:
            masses[:, 0] = (self.nodes.votes.shape[1] - 1) * int(weights.sum())
        else:
            masses[:, 0] = weights[: data.split].sum(), weights[data.split :].sum()
        levels = np.full(2, start, integers)
        shape = (n_shares, 2, _LEVELS, data.n_codes + 1) if tallied else (0, 2, 0, 0)
        ends = np.empty((n_shares, 2, 2), integers)
        for c, (begin, end) in enumerate(((0, data.split), (data.split, data.n_rows))):
            cuts = np.linspace(begin, end, n_shares + 1).astype(integers)
            ends[:, c] = np.stack([cuts[:-1], cuts[1:]], axis=1)
        return Positions(
            at=at,
            shift=-levels,
            rise=np.ones(2, dtype=np.bool_),
            masses=masses,
            moved=np.zeros((n_shares, 2, n_levels), integers),
            wrong=np.zeros(n_shares if self.kind.pairs else 0, integers),
            tables=np.zeros((2, n_levels if self._whole else 0), integers),
            reals=np.zeros((2, 0 if self._whole else n_levels)),
            raw=np.zeros(width),
            held=np.zeros(width),
            edges=np.array([0.0, data.bins.codes.size / max(data.n_rows, 1)]),
            tally=np.zeros(shape, dtype=np.int32),
            base=levels - _LEVELS // 2,
            low=levels.copy(),
            high=levels.copy(),
            ends=ends,
            collected=np.empty((n_shares, 4096), dtype=np.uint32),
        )

    def _fill_tally(self) -> None:
        """Count all rows at their first level, and at the levels below it."""
        enter, positions, split = compile_counting(self.kind), self.keeper, self.data.split
        for p in range(self.n_threads):
            for c, (begin, end) in enumerate(((0, split), (split, self.data.n_rows))):
                rows = np.arange(begin, end, dtype=np.uint32)
                if positions.at[LISTED]:  # the rows of a share are those of its lists
                    rows = rows[(rows - begin) // BLOCK % self.n_threads == p]
                else:
                    rows = np.arange(*positions.ends[p, c], dtype=np.uint32)
                enter(p, c, rows, self.rows, self.state, positions)
        half = _LEVELS // 2
        positions.tally[:, :, :half] = positions.tally[:, :, half : half + 1]

    def _widen_tally(self) -> None:
        """Move each class to the middle of the levels; double their number if needed."""
        names = "tally", "low", "high", "base"
        old, low, high, base = (getattr(self.keeper, name) for name in names)
        spread = high - low + 1
        n_levels = old.shape[2]
        n_levels = 2 * n_levels if int(spread.max()) > n_levels // 2 else n_levels
        starts = (n_levels - spread) // 2
        wider = np.zeros((*old.shape[:2], n_levels, old.shape[3]), dtype=np.int32)
        for c in range(2):
            begin = low[c] - base[c]
            held = old[:, c, begin : begin + spread[c]]
            wider[:, c, : starts[c]] = held[:, :1]  # all rows are above these levels
            wider[:, c, starts[c] : starts[c] + spread[c]] = held
        base[:] = low - starts
        self.keeper = replace(self.keeper, tally=wider)

    @property
    def n_rounds(self) -> int:
        """The number of rounds played."""
        return int(self.keeper.at[N_ROUNDS])

    @property
    def most_rounds(self) -> int:
        """The number of rounds that there is room for."""
        return int(self._record.edges.size)

    @property
    def edge_sum(self) -> float:
        """The sum of the edges so far."""
        return float(self.keeper.edges[0])

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each from there on."""
        first, width = self.keeper.at[[keeping.FIRST, keeping.WIDTH]].tolist()
        return first, self.keeper.masses[:, first : first + width].copy()

    def mistakes(self) -> IntArray:
        """Return the number of mistakes of every row, or pair."""
        mistakes = self.state.levels.astype(np.int64)
        if not self.kind.pairs:
            mistakes[: self.data.split] += self.keeper.shift[0]
            mistakes[self.data.split :] += self.keeper.shift[1]
        return mistakes

    def votes_for(self) -> IntArray:
        """Return how many votes were +1 on every row, for each label if there are several."""
        mistakes = self.mistakes()
        if self.kind.pairs:
            mistakes = mistakes.reshape(self.data.n_rows, -1)
            own = self.rows.labels[:, None] == np.arange(mistakes.shape[1])
            return np.asarray(np.where(own, self.n_rounds - mistakes, mistakes))
        upper = mistakes[self.data.split :]
        np.subtract(self.n_rounds, upper, out=upper)
        return mistakes

    @property
    def _table(self) -> Array:
        return np.asarray(self.keeper.tables if self._whole else self.keeper.reals)

    def set_weights(self, weights: FloatArray) -> None:
        """Take the weights of the next round by number of mistakes, from the first on."""
        self.keeper.raw[: weights.size] = weights
        zeros, _ = compile_scaling()(self.keeper, 0)
        if self.n_rounds:
            self._record.zeros[self.n_rounds - 1] = zeros

    def play(self, until: int, rule: Rule = GIVEN) -> bool:
        """Play up to round ``until``; return False if a tree had no edge."""
        return self._run(compile_play(self.kind), until, rule)

    def move_leaves(self) -> int:
        """Count the mistakes of the tree whose leaves hold the rows.

        Return the mass of examples that the vote gets wrong, of several classes.
        """
        is_full: Any = keeping.is_full
        if is_full.py_func(self.keeper):  # whole rounds look themselves, and ask for room
            self._widen_tally()
        compile_moving(self.kind)(*self.arrays(), self._record, GIVEN)
        return int(self.keeper.wrong.sum())

    @property
    def is_listed(self) -> bool:
        """Whether the rows are listed, and not only counted."""
        return bool(self.keeper.at[LISTED])

    def take_weights(self, first: int, weights: Array) -> None:
        """Take the weights of the next round as they are, from ``first`` mistakes on."""
        for c in range(2):
            level = first - int(self.keeper.shift[c])
            skipped = max(-level, 0)
            table = self._table[c, level + skipped :]
            mine = weights[skipped:][: table.size]
            table[: mine.size] = mine

    def rounds(self, begin: int, end: int) -> list[tuple[BinnedTree, float, int, int]]:
        """Return the rounds from ``begin`` to ``end``.

        Each has its tree and edge, and the masses that weigh zero and that err after it.
        """
        record = self._record
        ends = np.cumsum(record.n_nodes[:end])
        first = int(ends[begin - 1]) if begin else 0
        ends = ends[begin:] - first
        trees = BinnedTree.of(record, first, first + int(ends[-1]) if ends.size else first)
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
        self.keeper.at[WEIGHS] = GIVEN_WEIGHTS
        self.keeper.at[MOVES] = 0

    def grow(self, weights: IntArray) -> tuple[int, int, BinnedTree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` for these weights."""
        self.keeper.at[[N_STORED, GROWING]] = 0
        self.give_weights(weights)
        has_edge = self.play(1)
        value, norm = self._record.sums.tolist()
        if not has_edge:
            self.nodes.at[N_NODES] = 1
            return value, max(norm, 1), BinnedTree.leaf(self.nodes.votes[0])
        return value, norm, BinnedTree.of(self._record, 0, int(self._record.n_nodes[0]))

    def give_weights(self, weights: IntArray) -> None:
        """Take the weights of all rows, or pairs."""
        if self.kind.pairs:
            compile_packing()(weights, self.rows, self.state)
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
