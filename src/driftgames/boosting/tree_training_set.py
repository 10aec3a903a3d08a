"""The training set of the tree boosters: binned rows, and trees as their weak learner."""

from __future__ import annotations

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import BitArray
from driftgames.boosting.leaf_tally import count_leaf_mistakes
from driftgames.boosting.mistake_counts import MistakeCounts
from driftgames.boosting.tree_growth import Node, Tree, TreeGrower, TreeShape, as_rows
from driftgames.boosting.trees import Trees
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.typing import BoolArray, IntArray


class TreeTrainingSet:
    """Binned examples and a weak learner that grows trees on them.

    Parameters
    ----------
    data : BinnedTrainingSet
        The examples in bins.
    shape : TreeShape
        How large trees may grow.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        self._data = data
        self._grower = TreeGrower(data, shape)
        self._counts_rows = shape.has_least_size

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact, and not rounded fractions."""
        return self._data.integer_weights

    @property
    def positive(self) -> BoolArray:
        """Which rows are of class 1."""
        return self._data.positive

    @property
    def sample_weights(self) -> IntArray:
        """How much each row counts."""
        return self._data.sample_weights

    def count_mistakes(self) -> MistakeCounts:
        """Return a tally as long as it is cheaper than one number for each row."""
        return count_leaf_mistakes(self._data, self._grower, counts_rows=self._counts_rows)

    def add_votes(self) -> RowVotes:
        """Return one total of votes for each row."""
        return RowVotes(self)

    def best(self, weights: IntArray) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` grown."""
        return self._grower.grow(weights)

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every row: 1 for +1 and 0 for -1."""
        return self._grower.votes(tree)

    def to_values(self, chosen: list[Tree]) -> Trees:
        """Return trees on bins as trees on feature values."""
        columns = [as_rows(tree) for tree in chosen]
        sizes = [len(tree) for tree in chosen]
        feature, cut, missing_left, left, vote, gain = (
            np.array([x for column in columns for x in column[k]]) for k in range(6)
        )
        if not chosen:
            return Trees.none()
        asks = left > 0
        threshold = np.zeros(feature.size)
        threshold[asks] = self._data.cuts.values(feature[asks], cut[asks])
        return Trees(np.array(sizes), feature, threshold, missing_left, left, vote, gain)

    def to_bins(self, trees: Trees) -> list[Tree]:
        """Return trees on feature values as trees on bins."""
        index = self._data.cuts.index
        return trees.to_nodes(
            lambda j, theta, missing, left, vote, gain: Node(
                j, index(j, theta) if left else 0, missing, left, vote, gain
            )
        )
