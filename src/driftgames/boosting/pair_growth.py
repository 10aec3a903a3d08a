r"""Growing a tree with a vote for each label in every leaf.

Let a node hold for each label :math:`l` the weights :math:`W^+_l` of the pairs whose example has
this label and :math:`W^-_l` of the others. Its score is the sum over all labels of what
`driftgames.boosting.tree_growth` has for two classes: the pairs of a leaf and a label are a leaf of
their own. The exhaustive stump has the question of the largest edge,

.. math:: \sum_l |W^+_l - W^-_l|

summed over its two sides. Ties between questions and leaves have the rules of two classes. A leaf
votes +1 for a label if :math:`W^+_l > W^-_l`, and -1 if it is less. A tied label has the vote of
the node above, and -1 at the root.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftgames.boosting import pair_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, DenseBins
from driftgames.boosting.tree_growth import CRITERIA, TreeShape
from driftgames.boosting.tree_kernels import divide
from driftgames.boosting.tree_walk import goes_left, walk_tables
from driftgames.core.typing import IntArray


class PairNode(NamedTuple):
    """A node of a tree on bins, as `driftgames.boosting.tree_growth.Node`, with votes by label."""

    feature: int = -1
    cut: int = 0
    missing_left: int = 0
    left: int = 0
    votes: tuple[int, ...] = ()
    gain: float = 0.0


PairTree = tuple[PairNode, ...]
"""A tree on bins: the root first, and two nodes more for each question in the order of growing."""


@dataclass(eq=False)
class _Leaf:
    """A leaf while the tree grows: its rows, its totals and its sums in each bin."""

    node: int
    depth: int
    rows: Array
    totals: IntArray
    votes: IntArray
    sums: IntArray | None = None
    found: IntArray | None = None
    found_left: IntArray | None = None


class PairGrower:
    """Grows one tree after another on the same rows of pairs.

    Rows whose pairs all weigh zero are not touched. Of the two sides of a question, the smaller
    is summed and the other is the difference. Threads share the blocks of labels.

    Parameters
    ----------
    data : BinnedTrainingSet
        The examples in bins.
    labels : array of int64
        The label of each row, from 0.
    n_classes : int
        The number of labels.
    shape : TreeShape
        How large trees may grow.
    """

    def __init__(
        self, data: BinnedTrainingSet, labels: IntArray, n_classes: int, shape: TreeShape
    ) -> None:
        self._data = data
        self._labels = labels
        self._n_classes = n_classes
        self._shape = shape
        self._criterion = kernels.EDGE if shape.is_stump else CRITERIA[shape.criterion]
        self._n_blocks = -(-n_classes // kernels.LANES)
        self._has_sizes = shape.has_least_size
        self._sizes = shape.sizes(data)
        self._least = shape.least_size(data)
        self._n_parts = 2 * self._n_blocks + self._has_sizes
        self._weights = np.zeros((self._n_blocks, data.n_rows, kernels.LANES), dtype=np.int64)
        self._own = np.empty(data.n_rows, dtype=np.int64)
        self._heavy = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._light = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._scratch = np.empty(data.n_rows, dtype=np.uint32)
        self._mine = np.empty((256, self._n_parts, kernels.LANES), dtype=np.int64)
        self._sides = np.empty((3, self._n_parts, kernels.LANES), dtype=np.int64)
        self._free: list[IntArray] = []
        self._last: tuple[PairTree, Array] | None = None

    def grow(self, weights: IntArray) -> tuple[int, int, PairTree]:
        """Return ``sum w Y h``, ``sum w`` and the tree ``h`` for these weights of pairs."""
        nodes = [PairNode()]
        waiting: list[tuple[float, int, _Leaf]] = []
        leaves: dict[int, _Leaf] = {}

        def add(leaf: _Leaf) -> None:
            leaves[leaf.node] = leaf
            gain = self._find(leaf)
            if gain > 0.0:
                heapq.heappush(waiting, (-gain, leaf.node, leaf))
            else:
                self._release(leaf)

        root = self.begin(weights)
        if self.may_split(0, root.totals):
            root.sums = self.sum(root.rows)
        add(root)
        norm = self.weight(root.totals)
        most = self._shape.most_leaves
        while waiting and (most is None or len(leaves) < most):
            gain, node, leaf = heapq.heappop(waiting)
            del leaves[node]
            assert leaf.found is not None
            feature, cut, missing_left = leaf.found.tolist()
            nodes[node] = PairNode(feature, cut, missing_left, len(nodes), gain=-gain / norm)
            sides = self._divide(leaf, len(nodes), last=len(leaves) + 2 == most)
            nodes += [PairNode(), PairNode()]
            for side in sides:
                add(side)
        value = 0
        found = np.empty(self._data.n_rows, dtype=np.uint32)
        for node, leaf in leaves.items():
            nodes[node] = PairNode(votes=tuple(leaf.votes.tolist()))
            value += sum(map(abs, self.signed(leaf.totals).tolist()))
            found[leaf.rows] = node
            self._release(leaf)
        tree = tuple(nodes)
        self._find_leaves(tree, self._light[: self._data.n_rows - root.rows.size], found)
        self._last = tree, found
        return value, norm, tree

    def leaves(self, tree: PairTree) -> Array:
        """Return the leaf of every row."""
        if self._last is None or self._last[0] is not tree:
            found = np.empty(self._data.n_rows, dtype=np.uint32)
            self._find_leaves(tree, np.arange(self._data.n_rows, dtype=np.uint32), found)
            self._last = tree, found
        return self._last[1]

    def _find_leaves(self, tree: PairTree, rows: Array, found: Array) -> None:
        kernels.find_leaves(rows, *walk_tables(self._data, tree), found)

    def begin(self, weights: IntArray) -> _Leaf:
        """Return the root of a tree for these weights of pairs; it has no sums yet."""
        kernels.pack(weights, self._labels, self._n_classes, self._weights, self._own)
        totals = np.empty((self._n_parts, kernels.LANES), dtype=np.int64)
        n_heavy = kernels.collect(self._weights, self._labels, self._heavy, self._light, totals)
        rows = self._heavy[:n_heavy]
        if self._has_sizes:
            totals[2 * self._n_blocks, 0] = self._sizes[rows].sum()
        votes = self.votes(totals, np.full(self._n_classes, -1))
        return _Leaf(0, 0, rows, totals, votes)

    def signed(self, totals: IntArray) -> IntArray:
        """Return the edge of each label."""
        return totals[: self._n_blocks].reshape(-1)[: self._n_classes]

    def weight(self, totals: IntArray) -> int:
        """Return the weight of all pairs of a node."""
        n = self._n_blocks
        return int(2 * totals[n : 2 * n].sum() - totals[:n].sum())

    def votes(self, totals: IntArray, above: IntArray) -> IntArray:
        """Return the vote of a node for each label; ``above`` are those of the node above."""
        signs = np.sign(self.signed(totals))
        return np.where(signs == 0, above, signs)

    def may_split(self, depth: int, totals: IntArray) -> bool:
        """Whether a node may have a question.

        A label that has right and wrong pairs has two rows.
        """
        n, deepest = self._n_blocks, self._shape.max_depth
        upper = totals[n : 2 * n]
        return bool(
            (deepest is None or depth < deepest)
            and ((upper > 0) & (upper > totals[:n])).any()
            and (not self._has_sizes or totals[2 * n, 0] >= 2 * self._least)
        )

    def _find(self, leaf: _Leaf) -> float:
        """Find the best question of a leaf that has sums; return its gain, or 0 without one."""
        if leaf.sums is None:
            return 0.0
        gain, leaf.found, leaf.found_left = self.find(leaf.sums, leaf.totals)
        return gain

    def find(self, sums: IntArray, totals: IntArray) -> tuple[float, IntArray, IntArray]:
        """Return the gain of the best question, 0 without one, the question and its left totals."""
        data, n = self._data, self._n_blocks
        found, left = np.empty(3, dtype=np.int64), np.empty_like(totals)
        score = kernels.best_split(
            sums,
            totals,
            n,
            data.offsets,
            data.implicit,
            data.cuts.missing,
            self._least,
            self._criterion,
            self._mine,
            self._sides,
            found,
            left,
        )
        gain = 0.0
        if found[0] >= 0 and self._criterion == kernels.EDGE:  # in exact integers
            sides = left, totals - left, totals
            edges = [int(np.abs(self.signed(side)).sum()) for side in sides]
            gain = float(edges[0] + edges[1] - edges[2])
        elif found[0] >= 0 and self._separates(left, totals):
            gain = float(score - kernels.node_score(totals, n, self._criterion))
        return gain, found, left

    def _separates(self, left: IntArray, totals: IntArray) -> bool:
        """Whether a question gains anything: in exact integers, whatever rounding says."""
        n = self._n_blocks
        parts = (left[:n], left[n : 2 * n], totals[:n], totals[n : 2 * n])
        labels = zip(*(part.reshape(-1).tolist() for part in parts), strict=True)
        # equal shares of every label on both sides are no gain
        return any(u * (all_u - all_s) != (u - s) * all_u for s, u, all_s, all_u in labels)

    def _divide(self, leaf: _Leaf, node: int, *, last: bool) -> tuple[_Leaf, _Leaf]:
        """Return the two sides of a leaf's question, summed if they may be split in turn."""
        assert leaf.found is not None
        assert leaf.found_left is not None
        assert leaf.sums is not None
        feature, cut, missing_left = leaf.found.tolist()
        goes = goes_left(self._data, feature, cut, missing_left)
        at = divide(leaf.rows, self._data.column(feature), goes, self._scratch)
        left, right = leaf.found_left, leaf.totals - leaf.found_left
        depth = leaf.depth + 1
        sides = (
            _Leaf(node, depth, leaf.rows[:at], left, self.votes(left, leaf.votes)),
            _Leaf(node + 1, depth, leaf.rows[at:], right, self.votes(right, leaf.votes)),
        )
        smaller, larger = sides if at <= leaf.rows.size - at else sides[::-1]
        needed = [not last and self.may_split(depth, s.totals) for s in (smaller, larger)]
        if any(needed):
            sums = self.sum(smaller.rows)
            if needed[1]:
                leaf.sums -= sums
                larger.sums, leaf.sums = leaf.sums, None
            if needed[0]:
                smaller.sums = sums
            else:
                self.free(sums)
        self._release(leaf)
        return sides

    def sum(self, rows: Array) -> IntArray:
        """Return the sums of these rows in each bin; each thread adds up some of the blocks."""
        data, n = self._data, self._n_blocks
        if self._free:
            sums = self._free.pop()
        else:
            sums = np.empty((self._n_parts, data.n_codes, kernels.LANES), dtype=np.int64)
        codes = data.bins.codes
        add_block: Callable[..., None]
        add_own: Callable[..., None]
        if isinstance(data.bins, DenseBins):
            begins = data.offsets
            add_block, add_own = kernels.sum_dense, kernels.sum_own_dense
        else:
            begins = data.bins.starts
            add_block, add_own = kernels.sum_sparse, kernels.sum_own_sparse

        def add(share: int) -> None:
            for part in range(share, n + 1 + self._has_sizes, data.n_shares):
                if part < n:
                    sums[part] = 0
                    add_block(rows, self._weights[part], begins, codes, sums[part])
                elif part == n:
                    sums[n : 2 * n] = 0
                    add_own(rows, self._own, self._labels, begins, codes, sums[n : 2 * n])
                else:
                    sums[2 * n] = 0
                    first = np.zeros_like(self._labels)
                    add_own(rows, self._sizes, first, begins, codes, sums[2 * n :])

        data.run(add)
        return sums

    def totals(self, rows: Array) -> IntArray:
        """Return the sums of these rows over all bins of a feature."""
        totals = np.zeros((self._n_parts, kernels.LANES), dtype=np.int64)
        n = self._n_blocks
        totals[:n] = self._weights[:, rows].sum(axis=1)
        np.add.at(totals[n : 2 * n].reshape(-1), self._labels[rows], self._own[rows])
        if self._has_sizes:
            totals[2 * n, 0] = self._sizes[rows].sum()
        return totals

    def free(self, sums: IntArray) -> None:
        """Make the buffer of `sum` free for another node."""
        self._free.append(sums)

    def _release(self, leaf: _Leaf) -> None:
        if leaf.sums is not None:
            self.free(leaf.sums)
            leaf.sums = None
