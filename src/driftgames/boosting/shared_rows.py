"""The rows of a share while trees grow: they are divided, and their sums are the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray, DenseBins
from driftgames.boosting.leaf_tally import count_leaf_mistakes
from driftgames.boosting.mistake_counts import MistakeCounts
from driftgames.boosting.pair_kernels import find_leaves
from driftgames.boosting.pair_training_set import TreePairs
from driftgames.boosting.shared_sums import list_all_bins
from driftgames.boosting.tally import Ranges
from driftgames.boosting.tree_growth import FillRoot, Sides, Tree, TreeShape
from driftgames.boosting.tree_walk import (
    count_tree_mistakes,
    divide_by_votes,
    goes_left,
    walk_tables,
    weigh_rows,
)
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.typing import BoolArray, IntArray


class Question(NamedTuple):
    """A question that divides the rows of node ``node`` into nodes ``2 node`` and ``2 node + 1``.

    The root is node 1. These numbers say where a node stands, not when it was made.
    """

    node: int
    feature: int
    cut: int
    missing_left: int


class DividedRows(ABC):
    """The rows of a share while a tree grows."""

    _data: BinnedTrainingSet
    _leaves: dict[int, tuple[Sequence[Array], IntArray]]
    _scratch: Array
    _list_rows: Callable[[], Sequence[Array]] | None = None  # those of the root, if not listed yet

    @abstractmethod
    def _sum(self, rows: Sequence[Array]) -> IntArray:
        """Return the sums of these rows; along axis 1 come all bins, and then the total."""

    def _begin(self, rows: Sequence[Array], sums: IntArray | None = None) -> IntArray:
        """Begin a tree with these rows, which it divides in place; return their sums."""
        if not hasattr(self, "_scratch"):
            self._scratch = np.empty(self._data.n_rows, dtype=np.uint32)
        self._list_rows = None
        self._leaves = {1: (rows, self._sum(rows) if sums is None else sums)}
        return self._leaves[1][1]

    def settle(self) -> None:
        """List the rows of the root, if its sums were known without them."""
        if self._list_rows is not None:
            self._begin(self._list_rows(), self._leaves[1][1])

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        self.settle()
        answers = []
        for question in questions:
            rows, sums = self._leaves.pop(question.node)
            goes = goes_left(self._data, *question[1:])
            column = self._data.column(question.feature)
            left, right = [], []
            for mine in rows:
                at = kernels.divide(mine, column, goes, self._scratch)
                left.append(mine[:at])
                right.append(mine[at:])
            if sum(map(len, left)) <= sum(map(len, right)):
                of_left = self._sum(left)
                of_right = sums - of_left
            else:
                of_right = self._sum(right)
                of_left = sums - of_right
            self._leaves[2 * question.node] = left, of_left
            self._leaves[2 * question.node + 1] = right, of_right
            answers.append(of_left)
        return answers


class TreeRows(DividedRows):
    """The rows of a share while trees grow, of two classes."""

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        self._data = data
        self._n_sums = 3 if shape.has_least_size else 2
        self._sizes = shape.sizes(data)
        self.integer_weights = data.integer_weights
        self.positive: BoolArray = data.positive
        self.sample_weights = data.sample_weights

    def count_mistakes(self) -> MistakeCounts:
        """Return a tally as long as it is cheaper than one number for each row."""
        grower = _RowGrower(self, self._data)
        return count_leaf_mistakes(self._data, grower, counts_rows=self._n_sums == 3)

    def add_votes(self) -> RowVotes:
        """Return one total of votes for each row."""
        return RowVotes(self)

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every row: 1 for +1 and 0 for -1."""
        found = np.empty(self._data.n_rows, dtype=np.uint32)
        every = np.arange(found.size, dtype=np.uint32)
        find_leaves(every, *walk_tables(self._data, tree), found)
        return np.array([node.vote > 0 for node in tree], dtype=np.uint8)[found]

    def best(self, weights: IntArray) -> Any:
        """Begin a tree for these weights; return the sums of all rows, and behind them the total.

        The rows of the answer are class 0, class 1 and, if leaves need it, their size.
        """
        self._weights = weights
        heavy = np.flatnonzero(weights).astype(np.uint32)
        at = int(np.searchsorted(heavy, self._data.split))
        return self._begin([heavy[:at], heavy[at:]])

    def begin(
        self,
        weights: IntArray,
        list_rows: Callable[[], Sequence[Array]],
        sums: IntArray | None = None,
    ) -> Any:
        """Do the same for the rows that ``list_rows`` lists, class 0 first; it sets ``weights``.

        ``sums`` are those of the rows, if they are known: each class in each bin that is listed,
        and in all. The rows are listed later then.
        """
        self._weights = weights
        if sums is None:
            return self._begin(list_rows())
        answer = self._with_totals(sums[:, :-1], sums[:, -1])
        self._begin([], answer)
        self._list_rows = list_rows
        return answer

    def _sum(self, rows: Sequence[Array]) -> IntArray:
        data, parts = self._data, self._weighed(rows)
        sums = np.zeros((self._n_sums, data.n_codes), dtype=np.int64)
        codes = data.bins.codes.ravel()
        if isinstance(data.bins, DenseBins):
            for each, (mine, weights) in zip(sums, parts, strict=True):
                kernels.sum_dense(mine, weights, codes, data.offsets, each)
            # every row has a bin of the first feature
            return self._with_totals(sums, sums[:, : data.offsets[1]].sum(axis=1))
        for each, (mine, weights) in zip(sums, parts, strict=True):
            kernels.sum_sparse(mine, weights, codes, data.bins.starts, each)
        return self._with_totals(sums, np.array([weights[mine].sum() for mine, weights in parts]))

    def _weighed(self, rows: Sequence[Array]) -> list[tuple[Array, IntArray]]:
        """Return what each part of an answer adds up: rows and the weights of all rows."""
        parts = [(mine, self._weights) for mine in rows]
        return parts if self._n_sums == 2 else [*parts, (np.concatenate(rows), self._sizes)]

    def _with_totals(self, sums: IntArray, totals: IntArray) -> IntArray:
        """Return sums in every bin, and behind them the totals."""
        parts = zip(sums, totals, strict=True)
        of_bins = np.stack([list_all_bins(self._data, *part) for part in parts])
        return np.column_stack([of_bins, totals])


