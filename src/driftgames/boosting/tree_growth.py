r"""Growing a tree: one vote in each leaf, questions chosen by sums of integer weights.

Let a node hold the weights :math:`W_-` and :math:`W_+` of the two classes, :math:`W = W_- + W_+`.
Both criteria choose the question of the largest sum over its two sides of

.. math:: \frac{(W_+ - W_-)^2}{W} \quad \text{(Gini)}, \qquad
          \frac{(W_+ - W_-)^2}{W + 2\sqrt{W_- W_+}} \quad \text{(Kearns and Mansour)}

The second is :math:`W - 2\sqrt{W_- W_+}`, written without a difference of near numbers: the
criterion of Kearns and Mansour (1999), for which a small edge in every node makes the error of
the tree fall.

The gain of a question is its sum less the value of the node itself. The leaf of the largest gain
is split next; of equal gains, the leaf that was made first. `tree_kernels.best_split` states the
ties between the questions of a leaf. A leaf votes for the class of more weight. A tied leaf votes
like the node above it, and a tied root votes -1.
"""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray, DenseBins
from driftgames.core.checks import check_integer
from driftgames.core.registry import choose
from driftgames.core.typing import IntArray

CRITERIA = {"gini": kernels.GINI, "kearns-mansour": kernels.KEARNS_MANSOUR}
"""The criteria by name."""

_BINS = np.arange(256)
_FEW_SUMS = 50_000  # below so many additions a second thread costs more than it saves


class Node(NamedTuple):
    """A node of a tree on bins.

    A question has ``left > 0``: bins up to ``cut`` go to node ``left``, others to ``left + 1``.
    A leaf has ``left == 0`` and a vote.
    """

    feature: int = -1
    cut: int = 0
    missing_left: int = 0
    left: int = 0
    vote: int = 0
    gain: float = 0.0


Tree = tuple[Node, ...]
"""A tree on bins: the root first, and two nodes more for each question in the order of growing."""


@dataclass(frozen=True)
class TreeShape:
    """How large a tree may grow, and the criterion that chooses its questions."""

    max_depth: int | None = 1
    max_leaves: int | None = None
    min_samples_leaf: int = 1
    criterion: str = "gini"

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, least=1)
        elif self.max_leaves is None:
            raise ValueError("max_leaves must be given if max_depth is None")
        if self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, least=2)
        check_integer("min_samples_leaf", self.min_samples_leaf, least=1)
        choose("criterion", self.criterion, CRITERIA)

    @property
    def is_stump(self) -> bool:
        """Whether the tree is the exhaustive stump, which has an engine of its own."""
        return self.max_depth == 1 and self.min_samples_leaf == 1

    def check_examples(self, n_examples: int) -> None:
        """Raise ValueError for more leaves, or larger leaves, than the examples can fill."""
        if self.max_leaves is not None and self.max_leaves > n_examples:
            raise ValueError(
                f"max_leaves must be at most {n_examples}, the number of examples of positive "
                f"weight; got {self.max_leaves}"
            )
        if self.min_samples_leaf > 1 and 2 * self.min_samples_leaf > n_examples:
            raise ValueError(
                f"min_samples_leaf must be at most {n_examples // 2}, half of the examples of "
                f"positive weight; got {self.min_samples_leaf}"
            )


DEFAULTS = asdict(TreeShape())
"""The settings of the exhaustive stump, which every booster starts with."""


@dataclass(eq=False)
class _Leaf:
    """A leaf while the tree grows: its rows of each class, its totals and its sums in each bin."""

    node: int
    depth: int
    rows: tuple[Array, Array]
    totals: IntArray
    parent_vote: int
    sums: IntArray | None = None
    found: IntArray | None = None

    def __post_init__(self) -> None:
        self.n_rows = self.rows[0].size + self.rows[1].size
        self.edge = int(self.totals[1] - self.totals[0])
        self.vote = (self.edge > 0) - (self.edge < 0) or self.parent_vote


