"""The engine: it owns the arrays of one fit, and plays rounds on rows in memory.

Who owns what:

- `BinnedRows` belong to the data. All fits on it read them, and none writes.
- `RowState`, `Positions` and `Nodes` belong to one fit. A thread writes the parts of its own share;
  thread 0 alone writes what they have in common, while the others wait.
- `Record` is what comes out: trees and numbers of rounds.

Dense and sparse rows, and two classes and several, are compiled apart from the same source
(`compile_play`). The rule that weighs the examples is called by its address.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.barrier import new_barrier, run_together
from driftgames._kernels.jit import inner_kernel, kernel, specialise
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array, BitArray, DenseBins
from driftgames.boosting.growth import (
    class_rows,
    class_sides,
    pair_rows,
    pair_sides,
    rounds,
)
from driftgames.boosting.growth import (
    positions as keeping,
)
from driftgames.boosting.growth import (
    rows as row_steps,
)
from driftgames.boosting.growth.binned_trees import BinnedTree
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
    Nodes,
    compile_growth,
    make_nodes,
    widen,
)
from driftgames.boosting.growth.positions import SUM_BITS, Positions, Rule
from driftgames.boosting.growth.rows import BLOCK, BinnedRows, RowState
from driftgames.boosting.growth.shape import TreeShape
from driftgames.core.typing import FloatArray, IntArray

_LEAVES = 32  # for how many leaves arrays are made at first
_LEVELS = 32  # levels of the tally at first
_FEW_CODES = 1 << 18  # with so few bins listed by rows, a tally saves nothing
_CHUNK_NODES = 1 << 12  # nodes for which a record has room at least
_NONE = np.empty(0, dtype=np.int64)


class Kind(NamedTuple):
    """The kinds of rows that loops are compiled for."""

    dense: bool
    pairs: bool


GIVEN = Rule(function=0, looks_at_masses=1, parameters=np.zeros(0))
"""The rule of weights that Python code sets after each round."""


@cache
def compile_play(kind: Kind) -> Callable[..., int]:
    """Return `rounds.play` for rows of a kind."""
    steps = row_kernels(kind)
    growth = compile_growth(pair_sides if kind.pairs else class_sides)
    names = ["list_rows", "sum_root", "total_node", "ask", "divide", "sum_sides", "move"]
    return specialise(
        rounds.play,
        kernel,
        **growth._asdict(),
        **{name: steps[name] for name in names},
        is_full=keeping.is_full,
        sum_counts=keeping.sum_counts,
        keep_edge=keeping.keep_edge,
        begin_move=keeping.begin_move,
        end_round=keeping.end_round,
    )


@cache
def row_kernels(kind: Kind) -> dict[str, Callable[..., Any]]:
    """Return the steps of a tree that read rows of a kind."""

    def bind(function: Callable[..., Any], **others: Any) -> Callable[..., Any]:
        return specialise(function, inner_kernel, **others)

    own: Any = pair_rows if kind.pairs else class_rows
    add_rows = own.add_dense if kind.dense else own.add_sparse
    summing = bind(row_steps.sum_node, add_rows=add_rows)
    enter = keeping.enter_dense if kind.dense else keeping.enter_sparse
    by_column = keeping.move_dense_column if kind.dense else keeping.move_sparse_column
    moving = (
        bind(keeping.move_pairs)
        if kind.pairs
        else bind(
            keeping.move_rows,
            move_leaves=bind(keeping.move_listed, enter=enter),
            move_column=bind(by_column, enter=enter),
        )
    )
    column = row_steps.dense_column if kind.dense else row_steps.sparse_column
    return {
        "list_rows": bind(row_steps.list_share, weigh_block=own.weigh_block),
        "list_all": bind(row_steps.list_share, weigh_block=own.weigh_nothing),
        "sum_root": bind(row_steps.sum_all, sum_rows=summing),
        "total_node": bind(row_steps.total_node, add_totals=own.add_totals),
        "add_totals": own.add_totals,
        "ask": bind(row_steps.look_up, find_column=column),
        "divide": bind(row_steps.divide_share),
        "sum_sides": bind(row_steps.sum_both, sum_rows=summing),
        "move": moving,
    }


@dataclass(frozen=True, eq=False)
class Numbers(Struct):
    """A keeper of no positions: only the numbers that a tree needs."""

    at: Array


@cache
def _scaling() -> Callable[..., Any]:
    scale: Any = keeping.scale_weights
    plain: Callable[..., Any] = scale.py_func
    return kernel(plain)


@cache
def _following(kind: Kind) -> Callable[..., None]:
    steps = row_kernels(kind)
    own = {"list_rows": steps["list_all"], "ask": steps["ask"], "divide": steps["divide"]}
    return specialise(row_steps.follow, kernel, **own)


@cache
def _moving(kind: Kind) -> Callable[..., None]:
    own = {name: row_kernels(kind)[name] for name in ("ask", "move")}
    return specialise(keeping.move_all, kernel, **own)


@cache
def _writing(kind: Kind) -> Callable[..., None]:
    write: Callable[..., None] = (pair_rows if kind.pairs else class_rows).write_votes
    return kernel(write)


class Engine:
    """Grows trees on binned rows in memory; subclasses keep the positions of the rows.

    ``sample_weights`` are in the order of the binned rows; rows of weight zero are held out.
    ``labels`` number the classes in that order if there are more than two.
    """

    keeper: Any

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        sample_weights: IntArray,
        *,
        labels: IntArray | None = None,
        n_classes: int = 2,
        n_threads: int = 1,
        start: int = 0,
        n_rounds: int = 1,
    ) -> None:
        self.data = data
        dense, pairs = isinstance(data.bins, DenseBins), n_classes > 2
        self.kind = Kind(dense, pairs)
        self._whole = data.integer_weights
        self.n_threads = n_threads
        self.rows = as_rows(data, labels)
        n_labels, lanes = (n_classes, pair_sides.LANES) if pairs else (1, class_sides.LANES)
        n_blocks = -(-n_labels // lanes)
        n_parts = 2 * n_blocks + shape.has_least_size
        numbers = tuple(shape.numbers(int(sample_weights.sum())))
        room = min(_LEAVES, *(n for n in (numbers[1], 2 ** max(numbers[0], 0)) if n > 1))
        self.nodes = make_nodes(numbers, n_parts, n_labels, lanes, data.n_codes, n_threads, room)
        sizes = _NONE
        if shape.min_weight_fraction_leaf > 0:
            sizes = sample_weights
        elif shape.has_least_size:
            sizes = np.ones(data.n_rows, dtype=np.int64)
        n_rows, n_features = data.n_rows, data.implicit.size
        weights = marks = np.zeros(n_rows, dtype=np.int64)
        if pairs:
            weights = np.zeros((n_blocks, n_rows, lanes), dtype=np.int64)
        if isinstance(data.bins, DenseBins):
            columns, column_of = data.bins.columns, np.arange(n_features)
        else:  # columns take no more memory than the rows themselves
            spare = data.bins.codes.nbytes + 2**20  # but there is room for one large tree
            n_columns = min(max(spare // max(n_rows, 1), 1), n_features)
            columns = np.empty((n_columns, n_rows), dtype=np.uint8)
            column_of = np.full(n_features, -1)
        self.state = RowState(
            sample_weights=sample_weights,
            sizes=sizes,
            levels=np.full(n_rows * n_labels, start, dtype=np.uint32),
            weights=weights,
            own=np.zeros(n_rows if pairs else 0, dtype=np.int64),
            marks=marks,
            # every share has room for one row more: see `rows.list_rows`
            lists=np.empty((n_threads, 3, n_rows // n_threads + 2 * BLOCK + 1), dtype=np.uint32),
            bounds=np.zeros((n_threads, self.nodes.gains.size, 4, 2), dtype=np.int64),
            parts=np.zeros((n_threads, n_parts, lanes), dtype=np.int64),
            columns=columns,
            column_of=column_of,
            owners=np.append(np.full(len(columns), -1), 0),
            goes_left=np.zeros(256, dtype=np.uint8),
            asked_column=np.zeros(1, dtype=np.int64),
        )
        self._record = rounds.make_record(n_rounds, _CHUNK_NODES, n_labels)
        self._barrier = new_barrier()

    def _run(self, loop: Callable[..., int], until: int, rule: Rule) -> bool:
        """Play with a compiled loop; return False if a tree had no edge."""
        status = rounds.RECORD_FULL
        while status not in (rounds.PLAYED, rounds.NO_EDGE):
            status = self._call(loop, until, rule)
            if status == rounds.TALLY_FULL:
                self._widen_tally()
            elif status == rounds.NODES_FULL:
                self.widen_nodes()
            if status in (rounds.NODES_FULL, rounds.RECORD_FULL):
                self._make_room()
        return bool(status == rounds.PLAYED)

    def _call(self, loop: Callable[..., int], until: int, rule: Rule) -> int:
        """Run a compiled loop in all threads; return how it ended."""
        given = *self.arrays(), self._record, rule, self._barrier
        n = self.n_threads
        return run_together(lambda p: loop(p, n, until, *given), n)[0]

    def widen_nodes(self) -> None:
        """Make room for trees of twice as many leaves."""
        self.nodes = widen(self.nodes)
        bounds = self.state.bounds
        wider = np.concatenate([bounds, bounds, bounds[:, :1]], axis=1)
        self.state = replace(self.state, bounds=wider)

    def _make_room(self) -> None:
        """Make room in the record for one tree more at least."""
        needed = int(self.keeper.at[N_STORED]) + self.nodes.gains.size
        wider = {}
        for name in ("questions", "votes", "gains", "order", "place"):
            old = getattr(self._record, name)
            if old.shape[0] < needed:
                wider[name] = np.zeros((2 * needed, *old.shape[1:]), old.dtype)
                wider[name][: old.shape[0]] = old
        self._record = replace(self._record, **wider)

    def _widen_tally(self) -> None:
        raise AssertionError("no tally is kept")

    def arrays(self) -> tuple[BinnedRows, RowState, Any, Nodes]:
        """Return the arrays that the loops of a tree work on."""
        return self.rows, self.state, self.keeper, self.nodes

    def place(self, tree: BinnedTree) -> None:
        """Take a tree as grown, and send the rows to its leaves if they are listed."""
        self._take(tree)
        if self.keeper.at[LISTED]:
            _following(self.kind)(self.n_threads, *self.arrays())

    def follow(self, tree: BinnedTree) -> None:
        """Send the rows to the leaves of a tree."""
        self._take(tree)
        _following(self.kind)(self.n_threads, *self.arrays())

    def _take(self, tree: BinnedTree) -> None:
        while self.nodes.gains.size < len(tree):
            self.widen_nodes()
        self.nodes.at[N_NODES] = len(tree)
        self.nodes.questions[: len(tree)] = tree.questions
        self.nodes.votes[: len(tree)] = tree.votes

    def leaf_votes(self) -> BitArray:
        """Return the vote on every row, or pair, in its leaf: 1 for +1 and 0 for -1."""
        votes = np.empty(self.state.levels.size, dtype=np.uint8)
        _writing(self.kind)(self.state, self.nodes, votes)
        return votes


@cache
def _packing() -> Callable[..., None]:
    return kernel(pair_rows.pack)


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
        enter, positions, split = _counting(self.kind), self.keeper, self.data.split
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

    def weights_by_mistakes(self) -> FloatArray:
        """Return the weights of the next round by number of mistakes, from the first on."""
        first, masses = self.masses()
        levels = np.arange(first, first + masses.shape[1]) - self.keeper.shift[:, None]
        tables = np.take_along_axis(self._table, np.maximum(levels, 0), axis=1)
        return np.asarray(np.where(masses[0] > 0, tables[0], tables[1]), dtype=np.float64)

    @property
    def _table(self) -> Array:
        return np.asarray(self.keeper.tables if self._whole else self.keeper.reals)

    def set_weights(self, weights: FloatArray) -> None:
        """Take the weights of the next round by number of mistakes, from the first on."""
        self.keeper.raw[: weights.size] = weights
        zeros, _ = _scaling()(self.keeper, 0)
        if self.n_rounds:
            self._record.zeros[self.n_rounds - 1] = zeros

    def play(self, until: int, rule: Rule = GIVEN) -> bool:
        """Play up to round ``until``; return False if a tree had no edge."""
        return self._run(compile_play(self.kind), until, rule)

    def move(self, tree: BinnedTree, edge: float) -> None:
        """Count the mistakes of a tree, whose edge is known, as a round.

        `set_weights` must follow.
        """
        self.follow(tree)
        at = self.keeper.at
        listed, at[LISTED] = int(at[LISTED]), 1
        begin, n = int(at[N_STORED]), len(tree)
        self._make_room()
        for name in ("questions", "votes", "gains"):
            getattr(self._record, name)[begin : begin + n] = getattr(tree, name)
        self._record.n_nodes[self.n_rounds] = n
        self._record.edges[self.n_rounds] = edge
        at[N_STORED] += n
        self.keeper.edges[0] += edge
        self.move_leaves()
        if at[keeping.TALLIED]:
            at[LISTED] = listed

    def move_leaves(self) -> int:
        """Count the mistakes of the tree whose leaves hold the rows.

        Return the mass of examples that the vote gets wrong, of several classes.
        """
        _moving(self.kind)(*self.arrays(), self._record, GIVEN)
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
            _packing()(weights, self.rows, self.state)
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


@cache
def _counting(kind: Kind) -> Callable[..., None]:
    enter: Any = keeping.enter_dense if kind.dense else keeping.enter_sparse
    plain: Callable[..., None] = enter.py_func
    return kernel(plain)


def as_rows(data: BinnedData, labels: IntArray | None) -> BinnedRows:
    """Return binned rows as the loops see them."""
    bins = data.bins
    split = data.split if labels is None else data.n_rows
    shared = split, _NONE if labels is None else labels, data.feature_bins, data.counts
    if isinstance(bins, DenseBins):
        lists = _NONE, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
        return BinnedRows(*shared, data.offsets, bins.codes.reshape(-1), *lists)
    return BinnedRows(
        *shared, bins.starts, bins.codes, bins.list_starts, bins.listed, bins.listed_bins
    )