class _RowGrower:
    """What `LeafCounts` and `LeafTally` ask of a grower, for the rows of a share."""

    def __init__(self, rows: TreeRows, data: BinnedTrainingSet) -> None:
        self._rows, self._data = rows, data
        self._weights = np.empty(data.n_rows, dtype=np.int64)
        self._heavy = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._divided = np.empty(data.n_rows, dtype=np.uint32)
        self.ranges: Ranges = [[(0, 0, data.split), (1, data.split, data.n_rows)]]
        self._n_heavy = 0

    @property
    def n_heavy(self) -> int:
        """How many rows had weight when the last tree grew."""
        self._rows.settle()
        return self._n_heavy

    def run(self, task: Callable[[int], Any]) -> Any:
        """Run a task."""
        return [task(0)]

    def grow(
        self, weights: IntArray, mistakes: Array | None = None, fill_root: FillRoot | None = None
    ) -> Any:
        """Begin a tree; return the sums of all rows."""
        if mistakes is None:
            return self._rows.best(weights)
        data = self._data

        def list_rows() -> Sequence[Array]:
            n_lower, self._n_heavy = weigh_rows(
                weights, mistakes, data.sample_weights, data.split, self._weights, self._heavy
            )
            return self._heavy[:n_lower], self._heavy[n_lower : self._n_heavy]

        sums = None
        if fill_root is not None:
            sums = np.empty((2, data.n_codes + 1), dtype=np.int64)
            fill_root(0, sums)
        return self._rows.begin(self._weights, list_rows, sums)

    def sides(self, tree: Tree) -> Sides:
        """Divide the rows by whether a tree is right."""
        data, rows, ends = self._data, self._divided, np.empty(2, dtype=np.int64)
        votes = np.array([node.vote for node in tree])
        divide_by_votes(*walk_tables(data, tree), votes, data.split, rows, ends)
        classes = (0, data.split), (data.split, data.n_rows)
        return [
            tuple(
                ([rows[begin:at]], [rows[at:end]])
                for (begin, end), at in zip(classes, ends.tolist(), strict=True)
            )
        ]

    def count_mistakes(self, tree: Tree, mistakes: Array, most: int) -> IntArray:
        """Do the same as `TreeGrower.count_mistakes`."""
        data, moved = self._data, np.zeros((2, most + 1), dtype=np.int64)
        votes = np.array([node.vote for node in tree])
        tables = walk_tables(data, tree)
        count_tree_mistakes(*tables, votes, data.split, data.sample_weights, mistakes, moved)
        return moved


class PairRows(DividedRows, TreePairs):
    """The rows of a share while trees grow, as pairs of an example and a label."""

    def best(self, weights: IntArray) -> Any:
        """Begin a tree for these weights; return the sums of all rows, and behind them the total.

        The answer is what `PairGrower` adds up: parts of blocks of labels, with every bin.
        """
        return self._begin([self._grower.begin(weights).rows])

    def _sum(self, rows: Sequence[Array]) -> IntArray:
        grower = self._grower
        sums, totals = grower.sum(rows[0]), grower.totals(rows[0])
        parts = zip(sums, totals, strict=True)
        answer = [np.vstack([list_all_bins(self._data, *part), part[1]]) for part in parts]
        grower.free(sums)
        return np.stack(answer)
