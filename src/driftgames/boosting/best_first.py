"""Growing trees from sums in bins: the leaf of the largest gain is divided first.

A `BestFirstGrower` chooses the questions, and others divide the rows and answer with sums: the rows
at hand, or shares of them elsewhere. `pair_growth` grows trees of several classes in this way, here
and on shares. Two classes have an engine of their own for rows at hand, `tree_growth`.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.tree_growth import CRITERIA, TreeShape
from driftgames.boosting.trees import Node, Tree, TreesOnBins
from driftgames.core.typing import IntArray


class Question(NamedTuple):
    """A question that divides the rows of node ``node`` into nodes ``2 node`` and ``2 node + 1``.

    The root is node 1. These numbers say where a node stands, not when it was made.
    """

    node: int
    feature: int
    cut: int
    missing_left: int


@dataclass(eq=False)
class GrowingLeaf:
    """A leaf while the tree grows: its totals, and its sums in each bin if it may be divided.

    ``votes`` has an entry for each label, or one for two classes. ``question`` is its best one, and
    ``left`` the totals of the left side. A ``fixed`` leaf is not divided.
    """

    place: int
    depth: int
    totals: IntArray
    votes: IntArray
    sums: IntArray | None = None
    question: tuple[int, int, int] = (-1, 0, 0)
    left: IntArray | None = None
    gain: float = 0.0
    fixed: bool = False
    sides: tuple[GrowingLeaf, ...] = ()


Divide = Callable[[list[Question]], Iterable[tuple[IntArray, IntArray | None]]]
"""It divides nodes, and returns the sums of both sides of each; the right ones may be None."""


class BestFirstGrower(TreesOnBins, ABC):
    """Grows trees from sums; subclasses choose the questions.

    Without ``max_leaves`` every leaf with a gain is divided in the end. So all leaves of one depth
    are divided at once. ``data`` has the cuts, and the bins that sums leave out. It need not have
    rows.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape, divide: Divide) -> None:
        self._data = data
        self._shape = shape
        self._divide = divide
        self._least = shape.least_size(data)

    @abstractmethod
    def _edges(self, totals: IntArray) -> IntArray:
        """Return the weight of class 1 less that of class 0; for several labels, of each."""

    @abstractmethod
    def _norm(self, totals: IntArray) -> int:
        """Return the weight of all rows."""

    @abstractmethod
    def _is_mixed(self, totals: IntArray) -> bool:
        """Whether a node of these totals can gain by a question."""

    @abstractmethod
    def _find(
        self, sums: IntArray, totals: IntArray
    ) -> tuple[float, tuple[int, int, int], IntArray]:
        """Return the gain of the best question, 0 if there is none; the question; its left side."""

    def grow(self, sums: IntArray, totals: IntArray) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree for the sums of its root."""
        root = GrowingLeaf(1, 0, totals, self._votes(totals, np.array(-1)))
        self._look(root, sums)
        norm = self._norm(totals)
        nodes = [Node()]
        most = self._shape.most_leaves
        leaves, waiting = {0: root}, [(-root.gain, 0)]
        while waiting and leaves[waiting[0][1]].gain > 0 and len(leaves) != most:
            node = heapq.heappop(waiting)[1]
            leaf = leaves.pop(node)
            if not leaf.sides:
                self._grow_sides([leaf], last=len(leaves) + 2 == most)
            nodes[node] = Node(*leaf.question, len(nodes), gain=leaf.gain / norm)
            for side in leaf.sides:
                leaves[len(nodes)] = side
                heapq.heappush(waiting, (-side.gain, len(nodes)))
                nodes.append(Node())
        value = 0
        for node, leaf in leaves.items():
            votes = leaf.votes.tolist()
            nodes[node] = Node(vote=votes[0] if len(votes) == 1 else tuple(votes))
            value += int((leaf.votes * self._edges(leaf.totals)).sum())
        return value, norm, tuple(nodes)

    def _votes(self, totals: IntArray, above: IntArray) -> IntArray:
        """Return the votes of a leaf; tied ones are those of the node above."""
        signs = np.sign(self._edges(totals))
        return np.where(signs == 0, above, signs)

    def _may_divide(self, leaf: GrowingLeaf) -> bool:
        deepest = self._shape.max_depth
        shallow = deepest is None or leaf.depth < deepest
        return shallow and not leaf.fixed and self._is_mixed(leaf.totals)

    def _look(self, leaf: GrowingLeaf, sums: IntArray) -> None:
        """Look for the question of a leaf of these sums."""
        if self._may_divide(leaf):
            leaf.sums = sums
            leaf.gain, leaf.question, leaf.left = self._find(sums, leaf.totals)

    def _grow_sides(self, leaves: list[GrowingLeaf], *, last: bool) -> None:
        """Make the sides of these leaves, and those of their sides if all will be divided."""
        while leaves:
            for leaf in leaves:
                self._make_sides(leaf)
            asked = [leaf for leaf in leaves if not last and any(map(self._may_divide, leaf.sides))]
            questions = [Question(leaf.place, *leaf.question) for leaf in asked]
            answers = self._divide(questions) if asked else []
            for leaf, (left, right) in zip(asked, answers, strict=True):
                assert leaf.sums is not None
                self._look(leaf.sides[0], left)
                self._look(leaf.sides[1], leaf.sums - left if right is None else right)
            for leaf in leaves:
                leaf.sums = None
            every = self._shape.most_leaves is None
            leaves = [s for leaf in leaves for s in leaf.sides if every and s.gain > 0]

    def _make_sides(self, leaf: GrowingLeaf) -> None:
        assert leaf.left is not None
        at, depth = 2 * leaf.place, leaf.depth + 1
        leaf.sides = tuple(
            GrowingLeaf(at + k, depth, totals, self._votes(totals, leaf.votes))
            for k, totals in enumerate((leaf.left, leaf.totals - leaf.left))
        )


class SummedTreeGrower(BestFirstGrower):
    """Grows the trees of `TreeGrower` from sums of two classes and, if leaves need it, sizes."""

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape, divide: Divide) -> None:
        super().__init__(data, shape, divide)
        self._criterion = CRITERIA[shape.criterion]
        self._mine = np.empty((3, 256), dtype=np.int64)

    def _edges(self, totals: IntArray) -> IntArray:
        return np.diff(totals[:2])

    def _norm(self, totals: IntArray) -> int:
        return int(totals[0] + totals[1])

    def _is_mixed(self, totals: IntArray) -> bool:
        return bool(totals[:2].all())

    def _make_sides(self, leaf: GrowingLeaf) -> None:
        """Do what `tree_steps` does with the sides of a monotonic question."""
        super()._make_sides(leaf)
        feature, cut, _ = leaf.question
        direction, missing = self._data.directions[feature], self._data.cuts.missing[feature]
        n_bins = self._data.offsets[feature + 1] - self._data.offsets[feature]
        if direction == 0 or cut == n_bins - missing - 1:
            return
        lower, upper = leaf.sides[::direction]
        (low_no, low_yes), (high_no, high_yes) = lower.totals[:2], upper.totals[:2]
        if low_yes <= low_no and (high_yes < high_no or low_yes <= high_no):
            lower.votes, lower.fixed = np.array([-1]), True
        else:
            upper.votes, upper.fixed = np.array([1]), True

    def _find(
        self, sums: IntArray, totals: IntArray
    ) -> tuple[float, tuple[int, int, int], IntArray]:
        found = np.empty(6, dtype=np.int64)
        score = kernels.best_split(
            sums[None, None],
            0,
            totals,
            self._data.feature_bins,
            0,
            self._data.implicit.size,
            self._least,
            self._criterion,
            self._mine,
            found,
        )
        feature, cut, missing_left, lower, upper, _ = found.tolist()
        lower_all, upper_all = totals[:2].tolist()
        gain = 0.0
        # equal shares on both sides are no gain, whatever rounding says: in exact integers
        if feature >= 0 and lower * upper_all != upper * lower_all:
            gain = score - kernels.node_score(lower_all, upper_all, self._criterion)
        return gain, (feature, cut, missing_left), found[3 : 3 + totals.size]
