"""Voting trees as models, of two classes and of several: what explains their votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftgames.boosting.model.explanation import Explanation, ShapeFunction
from driftgames.boosting.model.row_scores import check_example
from driftgames.boosting.model.stumps import round_to_unit
from driftgames.boosting.model.tree_scores import TreeVotes
from driftgames.core.caching import cached_property
from driftgames.core.typing import FloatArray


class TreeModel(TreeVotes):
    r"""The vote of :math:`T` trees, :math:`\sum_{t=1}^{T} \alpha_t h_t(x)`."""

    @property
    def total(self) -> float:
        """The sum of the vote weights; no score is larger."""
        return float(np.abs(self.weights[0]).sum())

    def explain(self, x: Any) -> Explanation:
        r"""Return the vote of each feature on one example, a vector or a single row.

        A node is worth the vote of its leaf or, at a question, the mean of its two sides:

        .. math:: v(n) = \tfrac12 \bigl(v(\text{left}) + v(\text{right})\bigr)

        This is the mean vote if a coin answers each question from there on. On the way of the
        example from the root to a leaf, each question changes :math:`v`, and the change is
        credited to its feature. The votes of the features and the ``base``, which is the sum of
        :math:`v` over the roots, add up to the score. For trees with one question and two
        different votes this is the vote of stumps.
        """
        row = check_example(x, self.n_features)
        trees, worth = self.trees, self.worth
        votes = np.zeros(self.n_features)
        for root in trees.starts[:-1].tolist():
            n = root
            while trees.left[n]:
                j = trees.feature[n]
                left = trees.missing_left[n] if np.isnan(row[j]) else row[j] <= trees.threshold[n]
                below = root + trees.left[n] + (0 if left else 1)
                votes[j] += worth[below] - worth[n]
                n = below
        used = np.unique(trees.feature[trees.left > 0]).astype(np.int64)
        return Explanation(used, votes[used], self.total, self.base)

    @property
    def base(self) -> float:
        """The part of every score that no feature decides; see `explain`."""
        return float(self.worth[self.trees.starts[:-1]].sum())

    @cached_property
    def worth(self) -> FloatArray:
        """The value of each node, as `explain` defines it, in votes."""
        trees, worth = self.trees, self.votes[:, 0].copy()
        left = trees.left + np.repeat(trees.starts[:-1], trees.n_nodes)
        for n in np.flatnonzero(trees.left)[::-1].tolist():  # a node comes after the one above it
            worth[n] = (worth[left[n]] + worth[left[n] + 1]) / 2
        return round_to_unit(worth, self.total)


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
        worth, total = one.worth, one.total or 1.0
        roots = trees.starts[:-1][trees.n_nodes == 3]
        left = worth[roots + 1] - worth[roots]
        missing = np.where(trees.missing_left[roots] == 1, left, -left)
        shapes = {}
        for j in np.unique(trees.feature[roots]).tolist():
            asks_j = trees.feature[roots] == j
            cuts, where = np.unique(trees.threshold[roots][asks_j], return_inverse=True)
            steps = np.zeros(cuts.size + 1)
            np.add.at(steps, where + 1, -2.0 * left[asks_j])
            steps[0] = left[asks_j].sum()
            gone = float(missing[asks_j].sum())
            shapes[j] = ShapeFunction(j, cuts, np.cumsum(steps) / total, gone / total)
        return shapes
