r"""More than two classes: chips are pairs of an example and a label.

The pair :math:`(i, l)` has the label :math:`Y_{il} = +1` if example ``i`` is of class ``l``, else
-1, and a weak hypothesis votes :math:`h(x, l) \in \{-1, +1\}` for every label. Boosting of the
pairs is boosting of two classes, with the same chips, weights and theorems: this is the reduction
of AdaBoost.MH (Schapire and Singer, 1999).

An example has :math:`K - 1` pairs of a wrong label and one of the right one. The right one counts
:math:`K - 1` times: otherwise a vote of -1 for every label would have a large edge and say nothing.

Pairs are numbered row by row: pair ``(i, l)`` has the number ``i K + l``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.data.bins import Array, BitArray, DenseBins
from driftgames.boosting.growth import pair_kernels as kernels
from driftgames.boosting.growth.best_first import BestFirstGrower, Question, count_parts
from driftgames.boosting.growth.training_set import RowCounts, RowSet, RowVotes, Standing
from driftgames.boosting.growth.tree_growth import TreeShape
from driftgames.boosting.growth.tree_kernels import divide
from driftgames.boosting.model.trees import Tree, TreesOnBins
from driftgames.core.typing import IntArray

_BINS = np.arange(256)


class PairTrainingSet(RowSet):
    """Examples as pairs; subclasses have the weak learner. ``labels`` number the classes."""

    def __init__(
        self, labels: IntArray, n_classes: int, example_weights: IntArray, integer_weights: bool
    ) -> None:
        self.labels = labels
        self.n_classes = n_classes
        self.example_weights = example_weights
        self.integer_weights = integer_weights
        self.positive = (labels[:, None] == np.arange(n_classes)).reshape(-1)
        copies = np.where(self.positive, n_classes - 1, 1)
        self.sample_weights = copies * np.repeat(example_weights, n_classes)

    @property
    def masses(self) -> list[int]:
        """The mass of each class."""
        return [int(self.example_weights[self.labels == k].sum()) for k in range(self.n_classes)]

    def count_mistakes(self) -> PairCounts:
        """Return one number of mistakes for each pair."""
        return PairCounts(self)

    def add_votes(self) -> PairVotes:
        """Return one total for each pair."""
        return PairVotes(self)


class PairCounts(RowCounts):
    """One number of mistakes for each pair."""

    _training_set: PairTrainingSet

    def __init__(self, training_set: PairTrainingSet) -> None:
        super().__init__(training_set)
        self._n_rounds = 0
        self.wrong, self.error = 0, 0.0

    def move(self, hypothesis: Any) -> PairCounts:
        """Count the mistakes of a hypothesis."""
        self._n_rounds += 1
        pairs, votes = self._training_set, self._training_set.votes(hypothesis)
        of_rows = pairs.labels, pairs.example_weights, pairs.n_classes
        self.wrong = kernels.count_errors(votes, *of_rows, self._n_rounds, self._mistakes)
        self.error = self.wrong / int(pairs.example_weights.sum())
        return self


class PairVotes(RowVotes):
    """One total for each pair; the mass is that of examples."""

    _training_set: PairTrainingSet

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of pairs, and the sum of the sample weights."""
        return int(self._copies.sum()), int(self._training_set.example_weights.sum())

    def standing(self) -> Standing:
        """Return the lowest total of a pair, and the mass of examples that the vote gets wrong."""
        pairs = self._training_set
        chosen = self._votes.reshape(-1, pairs.n_classes).argmax(axis=1)  # the first of equals
        mass = int(pairs.example_weights[chosen != pairs.labels].sum())
        return Standing(float((self._sign * self._votes).min()), mass)


