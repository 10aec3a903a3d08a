"""The engine: it owns the arrays of one fit, and plays rounds on rows in memory.

Who owns what:

- `BinnedRows` belong to the data. All fits on it read them, and none writes.
- `RowState`, `Positions` and `Nodes` belong to one fit. A thread writes the parts of its own share;
  thread 0 alone writes what they have in common, while the others wait.
- `Record` is what comes out: trees and numbers of rounds.

The loops are templates: they are compiled for two classes or several, and for dense or sparse rows.
The rule that weighs the examples is called by its address.

`MistakeEngine` knows rows by their numbers of mistakes, and makes room by itself: for more levels
in the tally, nodes in a tree and trees in the record. `TreeGrower` is the same engine for weights
that Python code sets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from driftgames._kernels.barrier import new_barrier, run_together
from driftgames._kernels.jit import kernel
from driftgames._kernels.structs import new_counters
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array, BitArray, DenseBins
from driftgames.boosting.engine import (
    dense_rows,
    rounds,
    several_classes,
    sparse_rows,
    thresholds,
    two_classes,
)
from driftgames.boosting.engine import positions as position_steps
from driftgames.boosting.engine import rows as row_steps
from driftgames.boosting.engine.binned_trees import BinnedTree, TreeLearner
from driftgames.boosting.engine.nodes import (
    Nodes,
    make_nodes,
    make_record,
    widen_nodes,
    widen_record,
)
from driftgames.boosting.engine.positions import (
    AS_GIVEN,
    BY_INTEGERS,
    Positions,
    Rule,
    make_positions,
    widen_tally,
)
from driftgames.boosting.engine.rows import BLOCK, BinnedRows, RowState
from driftgames.boosting.engine.shape import TreeShape
from driftgames.core.typing import FloatArray, IntArray

F = TypeVar("F", bound=Callable[..., Any])

_LEAVES = 32  # for how many leaves arrays are made at first
_LEVELS = 32  # levels of the tally at first
_CHUNK_NODES = 1 << 12  # nodes for which a record has room at least
_FEW_CODES = 1 << 18  # with fewer bins listed by rows, a tally saves nothing
_MOST_COPIES = 1 << 24  # pairs of thresholds whose weights of 31 bits are cut off one by one

_NONE = np.empty(0, dtype=np.int64)

PYTHON_RULE = Rule(function=0, looks_at_masses=1, parameters=np.zeros(0))
"""The rule of weights that Python code sets after each round."""


class Engine:
    """Grows trees on binned rows in memory; subclasses keep the positions of the rows.

    All rows begin at level ``start``.
    """

    positions: Positions

    def __init__(self, learner: TreeLearner, *, start: int = 0) -> None:
        data, shape, n_threads = learner.data, learner.shape, learner.n_threads
        self.data, self.n_threads = data, n_threads
        self.has_pairs = learner.labels is not None
        sides = find_sides(learner.n_classes, learner.gaps)
        self._parts = {
            "sides": sides,
            "layout": dense_rows if isinstance(data.bins, DenseBins) else sparse_rows,
        }
        self.rows = as_rows(data, learner.labels, learner.gaps)
        mass = learner.mass
        room = _n_leaves_at_first(*shape.numbers(mass)[:2])
        n_labels = learner.n_classes if self.has_pairs else 1
        side = sides.side_shape(n_labels, has_size=shape.has_least_size)
        self.nodes = make_nodes(shape, mass, n_labels, side, data.n_codes, n_threads, room)
        self.state = _make_row_state(learner, side, self.nodes.gains.size, start)

    def compile(self, function: F) -> F:
        """Return a kernel for the classes and the layout of the rows."""
        return instantiate(function, **self._parts)

    def make_room(self, n_nodes: int, n_slots: int = 0) -> None:
        """Make room for a tree of so many nodes, of which so many keep their sums."""
        while self.nodes.gains.size < n_nodes or self.nodes.free.size < n_slots:
            self.nodes = widen_nodes(self.nodes)
            wider = {}
            for name in ("begins", "ends"):
                old = getattr(self.state, name)
                wider[name] = np.concatenate([old, old, old[:, :1]], axis=1)
            self.state = replace(self.state, **wider)

    def rest(self) -> None:
        """Free the sums of leaves, the largest of the arrays; the next round makes them anew."""
        sums = self.nodes.sums
        self.nodes = replace(self.nodes, sums=np.empty((len(sums), 0, *sums.shape[2:]), sums.dtype))

    def wake(self) -> None:
        """Make room for the sums of leaves, if there is none after a `rest`."""
        sums, n_slots = self.nodes.sums, self.nodes.free.size
        if sums.shape[1] < n_slots:
            shape = len(sums), n_slots, *sums.shape[2:]
            self.nodes = replace(self.nodes, sums=np.empty(shape, sums.dtype))

    def arrays(self) -> tuple[BinnedRows, RowState, Positions, Nodes]:
        """Return the arrays that the loops of a tree work on."""
        return self.rows, self.state, self.positions, self.nodes

    @property
    def is_listed(self) -> bool:
        """Whether the rows are listed, and not only counted."""
        return bool(self.positions.counters[0].listed)

    def set_tree(self, tree: BinnedTree) -> None:
        """Set the tree of the round, and send the rows to its leaves if they are listed."""
        self._write_nodes(tree)
        if self.is_listed:
            self._follow()

    def follow(self, tree: BinnedTree) -> None:
        """Send the rows to the leaves of a tree."""
        self._write_nodes(tree)
        self._follow()

    def _follow(self) -> None:
        self.compile(row_steps.follow)(self.n_threads, *self.arrays())

    def _write_nodes(self, tree: BinnedTree) -> None:
        n = len(tree)
        self.make_room(n)
        nodes = self.nodes
        nodes.counters[0].n_nodes = n
        columns = nodes.feature, nodes.cut, nodes.missing_left, nodes.left
        for column, values in zip(columns, tree.questions.T, strict=True):
            column[:n] = values
        nodes.votes[:n] = tree.votes

    def leaf_votes(self) -> BitArray:
        """Return the vote on every row, or pair, in its leaf: 1 for +1 and 0 for -1."""
        votes = np.empty(self.state.levels.size, dtype=np.uint8)
        self._parts["sides"].write_votes(self.state, self.nodes, votes)
        return votes


class MistakeEngine(Engine):
    """Plays rounds on rows that are known by their numbers of mistakes."""

    def __init__(self, learner: TreeLearner, n_rounds: int, *, counts_rows: bool = True) -> None:
        data, shape = learner.data, learner.shape
        tallied = counts_rows and _can_tally(learner) and _is_tally_cheap(data, shape)
        start = n_rounds + 1 if tallied else 0  # rows may move down by a level in every round
        super().__init__(learner, start=start)
        exact = data.integer_weights
        if learner.gaps is not None:
            exact = exact and learner.mass * learner.n_classes < _MOST_COPIES
        self.positions = make_positions(
            learner,
            n_rounds,
            start,
            exact=exact,
            listed=not (tallied and shape.is_stump),
            n_tally_levels=_LEVELS if tallied else 0,
        )
        self._record = make_record(n_rounds, _CHUNK_NODES, self.nodes.votes.shape[1])
        self._barrier = new_barrier()
        if tallied:
            self._fill_tally()

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
            labels, numbers = self.rows.labels[:, None], np.arange(mistakes.shape[1])
            upper_pairs = labels > numbers if self.rows.gaps.size else labels == numbers
            return np.asarray(np.where(upper_pairs, self.n_rounds - mistakes, mistakes))
        upper = mistakes[self.data.split :]
        np.subtract(self.n_rounds, upper, out=upper)
        return mistakes

    @property
    def _table(self) -> Array:
        exact = self.positions.weighing == BY_INTEGERS
        return np.asarray(self.positions.tables if exact else self.positions.float_tables)

    def set_weights(self, weights: FloatArray) -> None:
        """Scale the weights of the next round by number of mistakes, from the first on."""
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
                self.positions = widen_tally(self.positions)
            elif status == rounds.NODES_FULL:
                self.make_room(self.nodes.gains.size + 1)
            self._widen_record()
            status = self._call(until, rule)
        return bool(status == rounds.PLAYED)

    def _call(self, until: int, rule: Rule) -> int:
        """Run the compiled loop in all threads; return how it ended."""
        loop, n = self.compile(rounds.play), self.n_threads
        arrays = rounds.GameArrays(*self.arrays(), self._record, self._barrier, n)
        if n > 1:
            loop(0, 0, arrays, rule)  # no round: it is compiled here, where it can be interrupted
        return run_together(lambda p: loop(p, until, arrays, rule), n)[0]

    def _widen_record(self) -> None:
        """Make room in the record for the largest tree that the nodes have room for."""
        self._record = widen_record(self._record, self.nodes.gains.size)

    def move_leaves(self) -> int:
        """Count the mistakes of the tree whose leaves hold the rows.

        Return the mass of examples that the vote gets wrong, of several classes.
        """
        if instantiate(position_steps.tally_is_full, kernel)(self.positions):
            self.positions = widen_tally(self.positions)
        self.compile(rounds.move_all)(*self.arrays(), self._record, PYTHON_RULE)
        return int(self.positions.wrong.sum())

    def set_scaled_weights(self, first: int, weights: Array) -> None:
        """Set weights of the next round that are scaled already, from ``first`` mistakes on."""
        for c in range(2):
            level = first - int(self.positions.shift[c])
            skipped = max(-level, 0)
            table = self._table[c, level + skipped :]
            known = weights[skipped:][: table.size]
            table[: known.size] = known

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
    """Grows one tree after another on weights that Python code sets; the rows do not move."""

    def __init__(self, learner: TreeLearner) -> None:
        super().__init__(learner, 1, counts_rows=False)
        self.positions = replace(self.positions, weighing=AS_GIVEN, moves=0)

    def grow(self, weights: IntArray) -> tuple[int, int, BinnedTree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` for these weights."""
        progress = self._record.counters[0]
        progress.n_nodes = progress.growing = 0
        self._set_row_weights(weights)
        has_edge = self.play(1)
        value, norm = int(progress.value), int(progress.norm)
        if not has_edge:
            self.nodes.counters[0].n_nodes = 1
            return value, max(norm, 1), BinnedTree.leaf(self.nodes.votes[0])
        return value, norm, self._record.trees(0, int(self._record.tree_sizes[0]))

    def _set_row_weights(self, weights: IntArray) -> None:
        """Set the weight of every row, or pair."""
        if self.has_pairs:
            several_classes.set_weights(weights, self.rows, self.state)
        else:
            self.state.weights[:] = weights


