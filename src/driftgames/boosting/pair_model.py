"""Trees that vote for each of several classes, as a model: fast scores, and explanations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from driftgames._kernels.jit import kernel
from driftgames.boosting.additive import ShapeFunction
from driftgames.boosting.bins import Array
from driftgames.boosting.tree_model import TreeModel, find_leaf
from driftgames.boosting.trees import Trees
from driftgames.core.checks import as_read_only, check_integer
from driftgames.core.threads import run_in_threads
from driftgames.core.typing import FloatArray

_CHUNK = 4096  # rows per task; the same for any number of threads
_MOST_VALUES = 2**22  # of the rows of a task: sparse rows are written out


@dataclass(frozen=True, eq=False)
class PairModel:
    r"""The votes of :math:`T` trees for each class, :math:`\sum_t \alpha_t h_t(x, l)`.

    For one class they are the votes of a `TreeModel`. All classes share the questions: an example
    goes through each tree once.
    """

    trees: Trees
    vote_weights: npt.ArrayLike
    n_features: int
    n_classes: int

    def of_class(self, label: int) -> TreeModel:
        """Return the model of the votes for one class, given by its number."""
        votes = self.trees.vote.reshape(-1, self.n_classes)[:, label]
        return TreeModel(replace(self.trees, vote=votes), self.vote_weights, self.n_features)

    @cached_property
    def _nodes(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """The nodes of all trees, as `_add_row` takes them; the votes have a column per class."""
        first = self.of_class(0)
        *nodes, _ = first._nodes
        weights = np.repeat(first._weights[0], self.trees.n_nodes)
        votes = weights[:, None] * self.trees.vote.reshape(-1, self.n_classes)
        return (*nodes, votes)  # type: ignore[return-value]

    def scores(self, X: Any, *, n_threads: int = 1) -> FloatArray:
        """Return the sum of votes on each row, one column for each class.

        ``X`` is a dense array or a SciPy sparse matrix, which stays sparse. NaN is a missing
        value. The result is the same for any number of threads.
        """
        rows = X.tocsr() if issparse(X) else np.asarray(X)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X must have shape (n_rows, {self.n_features}); got {tuple(rows.shape)}"
            )
        check_integer("n_threads", n_threads, least=1)
        out = np.zeros((rows.shape[0], self.n_classes))
        nodes = self._nodes
        size = min(max(_MOST_VALUES // self.n_features, 1), _CHUNK)

        def add(start: int) -> None:
            some: Any = rows[start : start + size]
            dense = some.toarray() if issparse(some) else some
            ready = np.ascontiguousarray(dense, dtype=np.float64)
            _add_votes(as_read_only(ready), *nodes, out[start : start + size])

        run_in_threads(add, range(0, rows.shape[0], size), n_threads)
        return out

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


@kernel
def _add_votes(
    rows: Array,
    starts: Array,
    feature: Array,
    threshold: Array,
    missing_left: Array,
    left: Array,
    votes: Array,
    out: Array,
) -> None:
    """Add the votes of all trees for each class to ``out``; sums are exact in any order."""
    for i in range(rows.shape[0]):
        row, mine = rows[i], out[i]
        for t in range(starts.size):
            n = find_leaf(row, starts[t], feature, threshold, missing_left, left)
            for label in range(mine.size):
                mine[label] += votes[n, label]
