r"""Growing trees from sums in bins: the leaf of the largest gain is divided first.

A `BestFirstGrower` chooses the questions, and others divide the rows and answer with sums: the rows
at hand, or shares of them elsewhere. Trees of several classes grow in this way, here and on shares,
and trees of two classes on shares. For rows at hand those have an engine of their own,
`tree_growth`.

Let a node hold for each label :math:`l` the weights :math:`W^+_l` of the pairs whose example has
this label and :math:`W^-_l` of the others. Its score is the sum over all labels of what
`tree_growth` has for two classes: the pairs of a leaf and a label are a leaf of their own. The
exhaustive stump has the question of the largest edge,

.. math:: \sum_l |W^+_l - W^-_l|

summed over its two sides. Ties between questions and leaves have the rules of two classes. A leaf
votes +1 for a label if :math:`W^+_l > W^-_l`, and -1 if it is less. A tied label has the vote of
the node above, and -1 at the root.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.growth import pair_kernels as kernels
from driftgames.boosting.growth import tree_kernels as of_classes
from driftgames.boosting.growth.pair_kernels import LANES
from driftgames.boosting.growth.tree_growth import CRITERIA, TreeShape
from driftgames.boosting.model.trees import Node, Tree, TreesOnBins
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


class BestFirstGrower(TreesOnBins):
    """Grows trees from sums: the blocks of `pair_kernels`, or of two classes those of each class.

    Without ``max_leaves`` every leaf with a gain is divided in the end. So all leaves of one depth
    are divided at once. ``data`` has the cuts, and the bins that sums leave out. It need not have
    rows.
    """

    def __init__(
        self, data: BinnedTrainingSet, n_classes: int, shape: TreeShape, divide: Divide
    ) -> None:
        self._data = data
        self._shape = shape
        self._divide = divide
        self._least = shape.least_size(data)
        self._n_labels = 1 if n_classes == 2 else n_classes  # one vote tells both classes
        self._criterion = kernels.EDGE if shape.is_stump else CRITERIA[shape.criterion]
        self._n_blocks, n_parts = count_parts(n_classes, shape)
        self._mine = np.empty((256, n_parts, LANES), dtype=np.int64)
        self._sides = np.empty((3, n_parts, LANES), dtype=np.int64)
        self._of_feature = np.empty((3, 256), dtype=np.int64)

    def grow(self, sums: IntArray, totals: IntArray) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree for the sums of its root."""
        root = GrowingLeaf(1, 0, totals, self._votes(totals, np.array(-1)))
        self._look(root, sums)
        norm = int(sum(part.sum() for part in self._parts(totals)))
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
        # the same as `tree_steps` does with the sides of a monotonic question
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

    def _parts(self, totals: IntArray) -> tuple[IntArray, IntArray]:
        """Return the weights of the rows of other labels, and of those of each label."""
        n, k = self._n_blocks, self._n_labels
        return totals[:n].reshape(-1)[:k], totals[n : 2 * n].reshape(-1)[:k]

    def _edges(self, totals: IntArray) -> IntArray:
        """Return the weight of the rows of each label less that of the others."""
        lower, upper = self._parts(totals)
        return upper - lower

    def _is_mixed(self, totals: IntArray) -> bool:
        """Whether a label has right and wrong pairs, and rows enough for two leaves."""
        lower, upper = self._parts(totals)
        large = (
            not self._shape.has_least_size or totals[2 * self._n_blocks :].sum() >= 2 * self._least
        )
        return bool(large and ((lower > 0) & (upper > 0)).any())

    def _find(
        self, sums: IntArray, totals: IntArray
    ) -> tuple[float, tuple[int, int, int], IntArray]:
        """Return the gain of the best question, 0 if there is none; the question; its left side."""
        found, left = np.empty(6, dtype=np.int64), np.empty_like(totals)
        bins, rule = self._data.feature_bins, (self._least, self._criterion)
        if self._n_labels == 1:
            features = 0, self._data.implicit.size
            score = of_classes.best_split(
                sums[None, None], 0, totals, bins, *features, *rule, self._of_feature, found
            )
            left = found[3 : 3 + totals.size]
            before = of_classes.node_score(totals[0], totals[1], self._criterion)
        else:
            n, scratch = self._n_blocks, (self._mine, self._sides)
            score = kernels.best_split(sums, totals, n, bins, *rule, *scratch, found, left)
            before = kernels.node_score(totals, n, self._criterion)
        feature, cut, missing_left = found[:3].tolist()
        gain = 0.0
        if feature >= 0 and self._criterion == kernels.EDGE:  # in exact integers
            sides = left, totals - left, totals
            edges = [int(np.abs(self._edges(side)).sum()) for side in sides]
            gain = float(edges[0] + edges[1] - edges[2])
        elif feature >= 0 and self._separates(left, totals):
            gain = float(score - before)
        return gain, (feature, cut, missing_left), left

    def _separates(self, left: IntArray, totals: IntArray) -> bool:
        """Whether a question gains anything: in exact integers, whatever rounding says."""
        parts = (*self._parts(left), *self._parts(totals))
        labels = zip(*(part.tolist() for part in parts), strict=True)
        # equal shares of every label on both sides are no gain
        return any(
            upper * all_lower != lower * all_upper for lower, upper, all_lower, all_upper in labels
        )


def count_parts(n_classes: int, shape: TreeShape) -> tuple[int, int]:
    """Return the number of blocks of labels, and of all parts of the sums of a node."""
    n_blocks = -(-n_classes // LANES)
    return n_blocks, 2 * n_blocks + shape.has_least_size