class TreeGrower:
    """Grows one tree after another on the same examples.

    Rows of weight zero are not touched. Of the two sides of a question, the smaller is summed and
    the other is the difference. A leaf that cannot be split is not summed at all.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        self._data = data
        self._shape = shape
        self._criterion = CRITERIA[shape.criterion]
        self._n_sums = 3 if shape.min_samples_leaf > 1 else 2
        self._ones = np.ones(data.n_rows if self._n_sums == 3 else 0, dtype=np.int64)
        self._rows = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._light = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._scratch = np.empty(data.n_rows, dtype=np.uint32)
        self._mine = np.empty((3, 256), dtype=np.int64)
        self._free: list[IntArray] = []
        self._columns: dict[int, BitArray] = {}
        self._last: tuple[Tree, BitArray] | None = None

    def grow(self, weights: IntArray) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` for these weights."""
        self._weights = weights
        nodes = [Node()]
        waiting: list[tuple[float, int, _Leaf]] = []
        leaves: dict[int, _Leaf] = {}

        def add(leaf: _Leaf) -> None:
            leaves[leaf.node] = leaf
            gain = self._find(leaf)
            if gain > 0.0:
                heapq.heappush(waiting, (-gain, leaf.node, leaf))
            else:
                self._release(leaf)

        root = self._root(weights)
        if self._may_split(root):
            root.sums = self._sum(root.rows)
        add(root)
        norm = int(root.totals[0] + root.totals[1])
        most = self._shape.max_leaves
        while waiting and (most is None or len(leaves) < most):
            gain, node, leaf = heapq.heappop(waiting)
            del leaves[node]
            assert leaf.found is not None
            feature, cut, missing_left = leaf.found[:3].tolist()
            nodes[node] = Node(feature, cut, missing_left, len(nodes), gain=-gain / norm)
            sides = self._divide(leaf, len(nodes), last=len(leaves) + 2 == most)
            nodes += [Node(), Node()]
            for side in sides:
                add(side)
        value = 0
        votes = np.empty(self._data.n_rows, dtype=np.uint8)
        for node, leaf in leaves.items():
            nodes[node] = Node(vote=leaf.vote)
            value += abs(leaf.edge)
            for rows in leaf.rows:
                votes[rows] = leaf.vote > 0
            self._release(leaf)
        tree = tuple(nodes)
        self._vote(tree, self._light[: self._data.n_rows - root.n_rows], votes)
        self._last = tree, votes
        return value, norm, tree

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every row: 1 for +1 and 0 for -1."""
        if self._last is None or self._last[0] is not tree:
            votes = np.empty(self._data.n_rows, dtype=np.uint8)
            self._vote(tree, np.arange(self._data.n_rows, dtype=np.uint32), votes)
            self._last = tree, votes
        return self._last[1]

    def _vote(self, tree: Tree, rows: Array, votes: BitArray) -> None:
        """Write a tree's votes on these rows."""
        data = self._data
        asked = sorted({node.feature for node in tree if node.left})
        if isinstance(data.bins, DenseBins):
            columns, slot_of = data.bins.columns, {j: j for j in asked}
        else:
            columns = np.empty((len(asked), data.n_rows), dtype=np.uint8)
            for slot, j in enumerate(asked):
                columns[slot] = self._column(j)
            slot_of = {j: slot for slot, j in enumerate(asked)}
        slots = np.array([slot_of.get(node.feature, -1) for node in tree])
        children = np.zeros((len(tree), 256), dtype=np.uint32)
        for n, node in enumerate(tree):
            if node.left:
                goes_left = self._goes_left(node.feature, node.cut, node.missing_left)
                children[n] = node.left + 1 - goes_left
        up = np.array([node.vote > 0 for node in tree], dtype=np.uint8)
        ends = np.linspace(0, rows.size, data.n_shares + 1).astype(np.int64).tolist()
        data.run(
            lambda p: kernels.vote_rows(
                rows[ends[p] : ends[p + 1]], columns, slots, children, up, votes
            )
        )

    def _column(self, feature: int) -> BitArray:
        """Return the bins of a feature; those of sparse rows are kept for the next trees."""
        column = self._columns.get(feature)
        if column is None:
            # no more memory than the rows themselves take, but room for one large tree
            if len(self._columns) * self._data.n_rows > self._data.bins.codes.nbytes + 2**20:
                self._columns.clear()
            column = self._columns[feature] = self._data.column(feature)
        return column

    def _root(self, weights: IntArray) -> _Leaf:
        split, n_rows = self._data.split, self._data.n_rows
        n_lower, lower = kernels.collect(weights, 0, split, self._rows, self._light)
        rest = self._rows[n_lower:], self._light[split - n_lower :]
        n_upper, upper = kernels.collect(weights, split, n_rows, *rest)
        rows = self._rows[:n_lower], self._rows[n_lower : n_lower + n_upper]
        return _Leaf(0, 0, rows, np.array([lower, upper, n_lower + n_upper]), parent_vote=-1)

    def _may_split(self, leaf: _Leaf) -> bool:
        depth = self._shape.max_depth
        return bool(
            (depth is None or leaf.depth < depth)
            and leaf.totals[:2].all()
            and leaf.n_rows >= 2 * self._shape.min_samples_leaf
        )

    def _find(self, leaf: _Leaf) -> float:
        """Find the best question of a leaf that has sums; return its gain, or 0 without one."""
        if leaf.sums is None:
            return 0.0
        data = self._data
        leaf.found = np.empty(5, dtype=np.int64)
        score = kernels.best_split(
            leaf.sums,
            leaf.totals,
            data.offsets,
            data.implicit,
            data.cuts.missing,
            self._shape.min_samples_leaf,
            self._criterion,
            self._mine,
            leaf.found,
        )
        if leaf.found[0] < 0:
            return 0.0
        # equal shares on both sides are no gain, whatever rounding says: in exact integers
        lower, upper = leaf.found[3:5].tolist()
        lower_all, upper_all = leaf.totals[:2].tolist()
        if lower * upper_all == upper * lower_all:
            return 0.0
        return float(score - kernels.node_score(lower_all, upper_all, self._criterion))

    def _divide(self, leaf: _Leaf, node: int, *, last: bool) -> tuple[_Leaf, _Leaf]:
        """Return the two sides of a leaf's question, summed if they may be split in turn."""
        assert leaf.found is not None
        assert leaf.sums is not None
        feature, cut, missing_left = leaf.found[:3].tolist()
        goes_left = self._goes_left(feature, cut, missing_left)
        column = self._column(feature)
        left, right = [], []
        for rows in leaf.rows:
            at = kernels.divide(rows, column, goes_left, self._scratch)
            left.append(rows[:at])
            right.append(rows[at:])
        totals = np.append(leaf.found[3:5], left[0].size + left[1].size)
        vote, depth = leaf.vote, leaf.depth + 1
        sides = (
            _Leaf(node, depth, (left[0], left[1]), totals, vote),
            _Leaf(node + 1, depth, (right[0], right[1]), leaf.totals - totals, vote),
        )
        smaller, larger = sides if sides[0].n_rows <= sides[1].n_rows else sides[::-1]
        needed = [not last and self._may_split(side) for side in (smaller, larger)]
        if any(needed):
            sums = self._sum(smaller.rows)
            if needed[1]:
                leaf.sums -= sums
                larger.sums, leaf.sums = leaf.sums, None
            if needed[0]:
                smaller.sums = sums
            else:
                self._free.append(sums)
        self._release(leaf)
        return sides

    def _goes_left(self, feature: int, cut: int, missing_left: int) -> Array:
        """Return 1 for each bin of a feature that goes left, else 0."""
        goes = (cut >= _BINS).view(np.uint8)
        if self._data.cuts.missing[feature]:
            goes[self._data.offsets[feature + 1] - self._data.offsets[feature] - 1] = missing_left
        return goes

    def _sum(self, rows: tuple[Array, Array]) -> IntArray:
        """Return the sums of both classes, and the counts of rows if they are needed."""
        data = self._data
        sums = self._take()
        n_added = (rows[0].size + rows[1].size) * data.bins.codes.size // max(data.n_rows, 1)
        if data.n_shares == 1 or n_added < _FEW_SUMS:
            self._add(rows, 0, 1, sums)
            return sums
        parts = [sums, *(self._take() for _ in range(1, data.n_shares))]
        data.run(lambda p: self._add(rows, p, data.n_shares, parts[p]))
        for part in parts[1:]:
            sums += part
            self._free.append(part)
        return sums

    def _add(self, rows: tuple[Array, Array], share: int, n_shares: int, sums: IntArray) -> None:
        """Add the rows of one share to ``sums``."""
        sums[:] = 0
        for c, all_rows in enumerate(rows):
            begin, end = (all_rows.size * k // n_shares for k in (share, share + 1))
            mine = all_rows[begin:end]
            self._add_weights(mine, self._weights, sums[c])
            if self._n_sums == 3:
                self._add_weights(mine, self._ones, sums[2])

    def _add_weights(self, rows: Array, weights: IntArray, out: IntArray) -> None:
        bins = self._data.bins
        if isinstance(bins, DenseBins):
            kernels.sum_dense(rows, weights, self._data.offsets, bins.codes, out)
        else:
            kernels.sum_sparse(rows, weights, bins.starts, bins.codes, out)

    def _take(self) -> IntArray:
        """Return a buffer for sums."""
        if self._free:
            return self._free.pop()
        return np.empty((self._n_sums, self._data.n_codes), dtype=np.int64)

    def _release(self, leaf: _Leaf) -> None:
        """Make the buffer of a leaf free for another."""
        if leaf.sums is not None:
            self._free.append(leaf.sums)
            leaf.sums = None


def as_rows(tree: Tree) -> tuple[Any, ...]:
    """Return the columns of a tree's nodes: features, cuts, missing_left, left, votes, gains."""
    return tuple(zip(*tree, strict=True))
