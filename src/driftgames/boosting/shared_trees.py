"""Trees on shares of the examples: a share divides its rows, and one place chooses the questions.

The shares answer with their sums in the bins of a node. `SharedTreeGrower` adds them up and asks
the questions that `TreeGrower` asks on all rows.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray, DenseBins
from driftgames.boosting.mistake_counts import RowCounts
from driftgames.boosting.shared_sums import list_all_bins
from driftgames.boosting.tree_growth import CRITERIA, Node, Tree, TreeShape
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


class TreeRows:
    """The rows of a share while trees grow."""

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
        rows = [heavy[heavy < self._data.split], heavy[heavy >= self._data.split]]
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

    def _sum(self, rows: Sequence[Array]) -> IntArray:
        """Return the sums of these rows in every bin, and behind them their total."""
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


@dataclass(eq=False)
class _Leaf:
    """A leaf while the tree grows: its totals, and its sums in each bin if it may be divided."""

    place: int
    depth: int
    totals: IntArray
    parent_vote: int
    sums: IntArray | None = None
    found: IntArray | None = None
    gain: float = 0.0
    sides: tuple[_Leaf, _Leaf] | None = None

    def __post_init__(self) -> None:
        self.edge = int(self.totals[1] - self.totals[0])
        self.vote = (self.edge > 0) - (self.edge < 0) or self.parent_vote


class SharedTreeGrower:
    """Grows the trees of `TreeGrower` from sums that shares answer with.

    Without ``max_leaves`` every leaf with a gain is divided in the end. So all leaves of one depth
    are divided in one exchange.

    Parameters
    ----------
    data : BinnedTrainingSet
        A set without rows: its cuts.
    shape : TreeShape
        How large trees may grow.
    divide : callable
        Returns the sums of the left side of each question, over all shares.
    """

    def __init__(
        self,
        data: BinnedTrainingSet,
        shape: TreeShape,
        divide: Callable[[list[Question]], list[IntArray]],
    ) -> None:
        self._data = data
        self._shape = shape
        self._criterion = CRITERIA[shape.criterion]
        self._divide = divide
        self._mine = np.empty((3, 256), dtype=np.int64)

    def grow(self, sums: IntArray) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree; ``sums`` are of its root."""
        root = _Leaf(1, 0, sums[:, -1], -1, sums)
        self._find(root)
        norm = int(root.totals[0] + root.totals[1])
        nodes, most = [Node()], self._shape.max_leaves
        leaves, waiting = {0: root}, [(-root.gain, 0)]
        while waiting and leaves[waiting[0][1]].gain > 0 and len(leaves) != most:
            node = heapq.heappop(waiting)[1]
            leaf = leaves.pop(node)
            if leaf.sides is None:
                self._grow_sides([leaf], last=len(leaves) + 2 == most)
            assert leaf.found is not None
            assert leaf.sides is not None
            feature, cut, missing_left = leaf.found[:3].tolist()
            nodes[node] = Node(feature, cut, missing_left, len(nodes), gain=leaf.gain / norm)
            for side in leaf.sides:
                leaves[len(nodes)] = side
                heapq.heappush(waiting, (-side.gain, len(nodes)))
                nodes.append(Node())
        for node, leaf in leaves.items():
            nodes[node] = Node(vote=leaf.vote)
        return sum(abs(leaf.edge) for leaf in leaves.values()), norm, tuple(nodes)

    def _grow_sides(self, leaves: list[_Leaf], *, last: bool) -> None:
        """Make the sides of these leaves, and those of their sides if all will be divided."""
        while leaves:
            for leaf in leaves:
                assert leaf.found is not None
                left = np.append(leaf.found[3:5], 0)[: leaf.totals.size]
                leaf.sides = (
                    _Leaf(2 * leaf.place, leaf.depth + 1, left, leaf.vote),
                    _Leaf(2 * leaf.place + 1, leaf.depth + 1, leaf.totals - left, leaf.vote),
                )
            asked = [leaf for leaf in leaves if not last and self._may_divide_sides(leaf)]
            questions = [Question(leaf.place, *leaf.found[:3].tolist()) for leaf in asked]  # type: ignore[index]
            for leaf, sums in zip(asked, self._divide(questions) if asked else [], strict=True):
                assert leaf.sides is not None
                assert leaf.sums is not None
                for side, mine in zip(leaf.sides, (sums, leaf.sums - sums), strict=True):
                    side.sums, side.totals = mine, mine[:, -1]
                    self._find(side)
            for leaf in leaves:
                leaf.sums = None
            every = self._shape.max_leaves is None
            leaves = [s for leaf in leaves for s in leaf.sides or () if every and s.gain > 0]

    def _may_divide_sides(self, leaf: _Leaf) -> bool:
        return any(map(self._may_divide, leaf.sides or ()))

    def _may_divide(self, leaf: _Leaf) -> bool:
        depth = self._shape.max_depth
        return bool((depth is None or leaf.depth < depth) and leaf.totals[:2].all())

    def _find(self, leaf: _Leaf) -> None:
        """Find the best question of a leaf; its gain stays 0 if there is none."""
        if not self._may_divide(leaf) or leaf.sums is None:
            return
        data, found = self._data, np.empty(6, dtype=np.int64)
        score = kernels.best_split(
            np.ascontiguousarray(leaf.sums[None, None, :, :-1]),
            np.zeros(1, dtype=np.int64),
            np.ascontiguousarray(leaf.totals),
            data.offsets,
            data.implicit,
            data.cuts.missing,
            data.directions,
            0,
            data.implicit.size,
            self._shape.min_samples_leaf,
            self._criterion,
            self._mine,
            found,
        )
        # equal shares on both sides are no gain, whatever rounding says: in exact integers
        lower, upper = found[3:5].tolist()
        lower_all, upper_all = leaf.totals[:2].tolist()
        if found[0] >= 0 and lower * upper_all != upper * lower_all:
            leaf.found = found
            leaf.gain = score - kernels.node_score(lower_all, upper_all, self._criterion)


def _n_sums(shape: TreeShape) -> int:
    return 3 if shape.min_samples_leaf > 1 else 2


def _goes_left(data: BinnedTrainingSet, question: Question) -> BoolArray:
    """Return which bins of a question's feature go left."""
    goes = np.arange(256) <= question.cut
    if data.cuts.missing[question.feature]:
        last = data.offsets[question.feature + 1] - data.offsets[question.feature] - 1
        goes[last] = question.missing_left
    return goes