class TreePairs(TreesOnBins, PairTrainingSet):
    """Pairs of binned examples, and a weak learner that grows trees on them.

    A stump is a tree of one question: its two sides vote for every label. ``labels`` are in the
    order in which the examples were binned.

    While a tree grows, rows whose pairs all weigh zero are not touched. Of the two sides of a
    question, the smaller is summed and the other is the difference. Threads share the blocks of
    labels.
    """

    def __init__(
        self, data: BinnedTrainingSet, labels: IntArray, n_classes: int, shape: TreeShape
    ) -> None:
        of_rows = labels[data.order], n_classes, data.sample_weights, data.integer_weights
        super().__init__(*of_rows)
        self._data = data
        self._grower = BestFirstGrower(data, n_classes, shape, self.divide)
        self._n_blocks, self._n_parts = count_parts(n_classes, shape)
        self._sizes = shape.sizes(data)
        self._weights = np.zeros((self._n_blocks, data.n_rows, kernels.LANES), dtype=np.int64)
        self._own = np.empty(data.n_rows, dtype=np.int64)
        self._heavy = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._scratch = np.empty(data.n_rows, dtype=np.uint32)
        self._nodes: dict[int, tuple[Array, IntArray]] = {}

    def best(self, weights: IntArray) -> tuple[int, int, Tree]:
        """Return the sums for the tree that is grown on these weights."""
        return self._grower.grow(*self.begin(weights))

    def begin(self, weights: IntArray) -> tuple[IntArray, IntArray]:
        """Begin a tree for these weights of pairs; return the sums and the totals of its root."""
        given = self.labels, self.n_classes, self._weights, self._own, self._heavy
        rows = self._heavy[: kernels.pack(weights, *given)]
        self._nodes = {1: (rows, self._sum(rows))}
        return self._nodes[1][1], self.totals(1)

    def divide(self, questions: Sequence[Question]) -> list[tuple[IntArray, IntArray]]:
        """Divide nodes; return the sums of the two sides of each. Those of the node are lost."""
        for node, *asked in questions:
            rows, sums = self._nodes.pop(node)
            goes = goes_left(self._data, *asked)
            at = divide(rows, self._data.column(asked[0]), goes, self._scratch)
            sides = rows[:at], rows[at:]
            less = int(at > rows.size - at)  # the smaller side, the left one of equals
            smaller = self._sum(sides[less])
            sums -= smaller
            self._nodes[2 * node + less] = sides[less], smaller
            self._nodes[2 * node + 1 - less] = sides[1 - less], sums
        return [(self._nodes[2 * q.node][1], self._nodes[2 * q.node + 1][1]) for q in questions]

    def _sum(self, rows: Array) -> IntArray:
        """Return the sums of these rows in each bin; each thread adds up some of the blocks."""
        data, n = self._data, self._n_blocks
        sums = np.zeros((self._n_parts, data.n_codes, kernels.LANES), dtype=np.int64)
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
            for part in range(share, self._n_parts - n + 1, data.n_shares):
                if part < n:
                    add_block(rows, self._weights[part], begins, codes, sums[part])
                elif part == n:
                    add_own(rows, self._own, self.labels, begins, codes, sums[n : 2 * n])
                else:
                    first = np.zeros_like(self.labels)
                    add_own(rows, self._sizes, first, begins, codes, sums[2 * n :])

        data.run(add)
        return sums

    def totals(self, node: int) -> IntArray:
        """Return the sums of the rows of a node over all bins of a feature."""
        totals = np.zeros((self._n_parts, kernels.LANES), dtype=np.int64)
        of_rows = self._weights, self.labels, self._own, self._sizes
        kernels.add_up(self._nodes[node][0], *of_rows, totals)
        return totals

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every pair."""
        down = (-1,) * self.n_classes  # a question stands for no row
        up = np.array([node.vote or down for node in tree]) > 0
        return up.view(np.uint8)[self._leaves(tree)].reshape(-1)

    def _leaves(self, tree: Tree) -> Array:
        """Return the leaf of every row in a tree."""
        data, found = self._data, np.empty(self._data.n_rows, dtype=np.uint32)
        children = np.zeros((len(tree), 256), dtype=np.uint32)
        for n, node in enumerate(tree):
            if node.left:
                children[n] = node.left + 1 - goes_left(data, *node[:3])
        asked = sorted({node.feature for node in tree if node.left})
        slots = np.array([asked.index(node.feature) if node.left else -1 for node in tree])
        columns = np.empty((len(asked), data.n_rows), dtype=np.uint8)
        for slot, j in enumerate(asked):
            columns[slot] = data.column(j)
        kernels.find_leaves(columns, slots, children, found)
        return found


def goes_left(data: BinnedTrainingSet, feature: int, cut: int, missing_left: int) -> Array:
    """Return 1 for each bin of a feature that goes left, else 0."""
    goes = (cut >= _BINS).view(np.uint8)
    if data.cuts.missing[feature]:
        goes[data.offsets[feature + 1] - data.offsets[feature] - 1] = missing_left
    return goes
