"""The rows of a share while trees grow: they are divided, and their sums are the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray, DenseBins
from driftgames.boosting.pair_kernels import find_leaves
from driftgames.boosting.pair_training_set import TreePairs
from driftgames.boosting.shared_sums import list_all_bins
from driftgames.boosting.tree_growth import Tree, TreeShape
from driftgames.boosting.tree_training_set import LeafCounts
from driftgames.boosting.tree_walk import (
    count_tree_mistakes,
    goes_left,
    walk_tables,
    weigh_rows,
)
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.typing import BoolArray, IntArray

_NO_COUNTS: IntArray = np.empty(0, dtype=np.int64)


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

    @abstractmethod
    def _sum(self, rows: Sequence[Array]) -> IntArray:
        """Return the sums of these rows; along axis 1 come all bins, and then the total."""

    def _begin(self, rows: Sequence[Array]) -> IntArray:
        """Begin a tree with these rows, which it divides in place; return their sums."""
        self._scratch = np.empty(max(map(len, rows)), dtype=np.uint32)
        self._leaves = {1: (rows, self._sum(rows))}
        return self._leaves[1][1]

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
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
        self._n_sums = _n_sums(shape)
        self._ones = np.ones(data.n_rows if self._n_sums == 3 else 0, dtype=np.int64)
        self.integer_weights = data.integer_weights
        self.positive: BoolArray = data.positive
        self.sample_weights = data.sample_weights

    def count_mistakes(self) -> LeafCounts:
        """Return one number of mistakes for each row."""
        return LeafCounts(self._data, _RowGrower(self, self._data))

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

        The rows of the answer are class 0, class 1 and, if leaves need it, the number of rows.
        """
        heavy = np.flatnonzero(weights).astype(np.uint32)
        at = int(np.searchsorted(heavy, self._data.split))
        return self.begin(weights, heavy, at)

    def begin(self, weights: IntArray, heavy: Array, n_lower: int) -> Any:
        """Do the same for the rows ``heavy``, of which the first ``n_lower`` are of class 0."""
        self._weights = weights
        return self._begin([heavy[:n_lower], heavy[n_lower:]])

    def _sum(self, rows: Sequence[Array]) -> IntArray:
        data = self._data
        answer = np.empty((self._n_sums, data.offsets[-1] + 1), dtype=np.int64)
        for c in range(self._n_sums):
            mine = rows[c] if c < 2 else np.concatenate(rows)
            weights = self._weights if c < 2 else self._ones
            sums = np.zeros(data.n_codes, dtype=np.int64)
            codes = data.bins.codes.ravel()
            if isinstance(data.bins, DenseBins):
                kernels.sum_dense(mine, weights, codes, data.offsets, sums, _NO_COUNTS)
            else:
                kernels.sum_sparse(mine, weights, data.bins.starts, codes, sums, _NO_COUNTS)
            answer[c, -1] = weights[mine].sum()
            answer[c, :-1] = list_all_bins(data, sums, answer[c, -1])
        return answer


class _RowGrower:
    """What `LeafCounts` asks of a grower, for the rows of a share."""

    def __init__(self, rows: TreeRows, data: BinnedTrainingSet) -> None:
        self._rows, self._data = rows, data
        self._weights = np.empty(data.n_rows, dtype=np.int64)
        self._heavy = np.empty(data.n_rows + 1, dtype=np.uint32)

    def grow(self, weights: IntArray, mistakes: Array | None = None) -> Any:
        """Begin a tree; return the sums of all rows."""
        if mistakes is None:
            return self._rows.best(weights)
        data = self._data
        n_lower, n_heavy = weigh_rows(
            weights, mistakes, data.sample_weights, data.split, self._weights, self._heavy
        )
        return self._rows.begin(self._weights, self._heavy[:n_heavy], n_lower)

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


def _n_sums(shape: TreeShape) -> int:
    return 3 if shape.min_samples_leaf > 1 else 2
