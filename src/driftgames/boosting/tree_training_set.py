"""The training set of the tree boosters: binned rows, and trees as their weak learner."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import BitArray
from driftgames.boosting.cuts import Cuts
from driftgames.boosting.leaf_tally import count_leaf_mistakes
from driftgames.boosting.mistake_counts import MistakeCounts
from driftgames.boosting.tree_growth import Node, Tree, TreeGrower, TreeShape
from driftgames.boosting.trees import NO_TREES, Trees
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.typing import BoolArray, IntArray


class TreeTrainingSet:
    """Binned examples and a weak learner that grows trees on them."""

    def __init__(
        self, data: BinnedTrainingSet, shape: TreeShape, grower: TreeGrower | None = None
    ) -> None:
        self._data = data
        self._grower = grower or TreeGrower(data, shape)
        self._counts_rows = shape.has_least_size
        self.integer_weights = data.integer_weights
        self.positive: BoolArray = data.positive
        self.sample_weights = data.sample_weights

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
        return trees_to_values(self._data.cuts, chosen)

    def to_bins(self, trees: Trees) -> list[Tree]:
        """Return trees on feature values as trees on bins."""
        return trees_to_bins(self._data.cuts, trees)


def trees_to_values(cuts: Cuts, chosen: list[Tree]) -> Trees:
    """Return trees on bins as trees on feature values."""
    if not chosen:
        return NO_TREES
    nodes = [node for tree in chosen for node in tree]
    feature, cut, missing_left, left = np.array([node[:4] for node in nodes]).T
    threshold, asks = np.zeros(len(nodes)), left > 0
    threshold[asks] = cuts.values(feature[asks], cut[asks])
    votes = np.array([node.vote for node in nodes if not node.left])
    vote = np.zeros((len(nodes), *votes.shape[1:]))
    vote[~asks] = votes
    sizes, gain = np.array([len(tree) for tree in chosen]), np.array([node.gain for node in nodes])
    return Trees(sizes, feature, threshold, missing_left, left, vote, gain)


def trees_to_bins(cuts: Cuts, trees: Trees) -> list[Tree]:
    """Return trees on feature values as trees on bins."""

    def node(
        j: int, theta: float, missing_left: int, left: int, vote: int | list[int], gain: float
    ) -> Node:
        if left:
            return Node(j, cuts.index(j, theta), missing_left, left, gain=gain)
        return Node(vote=tuple(vote) if isinstance(vote, list) else vote)

    columns = trees.feature, trees.threshold, trees.missing_left, trees.left, trees.vote, trees.gain
    nodes = list(map(node, *(column.tolist() for column in columns)))
    return [tuple(nodes[begin:end]) for begin, end in pairwise(trees.starts.tolist())]
