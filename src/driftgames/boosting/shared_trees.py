"""Trees on shares of the examples: a share divides its rows, and one place chooses the questions.

The shares answer with their sums in the bins of a node. A `SharedGrower` asks the questions that
are asked on all rows. `shared_pairs` does it for several classes.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
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


@dataclass(eq=False)
class GrowingLeaf:
    """A leaf while the tree grows: its totals, and its sums in each bin if it may be divided.

    ``question`` is its best one, and ``left`` the totals of the left side. A ``fixed`` leaf is
    not divided.
    """

    place: int
    depth: int
    totals: IntArray
    vote: Any
    sums: IntArray | None = None
    question: tuple[int, int, int] | None = None
    left: IntArray | None = None
    gain: float = 0.0
    fixed: bool = False
    sides: tuple[GrowingLeaf, GrowingLeaf] | None = None


Divide = Callable[[list[Question]], list[IntArray]]
"""It returns the sums of the left side of each question, over all shares."""


class SharedGrower(ABC):
    """Grows trees from sums that shares answer with; subclasses choose the questions.

    Without ``max_leaves`` every leaf with a gain is divided in the end. So all leaves of one depth
    are divided in one exchange.

    Parameters
    ----------
    shape : TreeShape
        How large trees may grow.
    divide : callable
        Asks the shares.
    """

    def __init__(self, shape: TreeShape, divide: Divide) -> None:
        self._shape = shape
        self._divide = divide

    @abstractmethod
    def _vote(self, totals: IntArray, above: Any) -> Any:
        """Return the vote of a leaf; ``above`` is that of the node above, None at the root."""

    @abstractmethod
    def _norm(self, totals: IntArray) -> int:
        """Return the weight of all rows."""

    @abstractmethod
    def _value(self, leaf: GrowingLeaf) -> int:
        """Return the weight that a leaf's vote gets right, less what it gets wrong."""

    @abstractmethod
    def _may_divide(self, leaf: GrowingLeaf) -> bool:
        """Whether a leaf of these totals may have a question."""

    @abstractmethod
    def _find(self, leaf: GrowingLeaf) -> None:
        """Find the best question of a leaf; its gain stays 0 if there is none."""

    @abstractmethod
    def _question(self, leaf: GrowingLeaf, left: int, norm: int) -> Any:
        """Return the node of a leaf's question; ``left`` is the number of its left side."""

    @abstractmethod
    def _end(self, leaf: GrowingLeaf) -> Any:
        """Return the node of a leaf."""

    @abstractmethod
    def _constrain(self, leaf: GrowingLeaf) -> None:
        """Fix a vote of the sides of a leaf if its question needs it."""

    def grow(self, sums: IntArray) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree; ``sums`` are of its root."""
        totals = sums[:, -1]
        root = GrowingLeaf(1, 0, totals, self._vote(totals, None), sums)
        self._find(root)
        norm = self._norm(root.totals)
        nodes: list[Any] = [None]
        most = self._shape.max_leaves
        leaves, waiting = {0: root}, [(-root.gain, 0)]
        while waiting and leaves[waiting[0][1]].gain > 0 and len(leaves) != most:
            node = heapq.heappop(waiting)[1]
            leaf = leaves.pop(node)
            if leaf.sides is None:
                self._grow_sides([leaf], last=len(leaves) + 2 == most)
            assert leaf.sides is not None
            nodes[node] = self._question(leaf, len(nodes), norm)
            for side in leaf.sides:
                leaves[len(nodes)] = side
                heapq.heappush(waiting, (-side.gain, len(nodes)))
                nodes.append(None)
        for node, leaf in leaves.items():
            nodes[node] = self._end(leaf)
        return sum(map(self._value, leaves.values())), norm, tuple(nodes)

    def _grow_sides(self, leaves: list[GrowingLeaf], *, last: bool) -> None:
        """Make the sides of these leaves, and those of their sides if all will be divided."""
        while leaves:
            for leaf in leaves:
                assert leaf.left is not None
                at, depth, left = 2 * leaf.place, leaf.depth + 1, leaf.left
                right = leaf.totals - left
                leaf.sides = (
                    GrowingLeaf(at, depth, left, self._vote(left, leaf.vote)),
                    GrowingLeaf(at + 1, depth, right, self._vote(right, leaf.vote)),
                )
                self._constrain(leaf)
            asked = [leaf for leaf in leaves if not last and self._may_divide_sides(leaf)]
            questions = [Question(leaf.place, *leaf.question) for leaf in asked if leaf.question]
            for leaf, sums in zip(asked, self._divide(questions) if asked else [], strict=True):
                assert leaf.sides is not None
                assert leaf.sums is not None
                for side, mine in zip(leaf.sides, (sums, leaf.sums - sums), strict=True):
                    side.sums, side.totals = mine, mine[:, -1]
                    if not side.fixed:
                        self._find(side)
            for leaf in leaves:
                leaf.sums = None
            every = self._shape.max_leaves is None
            leaves = [s for leaf in leaves for s in leaf.sides or () if every and s.gain > 0]

    def _may_divide_sides(self, leaf: GrowingLeaf) -> bool:
        return any(not side.fixed and self._may_divide(side) for side in leaf.sides or ())


class SharedTreeGrower(SharedGrower):
    """Grows the trees of `TreeGrower`; ``data`` is a set without rows: its cuts."""

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape, divide: Divide) -> None:
        super().__init__(shape, divide)
        self._data = data
        self._criterion = CRITERIA[shape.criterion]
        self._mine = np.empty((3, 256), dtype=np.int64)

    def _vote(self, totals: IntArray, above: Any) -> Any:
        edge = int(totals[1] - totals[0])
        return (edge > 0) - (edge < 0) or (-1 if above is None else above)

    def _norm(self, totals: IntArray) -> int:
        return int(totals[0] + totals[1])

    def _value(self, leaf: GrowingLeaf) -> int:
        return int(leaf.vote * (leaf.totals[1] - leaf.totals[0]))

    def _may_divide(self, leaf: GrowingLeaf) -> bool:
        depth = self._shape.max_depth
        return bool((depth is None or leaf.depth < depth) and leaf.totals[:2].all())

    def _question(self, leaf: GrowingLeaf, left: int, norm: int) -> Node:
        assert leaf.question is not None
        return Node(*leaf.question, left, gain=leaf.gain / norm)

    def _end(self, leaf: GrowingLeaf) -> Node:
        return Node(vote=leaf.vote)

    def _constrain(self, leaf: GrowingLeaf) -> None:
        """Do what `tree_steps` does with the sides of a monotonic question."""
        assert leaf.question is not None
        assert leaf.sides is not None
        feature, cut, _ = leaf.question
        direction, missing = self._data.directions[feature], self._data.cuts.missing[feature]
        n_bins = self._data.offsets[feature + 1] - self._data.offsets[feature]
        if direction == 0 or cut == n_bins - missing - 1:
            return
        lower, upper = leaf.sides[::direction]
        (low_no, low_yes), (high_no, high_yes) = lower.totals[:2], upper.totals[:2]
        if low_yes <= low_no and (high_yes < high_no or low_yes <= high_no):
            lower.vote, lower.fixed = -1, True
        else:
            upper.vote, upper.fixed = 1, True

    def _find(self, leaf: GrowingLeaf) -> None:
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
            leaf.question = int(found[0]), int(found[1]), int(found[2])
            leaf.left = np.append(found[3:5], 0)[: leaf.totals.size]
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
