"""Voting trees as models, of two classes and of several: fast scores, and explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import inner_kernel, kernel, scalar
from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.additive import Explanation, ShapeFunction
from driftgames.boosting.model.row_scores import check_example, score_rows
from driftgames.boosting.model.stumps import exact_weights, round_to_unit
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray


class Nodes(NamedTuple):
    """The nodes of all trees, numbered through; ``starts`` are their roots."""

    starts: Array
    feature: Array
    threshold: Array
    missing_left: Array
    left: Array
    votes: Array
    """For each node one for two classes; for more, one for each of them in a row."""


@dataclass(frozen=True, eq=False)
class TreeVotes:
    """Trees whose votes are added up: one sum on each row, or one for each class.

    Notes
    -----
    Vote weights that are not all 1 are rounded as in `AdditiveModel`: every sum of votes is exact
    in float64, in any order.
    """

    trees: Trees
    vote_weights: npt.ArrayLike
    n_features: int

    @cached_property
    def _weights(self) -> tuple[FloatArray, bool]:
        return exact_weights(self.vote_weights, len(self.trees))

    @property
    def _width(self) -> tuple[int, ...]:
        """The shape of the sums on one row."""
        return ()

    @cached_property
    def _nodes(self) -> Nodes:
        trees = self.trees
        begins = np.repeat(trees.starts[:-1], trees.n_nodes)
        left = np.where(trees.left > 0, trees.left + begins, 0).astype(np.int32)
        weights = np.repeat(self._weights[0], trees.n_nodes)
        votes = weights[:, None] * trees.vote.reshape(weights.size, *(self._width or (1,)))
        questions = trees.feature, trees.threshold, trees.missing_left
        return Nodes(trees.starts[:-1], *questions, left, votes.reshape(-1))

    def scores(
        self, X: Any, *, n_threads: int = 1, divisor: float | None = None
    ) -> npt.NDArray[Any]:
        """Return the sums of votes on each row: int64 if all weights are 1, else float64.

        With a ``divisor`` the sums are divided by it, and are float64.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        nodes, shape = self._nodes, (self.n_features, *(self._width or (1,)))

        def dense(rows: Array, out: FloatArray) -> None:
            _score_dense(rows, nodes, out)

        def sparse(data: Array, indices: Array, pointers: Array, out: FloatArray) -> None:
            _score_sparse(data, indices, pointers, np.zeros(self.n_features), nodes, out)

        out = score_rows(X, shape, dense, sparse, n_threads=n_threads, divisor=divisor)
        out = out.reshape(len(out), *self._width)
        return out.astype(np.int64) if self._weights[1] and divisor is None else out


class TreeModel(TreeVotes):
    r"""The vote of :math:`T` trees, :math:`\sum_{t=1}^{T} \alpha_t h_t(x)`."""

    @property
    def total(self) -> float:
        """The sum of the vote weights; no score is larger."""
        return float(np.abs(self._weights[0]).sum())

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
        starts, feature, threshold, missing_left, left, _ = self._nodes
        worth = self._worth
        votes, base = np.zeros(self.n_features), 0.0
        for n in starts.tolist():
            base += worth[n]
            while left[n]:
                value = row[feature[n]]
                goes_left = missing_left[n] if np.isnan(value) else value <= threshold[n]
                below = left[n] if goes_left else left[n] + 1
                votes[feature[n]] += worth[below] - worth[n]
                n = below
        used = np.unique(feature[left > 0]).astype(np.int64)
        return Explanation(used, votes[used], self.total, float(base))

    @cached_property
    def _worth(self) -> FloatArray:
        """The value of each node, as `explain` defines it, in votes."""
        *_, left, votes = self._nodes
        worth = votes.copy()
        for n in range(left.size - 1, -1, -1):  # a node comes after the one above it
            if left[n]:
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


@scalar
def _find_leaf(row: Array, root: int, nodes: Nodes) -> Any:
    """Return the leaf that a row comes to in the tree of this root."""
    n = np.uint64(root)
    below = nodes.left[n]
    while below > 0:
        x = row[np.uint64(nodes.feature[n])]
        right = x > nodes.threshold[n] if x == x else nodes.missing_left[n] == 0  # NaN differs
        n = np.uint64(below) + np.uint64(right)
        below = nodes.left[n]
    return n


@inner_kernel
def _add_votes(row: Array, nodes: Nodes, out: Array) -> None:
    """Add the votes of all trees on one row to ``out``; the sums are exact in any order."""
    starts, votes = nodes.starts, nodes.votes
    if out.size == 1:  # one sum stays in a register
        total = 0.0
        for t in range(starts.size):
            total += votes[_find_leaf(row, starts[t], nodes)]
        out[0] = total
        return
    for t in range(starts.size):
        first = _find_leaf(row, starts[t], nodes) * np.uint64(out.size)
        for k in range(np.uint64(out.size)):
            out[k] += votes[first + k]


@kernel
def _score_dense(rows: Array, nodes: Nodes, out: Array) -> None:
    """Add the scores of every row to ``out``."""
    for i in range(out.shape[0]):
        _add_votes(rows[i], nodes, out[i])


@kernel
def _score_sparse(
    data: Array, indices: Array, pointers: Array, row: Array, nodes: Nodes, out: Array
) -> None:
    """Do the same for the rows of a CSR matrix; ``row`` is a scratch buffer of zeros."""
    for i in range(out.shape[0]):
        for e in range(pointers[i], pointers[i + 1]):
            row[indices[e]] = data[e]
        _add_votes(row, nodes, out[i])
        for e in range(pointers[i], pointers[i + 1]):
            row[indices[e]] = 0.0
