"""The rows of a share while trees grow: they are divided, and their sums are the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray, DenseBins
from driftgames.boosting.mistake_counts import RowCounts
from driftgames.boosting.pair_training_set import TreePairs
from driftgames.boosting.shared_sums import list_all_bins
from driftgames.boosting.tree_growth import Tree, TreeShape
from driftgames.boosting.tree_training_set import TreeTrainingSet
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

    @abstractmethod
    def _sum(self, rows: Sequence[Array]) -> IntArray:
        """Return the sums of these rows; along axis 1 come all bins, and then the total."""

    def _begin(self, rows: Sequence[Array]) -> IntArray:
        """Begin a tree with these rows; return their sums."""
        self._leaves = {1: (rows, self._sum(rows))}
        return self._leaves[1][1]

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        answers = []
        for question in questions:
            rows, sums = self._leaves.pop(question.node)
            goes = _goes_left(self._data, question)[self._data.column(question.feature)]
            left = [mine[goes[mine]] for mine in rows]
            right = [mine[~goes[mine]] for mine in rows]
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
        self._trees = TreeTrainingSet(data, shape)
        self._n_sums = _n_sums(shape)
        self._ones = np.ones(data.n_rows if self._n_sums == 3 else 0, dtype=np.int64)
        self.integer_weights = data.integer_weights
        self.positive: BoolArray = data.positive
        self.sample_weights = data.sample_weights

    def count_mistakes(self) -> RowCounts:
        """Return one number of mistakes for each row."""
        return RowCounts(self)

    def add_votes(self) -> RowVotes:
        """Return one total of votes for each row."""
        return RowVotes(self)

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every row: 1 for +1 and 0 for -1."""
        return self._trees.votes(tree)

    def best(self, weights: IntArray) -> Any:
        """Begin a tree for these weights; return the sums of all rows, and behind them the total.

        The rows of the answer are class 0, class 1 and, if leaves need it, the number of rows.
        """
        self._weights = weights
        heavy = np.flatnonzero(weights).astype(np.uint32)
        return self._begin([heavy[heavy < self._data.split], heavy[heavy >= self._data.split]])

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


def _goes_left(data: BinnedTrainingSet, question: Question) -> BoolArray:
    """Return which bins of a question's feature go left."""
    goes = np.arange(256) <= question.cut
    if data.cuts.missing[question.feature]:
        last = data.offsets[question.feature + 1] - data.offsets[question.feature] - 1
        goes[last] = question.missing_left
    return goes
