"""Trees that vote for each of several classes, as a model: fast scores, and explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from driftgames.boosting.additive import ShapeFunction
from driftgames.boosting.tree_model import TreeModel, TreeVotes


@dataclass(frozen=True, eq=False)
class PairModel(TreeVotes):
    r"""The votes of :math:`T` trees for each class, :math:`\sum_t \alpha_t h_t(x, l)`.

    For one class they are the votes of a `TreeModel`. All classes share the questions: an example
    goes through each tree once.
    """

    n_classes: int

    @property
    def _width(self) -> tuple[int, ...]:
        return (self.n_classes,)

    def of_class(self, label: int) -> TreeModel:
        """Return the model of the votes for one class, given by its number."""
        votes = self.trees.vote.reshape(-1, self.n_classes)[:, label]
        return TreeModel(replace(self.trees, vote=votes), self.vote_weights, self.n_features)

    def shape_functions(self, label: int) -> dict[int, ShapeFunction]:
        """Return the votes of stumps for one class, as a step function of each feature's value.

        A stump votes on either side what `TreeModel.explain` credits to its feature: its vote
        less the mean of its two votes. A stump with the same vote on both sides changes nothing.
        """
        trees, one = self.trees, self.of_class(label)
        worth, total = one._worth, one.total or 1.0
        roots = trees.starts[:-1][trees.n_nodes == 3]
        left = worth[roots + 1] - worth[roots]
        missing = np.where(trees.missing_left[roots] == 1, left, -left)
        shapes = {}
        for j in np.unique(trees.feature[roots]).tolist():
            mine = trees.feature[roots] == j
            cuts, where = np.unique(trees.threshold[roots][mine], return_inverse=True)
            steps = np.zeros(cuts.size + 1)
            np.add.at(steps, where + 1, -2.0 * left[mine])
            steps[0] = left[mine].sum()
            gone = float(missing[mine].sum())
            shapes[j] = ShapeFunction(j, cuts, np.cumsum(steps) / total, gone / total)
        return shapes
