"""Trees on shares of the examples: a share divides its rows, and one place chooses the questions.

The shares answer with their sums in the bins of a node. A `SharedGrower` asks the questions that
are asked on all rows. `shared_pairs` does it for several classes.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.shared_rows import Question
from driftgames.boosting.tree_growth import CRITERIA, Node, TreeShape
from driftgames.core.typing import IntArray


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
        most = self._shape.most_leaves
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
            every = self._shape.most_leaves is None
            leaves = [s for leaf in leaves for s in leaf.sides or () if every and s.gain > 0]

    def _may_divide_sides(self, leaf: GrowingLeaf) -> bool:
        return any(not side.fixed and self._may_divide(side) for side in leaf.sides or ())


class SharedTreeGrower(SharedGrower):
    """Grows the trees of `TreeGrower`; ``data`` is a set without rows: its cuts."""

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape, divide: Divide) -> None:
        super().__init__(shape, divide)
        self._data = data
        self._criterion = CRITERIA[shape.criterion]
        self._least = shape.least_size(data)
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
            self._least,
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