def _make_row_state(
    learner: TreeLearner, side: tuple[int, int], n_nodes: int, start: int
) -> RowState:
    """Return the state of all rows before the first round; ``side`` is the shape of a side."""
    data, shape, sample_weights = learner.data, learner.shape, learner.sample_weights
    n_rows, n_features, n_threads = data.n_rows, data.implicit.size, learner.n_threads
    n_labels = 1 if learner.labels is None else learner.n_classes
    n_parts, lanes = side
    sizes = _NONE
    if shape.min_weight_fraction_leaf > 0:
        sizes = sample_weights
    elif shape.has_least_size:
        sizes = np.ones(n_rows, dtype=np.int64)
    weights = has_weight = np.zeros(n_rows, dtype=np.int64)
    if learner.labels is not None:
        weights = np.zeros((-(-n_labels // lanes), n_rows, lanes), dtype=np.int64)
    has_label_weights = find_sides(learner.n_classes, learner.gaps) is several_classes
    if isinstance(data.bins, DenseBins):
        columns, column_of = data.bins.columns, np.arange(n_features)
    else:  # columns take no more memory than the rows themselves
        spare = data.bins.codes.nbytes + 2**20  # but there is room for one large tree
        n_columns = min(max(spare // max(n_rows, 1), 1), n_features)
        columns = np.empty((n_columns, n_rows), dtype=np.uint8)
        column_of = np.full(n_features, -1)
    groups = n_threads, n_nodes, 4
    return RowState(
        sample_weights=sample_weights,
        sizes=sizes,
        levels=np.full(n_rows * n_labels, start, dtype=np.uint32),
        weights=weights,
        label_weights=np.zeros(n_rows if has_label_weights else 0, dtype=np.int64),
        has_weight=has_weight,
        # every share has room for one row more: see `rows.list_rows`
        lists=np.empty((n_threads, 3, n_rows // n_threads + 2 * BLOCK + 1), dtype=np.uint32),
        begins=np.zeros(groups, dtype=np.int64),
        ends=np.zeros(groups, dtype=np.int64),
        share_totals=np.zeros((n_threads, n_parts, lanes), dtype=np.int64),
        columns=columns,
        column_of=column_of,
        features_held=np.full(len(columns), -1),
        counters=new_counters(*row_steps.COUNTERS),
        goes_left=np.zeros(256, dtype=np.uint8),
    )


def _n_leaves_at_first(max_depth: int, max_leaves: int) -> int:
    """Return for how many leaves to make room, where -1 is no limit."""
    widest = 2 ** min(max(max_depth, 0), _LEAVES.bit_length())
    return min(_LEAVES, *(n for n in (max_leaves, widest) if n > 1))


def find_sides(n_classes: int, gaps: IntArray | None = None) -> Any:
    """Return the functions for the sides of a question."""
    if gaps is not None:
        return thresholds
    return several_classes if n_classes > 2 else two_classes


def as_rows(data: BinnedData, labels: IntArray | None, gaps: IntArray | None = None) -> BinnedRows:
    """Return binned rows as the loops see them."""
    bins = data.bins
    split = data.split if labels is None else data.n_rows
    positions, masses = (_NONE if each is None else each for each in (labels, gaps))
    shared = split, positions, masses, data.feature_bins, data.counts
    if isinstance(bins, DenseBins):
        lists = _NONE, _NONE, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
        return BinnedRows(*shared, bins.codes.reshape(-1), *lists)
    return BinnedRows(
        *shared, bins.codes, bins.starts, bins.list_starts, bins.listed, bins.listed_bins
    )


def _can_tally(learner: TreeLearner) -> bool:
    """Return whether the rows can be counted by class, level and bin."""
    data, shape = learner.data, learner.shape
    few = learner.mass < 2**31  # what the counts can hold
    return learner.labels is None and data.integer_weights and few and not shape.has_least_size


def _is_tally_cheap(data: BinnedData, shape: TreeShape) -> bool:
    """Return whether sums from counts may be cheaper than sums over rows."""
    codes = data.bins.codes.size
    if shape.is_stump:
        return bool(codes >= 16 * data.n_codes)
    return bool(codes >= max(_FEW_CODES, 64 * data.n_codes))
