"""The training set of the tree boosters: binned rows, and trees as their weak learner."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, BitArray
from driftgames.boosting.tree_growth import Node, Tree, TreeGrower, TreeShape, as_rows
from driftgames.boosting.trees import Trees
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.typing import BoolArray, IntArray


class GrowsByMistakes(Protocol):
    """What `LeafCounts` asks of a grower."""

    def grow(self, weights: IntArray, mistakes: Array | None = None) -> tuple[int, int, Tree]:
        """Return what `TreeGrower.grow` returns."""

    def count_mistakes(self, tree: Tree, mistakes: Array, most: int) -> IntArray:
        """Do what `TreeGrower.count_mistakes` does."""


class LeafCounts:
    """One number of mistakes for each row; a tree's mistakes are the rows of its wrong leaves."""

    def __init__(self, data: BinnedTrainingSet, grower: GrowsByMistakes) -> None:
        self._data = data
        self._grower = grower
        self._mistakes = np.zeros(data.n_rows, dtype=np.int32)
        self._masses = np.zeros((2, 2), dtype=np.int64)
        self._masses[:, 0] = data.counts[:, data.offsets[0] : data.offsets[1]].sum(axis=1)

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        held = np.flatnonzero(self._masses.any(axis=0))
        first, last = int(held[0]), int(held[-1])
        return first, np.ascontiguousarray(self._masses[:, first : last + 1])

    def best(self, first: int, weights: Array) -> tuple[int, int, Tree]:
        """Return the tree for weights by number of mistakes."""
        if weights.dtype == np.int64:
            return self._grower.grow(np.append(np.zeros(first, np.int64), weights), self._mistakes)
        weighted = self._data.sample_weights * weights[self._mistakes - first]
        return self._grower.grow(np.rint(weighted).astype(np.int64))

    def move(self, tree: Tree) -> LeafCounts:
        """Count the mistakes of a tree."""
        last = int(np.flatnonzero(self._masses.any(axis=0))[-1])
        moved = self._grower.count_mistakes(tree, self._mistakes, last)
        if last + 2 > self._masses.shape[1]:
            self._masses = np.concatenate([self._masses, np.zeros_like(self._masses)], axis=1)
        self._masses[:, : last + 1] -= moved
        self._masses[:, 1 : last + 2] += moved
        return self


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

    def count_mistakes(self) -> LeafCounts:
        """Return one number of mistakes for each row."""
        return LeafCounts(self._data, self._grower)

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
