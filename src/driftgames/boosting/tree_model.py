"""Voting trees as a model: fast scores, and what each feature did to one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from driftgames._kernels.jit import inner_kernel, kernel, scalar
from driftgames.boosting.additive import Explanation
from driftgames.boosting.bins import Array
from driftgames.boosting.stumps import exact_weights, round_to_unit
from driftgames.boosting.trees import Trees
from driftgames.core.checks import as_read_only, check_integer
from driftgames.core.threads import run_in_threads
from driftgames.core.typing import FloatArray

_CHUNK = 4096  # rows per task; the same for any number of threads


@dataclass(frozen=True, eq=False)
class TreeModel:
    r"""The vote of :math:`T` trees, :math:`\sum_{t=1}^{T} \alpha_t h_t(x)`.

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
    def total(self) -> float:
        """The sum of the vote weights; no score is larger."""
        return float(np.abs(self._weights[0]).sum())

    @cached_property
    def _nodes(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """The nodes of all trees, numbered through, as `_score_row` takes them."""
        trees = self.trees
        begins = np.repeat(trees.starts[:-1], trees.n_nodes)
        left = np.where(trees.left > 0, trees.left + begins, 0).astype(np.int32)
        votes = np.repeat(self._weights[0], trees.n_nodes) * trees.vote
        return (
            trees.starts[:-1],
            trees.feature,
            trees.threshold,
            trees.missing_left,
            left,
            votes,
        )

    def scores(
        self, X: Any, *, n_threads: int = 1, divisor: float | None = None
    ) -> npt.NDArray[Any]:
        """Return the sum of votes on each row: int64 if all weights are 1, else float64.

        With a ``divisor`` the sums are divided by it, and are float64.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        rows = X if issparse(X) else np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (n_rows, {self.n_features}); got {tuple(rows.shape)}"
            )
        check_integer("n_threads", n_threads, least=1)
        score = self._sparse_scorer(rows) if issparse(X) else self._dense_scorer(rows)
        out = np.empty(rows.shape[0])
        starts = range(0, rows.shape[0], _CHUNK)

        def add(start: int) -> None:
            part = out[start : start + _CHUNK]
            score(start, part)
            if divisor is not None:
                part /= divisor

        run_in_threads(add, starts, n_threads)
        return out.astype(np.int64) if self._weights[1] and divisor is None else out

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
        row = np.asarray(x.toarray() if issparse(x) else x, dtype=np.float64)
        row = row[0] if row.ndim == 2 and row.shape[0] == 1 else row
        if row.shape != (self.n_features,):
            raise ValueError(
                f"x must be one example of {self.n_features} features; got shape {row.shape}"
            )
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

    def _dense_scorer(self, rows: Array) -> Callable[[int, FloatArray], None]:
        ready = rows.dtype in (np.float32, np.float64)

        def score(start: int, out: FloatArray) -> None:
            some = rows[start : start + out.size]
            _score_dense(
                as_read_only(some if ready else some.astype(np.float64)), *self._nodes, out
            )

        return score

    def _sparse_scorer(self, matrix: Any) -> Callable[[int, FloatArray], None]:
        rows = matrix.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()

        def score(start: int, out: FloatArray) -> None:
            pointers = rows.indptr[start : start + out.size + 1].astype(np.int64)
            first, last = pointers[0], pointers[-1]
            _score_sparse(
                rows.data[first:last].astype(np.float64, copy=False),
                rows.indices[first:last].astype(np.int32, copy=False),
                pointers - first,
                np.zeros(self.n_features),
                *self._nodes,
                out,
            )

        return score


@scalar
def find_leaf(
    row: Array, root: int, feature: Array, threshold: Array, missing_left: Array, left: Array
) -> Any:
    """Return the leaf that a row comes to in the tree of this root."""
    n = np.uint64(root)
    below = left[n]
    while below > 0:
        x = row[np.uint64(feature[n])]
        right = x > threshold[n] if x == x else missing_left[n] == 0  # NaN differs
        n = np.uint64(below) + np.uint64(right)
        below = left[n]
    return n


@inner_kernel
def _score_row(
    row: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    votes: Array,
) -> float:
    """Return the sum of the votes of all trees on one row; the sum is exact in any order."""
    score = 0.0
    for t in range(starts.size):
        score += votes[find_leaf(row, starts[t], feature, threshold, missing_left, left)]
    return score


@kernel
def _score_dense(
    rows: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    votes: Array,
    out: Array,
) -> None:
    """Write the score of every row."""
    for i in range(out.size):
        out[i] = _score_row(rows[i], starts, feature, threshold, missing_left, left, votes)


@kernel
def _score_sparse(
    data: Array,
    indices: Array,
    pointers: Array,
    row: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    votes: Array,
    out: Array,
) -> None:
    """Do the same for the rows of a CSR matrix; ``row`` is a scratch buffer of zeros."""
    for i in range(out.size):
        for e in range(pointers[i], pointers[i + 1]):
            row[indices[e]] = data[e]
        out[i] = _score_row(row, starts, feature, threshold, missing_left, left, votes)
        for e in range(pointers[i], pointers[i + 1]):
            row[indices[e]] = 0.0
