"""Voting trees as models, of two classes and of several: sums of votes, and what explains them.

Many rows go through the circuits of `tree_circuits`. Fewer than eight go from question to question,
each through a block of trees level by level: a row that has come to its leaf stays there until the
block is done. So every tree takes the same steps, and a processor has nothing to guess.

There the values that trees ask about are copied first. ``right = not x <= threshold`` sends a
missing value, NaN, to the right. A question that sends missing values to the left reads a copy in
which they are minus infinity. Leaves read zero. All votes are multiples of one power of two and
small enough for their sums to be exact, so that neither the way nor the order of the trees changes
a bit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils import assert_all_finite

from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.model.additive import check_example, has_infinity, score_rows
from driftgames.boosting.model.explanation import Explanation, ShapeFunction
from driftgames.boosting.model.stumps import exact_weights, round_to_unit
from driftgames.boosting.model.tree_circuits import (
    Circuits,
    make_circuits,
    score_dense,
    score_sparse,
)
from driftgames.boosting.model.trees import Trees
from driftgames.core.caching import cached_property
from driftgames.core.typing import FloatArray, IntArray

FEW = 8
"""From so many rows on circuits are faster."""

BLOCK = 64
"""The most trees that a row goes through side by side."""


class TreePaths(NamedTuple):
    """The nodes of all trees as the kernels read them, the shallowest trees first.

    ``slot`` is the copied value that a node reads, ``below`` its left node, or the node itself if
    it is a leaf. ``features`` are the features of the copied values. From value ``n_plain`` on,
    missing values are minus infinity. The last value is zero and has no feature.
    """

    roots: npt.NDArray[np.uint32]
    depths: IntArray
    slot: npt.NDArray[np.uint32]
    threshold: FloatArray
    below: npt.NDArray[np.uint32]
    votes: FloatArray
    """For each node one for two classes; for more, one for each of them in a row."""
    features: IntArray
    n_plain: int


def lay_out(trees: Trees, votes: FloatArray) -> TreePaths:
    """Return the nodes of trees with these votes, one or more for each node."""
    asks = trees.left > 0
    deepest = np.zeros(len(trees), dtype=np.int64)
    of_tree = np.repeat(np.arange(len(trees)), trees.n_nodes)
    np.maximum.at(deepest, of_tree, trees.depths)
    order = np.argsort(deepest, kind="stable")
    to_left = asks & (trees.missing_left == 1)
    plain = np.unique(trees.feature[asks & ~to_left])
    lowered = np.unique(trees.feature[to_left])
    slot = np.full(asks.size, plain.size + lowered.size)
    slot[asks & ~to_left] = np.searchsorted(plain, trees.feature[asks & ~to_left])
    slot[to_left] = plain.size + np.searchsorted(lowered, trees.feature[to_left])
    below = np.where(asks, trees.starts[:-1][of_tree] + trees.left, np.arange(asks.size))
    return TreePaths(
        trees.starts[:-1][order].astype(np.uint32),
        deepest[order],
        slot.astype(np.uint32),
        np.where(asks, trees.threshold, np.inf),
        below.astype(np.uint32),
        np.ascontiguousarray(votes, dtype=np.float64).reshape(-1),
        np.concatenate([plain, lowered]).astype(np.int64),
        plain.size,
    )


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
    def weights(self) -> tuple[FloatArray, bool]:
        """The weight of each tree, and whether all are 1."""
        return exact_weights(self.vote_weights, len(self.trees))

    @property
    def _width(self) -> tuple[int, ...]:
        """The shape of the sums on one row."""
        return ()

    @cached_property
    def votes(self) -> FloatArray:
        """The votes of each node, times the weight of its tree, in a column for each sum."""
        weights = np.repeat(self.weights[0], self.trees.n_nodes)
        votes = self.trees.vote.reshape(weights.size, *(self._width or (1,)))
        return np.asarray(weights[:, None] * votes)

    @cached_property
    def _paths(self) -> TreePaths:
        return lay_out(self.trees, self.votes)

    @cached_property
    def _circuits(self) -> Circuits:
        return make_circuits(self.trees, self.weights[0])

    def scores(
        self, X: Matrix, *, n_threads: int = 1, divisor: float | None = None, finite: bool = False
    ) -> npt.NDArray[Any]:
        """Return the sums of votes on each row: int64 if all weights are 1, else float64.

        With a ``divisor`` the sums are divided by it, and are float64. With ``finite`` an infinity
        in a contiguous array of floats raises ValueError.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        shape = (self.n_features, *(self._width or (1,)))

        def dense(rows: Array, out: FloatArray) -> None:
            flat = (rows if finite else rows[:0]).reshape(-1)
            if len(rows) < FEW:
                is_finite = _score_few(rows, self._paths, *_buffers(self._paths), out, flat)
            else:
                is_finite = score_dense(rows, self._circuits, out, flat)
            if not is_finite:
                assert_all_finite(X, allow_nan=True, input_name="X")

        def sparse(data: Array, indices: Array, pointers: Array, out: FloatArray) -> None:
            if len(out) < FEW:
                rows = np.zeros((len(out), self.n_features))
                rows[np.repeat(np.arange(len(out)), np.diff(pointers)), indices] = data
                rows.flags.writeable = False  # kernels are compiled for such rows
                dense(rows, out)
            else:
                score_sparse(data, indices, pointers, self.n_features, self._circuits, out)

        out = score_rows(X, shape, dense, sparse, n_threads=n_threads, divisor=divisor)
        out = out.reshape(len(out), *self._width)
        return out.astype(np.int64) if self.weights[1] and divisor is None else out


def _buffers(paths: TreePaths) -> tuple[FloatArray, Any]:
    """Return the copied values of a row, all zero, and its place in each tree of a block."""
    return np.zeros(paths.features.size + 1), np.empty(BLOCK, dtype=np.uint32)


@kernel
def _score_few(
    rows: Array, paths: TreePaths, values: FloatArray, node: Array, out: Array, flat: Array
) -> bool:
    """Add the votes on each row to ``out``, which is zero; return whether ``flat`` is finite.

    ``flat`` has all entries of the rows, or none.
    """
    slot, threshold, below, votes = paths.slot, paths.threshold, paths.below, paths.votes
    width = np.uint64(out.shape[1])
    for i in range(rows.shape[0]):
        for s in range(paths.features.size):
            x = np.float64(rows[i, paths.features[s]])
            values[s] = -np.inf if s >= paths.n_plain and x != x else x  # NaN differs
        for begin in range(0, paths.roots.size, BLOCK):
            size = min(BLOCK, paths.roots.size - begin)
            for t in range(size):
                node[t] = paths.roots[begin + t]
            for _ in range(paths.depths[begin + size - 1]):  # the deepest of the block
                for t in range(size):
                    n = np.uint64(node[t])
                    node[t] = below[n] + np.uint32(not values[np.uint64(slot[n])] <= threshold[n])
            for t in range(size):
                first = np.uint64(node[t]) * width
                for k in range(width):
                    out[i, k] += votes[first + k]
    return flat.size == 0 or not has_infinity(flat, 0, flat.size)


class TreeModel(TreeVotes):
    r"""The vote of :math:`T` trees, :math:`\sum_{t=1}^{T} \alpha_t h_t(x)`."""

    @property
    def total(self) -> float:
        """The sum of the vote weights; no score is larger."""
        return float(np.abs(self.weights[0]).sum())

    def explain(self, x: Matrix) -> Explanation:
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
