"""Binned examples in memory, and trees or stumps as the weak learner for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import BitArray
from driftgames.boosting.growth.binned_trees import (
    BinnedTree,
    from_stumps,
    from_trees,
    to_stumps,
    to_trees,
)
from driftgames.boosting.growth.mistake_engine import MistakeEngine, TreeGrower
from driftgames.boosting.growth.pair_training_set import PairTrainingSet
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.growth.training_set import RowSet
from driftgames.boosting.model.stumps import Stumps
from driftgames.core.typing import IntArray


class GrownTrees:
    """What grows trees on binned rows, of two classes or of several.

    ``sample_weights`` are in the order of the binned rows, and zero for the rows that are held out.
    """

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        sample_weights: IntArray,
        *,
        labels: IntArray | None = None,
        n_classes: int = 2,
        n_threads: int = 1,
    ) -> None:
        self.data = data
        self.shape = shape
        self._settings: dict[str, Any] = {
            "labels": labels,
            "n_classes": n_classes,
            "n_threads": n_threads,
        }
        self._row_weights = sample_weights

    @property
    def mass(self) -> int:
        """The sample weight of all examples."""
        return int(self._row_weights.sum())

    def play_rounds(self, n_rounds: int) -> MistakeEngine:
        """Return the engine that plays up to ``n_rounds`` rounds."""
        given = self.data, self.shape, self._row_weights
        return MistakeEngine(*given, n_rounds, **self._settings)

    @cached_property
    def grower(self) -> TreeGrower:
        """Grows trees on weights that are given."""
        return TreeGrower(self.data, self.shape, self._row_weights, **self._settings)

    def best(self, weights: IntArray) -> tuple[int, int, BinnedTree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree for these weights."""
        return self.grower.grow(weights)

    def votes(self, tree: BinnedTree) -> BitArray:
        """Return a tree's vote on every row, or pair: 1 for +1 and 0 for -1."""
        self.grower.follow(tree)
        return self.grower.leaf_votes()

    def to_values(self, chosen: Sequence[BinnedTree]) -> Any:
        """Return the hypotheses chosen as the model keeps them: `Stumps` or `Trees`."""
        if self.shape.is_stump and self._settings["n_classes"] == 2:
            return to_stumps(chosen, self.data.cuts)
        return to_trees(chosen, self.data.cuts)

    def to_bins(self, hypotheses: Any) -> list[BinnedTree]:
        """Return the hypotheses of a model as they were chosen."""
        if isinstance(hypotheses, Stumps):
            return from_stumps(hypotheses, self.data.cuts)
        return from_trees(hypotheses, self.data.cuts)


class TreeRows(GrownTrees, RowSet):
    """Binned rows of two classes, and trees or stumps."""

    def __init__(
        self, data: BinnedData, shape: TreeShape, sample_weights: IntArray, **settings: Any
    ) -> None:
        super().__init__(data, shape, sample_weights, **settings)
        self.integer_weights = data.integer_weights
        self.sample_weights = sample_weights
        self.positive = np.arange(data.n_rows) >= data.split


class TreePairs(GrownTrees, PairTrainingSet):
    """Pairs of binned rows and labels, and trees that vote for every label."""

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        sample_weights: IntArray,
        *,
        labels: IntArray,
        n_classes: int,
        n_threads: int = 1,
    ) -> None:
        GrownTrees.__init__(
            self,
            data,
            shape,
            sample_weights,
            labels=labels,
            n_classes=n_classes,
            n_threads=n_threads,
        )
        PairTrainingSet.__init__(self, labels, n_classes, sample_weights, data.integer_weights)


def grow_on(
    data: BinnedData,
    shape: TreeShape,
    sample_weights: IntArray,
    *,
    labels: IntArray | None,
    n_classes: int,
    n_threads: int = 1,
) -> TreeRows | TreePairs:
    """Return the training set of trees on binned rows; several classes need ``labels``."""
    if n_classes == 2:
        return TreeRows(data, shape, sample_weights, n_threads=n_threads)
    assert labels is not None
    return TreePairs(
        data, shape, sample_weights, labels=labels, n_classes=n_classes, n_threads=n_threads
    )
