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

from typing import Any

import numpy as np

from driftgames.boosting.best_first import BestFirstGrower
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray
from driftgames.boosting.pair_growth import PairRows
from driftgames.boosting.pair_kernels import count_errors
from driftgames.boosting.training_set import RowCounts, RowSet, RowVotes, Standing
from driftgames.boosting.tree_growth import TreeShape
from driftgames.boosting.trees import Tree, TreesOnBins
from driftgames.core.typing import IntArray


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

    def count_mistakes(self) -> PairCounts:
        """Return one number of mistakes for each pair."""
        return PairCounts(self)

    def add_votes(self) -> PairVotes:
        """Return one total for each pair."""
        return PairVotes(self)

    def wrong(self, scores: Array) -> int:
        """Return the mass of the examples whose largest score is of a wrong class.

        ``scores`` has one number for each pair. A tie is for the lowest class.
        """
        wrong = scores.reshape(-1, self.n_classes).argmax(axis=1) != self.labels
        return int(self.example_weights[wrong].sum())


class PairCounts(RowCounts):
    """One number of mistakes for each pair."""

    def __init__(self, training_set: PairTrainingSet) -> None:
        super().__init__(training_set)
        self._pairs = training_set
        self._n_rounds = 0
        self.wrong, self.error = 0, 0.0

    def move(self, hypothesis: Any) -> PairCounts:
        """Count the mistakes of a hypothesis."""
        self._n_rounds += 1
        self.wrong = count_errors(
            self._pairs.votes(hypothesis),
            self._pairs.labels,
            self._pairs.example_weights,
            self._pairs.n_classes,
            self._n_rounds,
            self._mistakes,
        )
        self.error = self.wrong / int(self._pairs.example_weights.sum())
        return self


class PairVotes(RowVotes):
    """One total for each pair; the mass is that of examples."""

    _training_set: PairTrainingSet

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of pairs, and the sum of the sample weights."""
        return int(self._copies.sum()), int(self._training_set.example_weights.sum())

    def standing(self) -> Standing:
        """Return the lowest total of a pair, and the mass of examples that the vote gets wrong."""
        lowest = float((self._sign * self._votes).min())
        return Standing(lowest, self._training_set.wrong(self._votes))


class TreePairs(TreesOnBins, PairTrainingSet):
    """Pairs of binned examples, and a weak learner that grows trees on them.

    A stump is a tree of one question: its two sides vote for every label. ``labels`` are in the
    order in which the examples were binned.
    """

    def __init__(
        self, data: BinnedTrainingSet, labels: IntArray, n_classes: int, shape: TreeShape
    ) -> None:
        in_rows = labels[data.order]
        super().__init__(in_rows, n_classes, data.sample_weights, data.integer_weights)
        self._data = data
        self._rows = PairRows(data, in_rows, n_classes, shape)
        self._grower = BestFirstGrower(data, n_classes, shape, self._rows.divide)

    def best(self, weights: IntArray) -> tuple[int, int, Tree]:
        """Return the sums for the tree that is grown on these weights."""
        return self._grower.grow(*self._rows.begin(weights))

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every pair."""
        down = (-1,) * self.n_classes  # a question stands for no row
        up = np.array([node.vote or down for node in tree]) > 0
        return up.view(np.uint8)[self._rows.leaves(tree)].reshape(-1)
