"""Trees: the weak hypotheses of a tree booster, kept as arrays of nodes in the order chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.model.stumps import count_questions, frozen_column
from driftgames.core.caching import cached_property
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.tables import counted

VoteArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Trees(Displayed):
    r"""Trees :math:`h_1, \dots, h_n` of questions, each with a vote of -1 or +1 in every leaf.

    An example starts at the root, which is the first node of its tree. At a question it goes to
    node ``left`` of the tree if :math:`x_j \le \theta`, and to node ``left + 1`` if
    :math:`x_j > \theta`. A missing value goes where ``missing_left`` says. A threshold of
    infinity asks whether the value is missing.

    Parameters
    ----------
    n_nodes : array of int64, one for each tree
        How many of the nodes belong to each tree. The other arrays have one entry for each node.
    feature : array of int32
        The column asked about; -1 in a leaf.
    threshold : array of float64
        Values at most this go left; never NaN.
    missing_left : array of int8
        1 if missing values go left, else 0.
    left : array of int32
        The number of the left node in the tree, counted from its root; 0 in a leaf.
    vote : array of int8
        +1 or -1 in a leaf, and 0 in a question. With more than two classes, an array of one column
        for each class.
    gain : array of float64
        What a question gained by the criterion, relative to the weight of all examples.

    Examples
    --------
    >>> tree = Trees(
    ...     n_nodes=[5],
    ...     feature=[0, -1, 1, -1, -1],
    ...     threshold=[1.5, 0.0, 4.0, 0.0, 0.0],
    ...     missing_left=[1, 0, 0, 0, 0],
    ...     left=[1, 0, 3, 0, 0],
    ...     vote=[0, -1, 0, 1, -1],
    ...     gain=[0.4, 0.0, 0.2, 0.0, 0.0],
    ... )
    >>> tree.votes([[1.0, 0.0], [2.0, 3.0], [2.0, 5.0], [float("nan"), 3.0]])
    array([[-1],
           [ 1],
           [-1],
           [-1]], dtype=int8)
    """

    n_nodes: IntArray
    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: VoteArray
    left: npt.NDArray[np.int32]
    vote: VoteArray
    gain: FloatArray

    def __post_init__(self) -> None:
        for name, dtype in DTYPES.items():
            column = frozen_column(name, getattr(self, name), dtype)
            object.__setattr__(self, name, column)
        sizes = {name: getattr(self, name).shape for name in DTYPES if name != "n_nodes"}
        total = int(self.n_nodes.sum())
        of_nodes = {size for name, size in sizes.items() if name != "vote"} | {sizes["vote"][:1]}
        if self.n_nodes.ndim != 1 or of_nodes != {(total,)} or self.vote.ndim > 2:
            raise ValueError(f"the arrays of trees must have {total} entries each; got {sizes}")
        if np.isnan(self.threshold).any():
            raise ValueError("the threshold of a question must not be NaN")
        self._check_nodes()

    def _check_nodes(self) -> None:
        """Raise ValueError unless every node but the root of a tree is below one question."""
        n_trees, left = self.n_nodes.size, self.left.astype(np.int64)
        trees = np.repeat(np.arange(n_trees), self.n_nodes)
        begin, asks = self.starts[trees], left > 0

        def of_trees(nodes: BoolArray) -> IntArray:
            return np.bincount(trees[nodes], minlength=n_trees)

        # the left nodes of the questions of a tree of n nodes are 1, 3, ..., n - 2 in some order
        fits = asks & (left % 2 == 1) & (left < self.n_nodes[trees] - 1)
        fits &= left > np.arange(trees.size) - begin
        fits[fits] = np.bincount(begin[fits] + left[fits])[begin[fits] + left[fits]] == 1
        broken = of_trees((left != 0) & ~fits) + (self.n_nodes != 2 * of_trees(asks) + 1)
        votes = np.where(asks, 0, 1) != np.abs(self.vote).T
        voting = of_trees(np.asarray(np.atleast_2d(votes).any(axis=0)))
        asking = of_trees(((self.feature >= 0) != asks) | (self.feature < -1))
        for t in np.flatnonzero(broken + voting + asking)[:1].tolist():
            nodes = slice(self.starts[t], self.starts[t + 1])
            if broken[t]:
                raise ValueError(
                    f"left must join the nodes of tree {t} to a tree; got {left[nodes].tolist()}"
                )
            if voting[t]:
                raise ValueError(
                    f"vote must be +1 or -1 in the leaves of tree {t} and 0 in its questions; "
                    f"got {self.vote[nodes].tolist()}"
                )
            raise ValueError(
                f"feature must be >= 0 in the questions of tree {t} and -1 in its leaves; "
                f"got {self.feature[nodes].tolist()}"
            )

    def _headline(self) -> str:
        return f"{counted(len(self), 'tree')}, {int(self._leaves().sum()):,} leaves in all"

    def _leaves(self) -> IntArray:
        return (self.n_nodes + 1) // 2

    def _columns(self) -> Fields:
        depths = [int(self.depths[begin:end].max()) for begin, end in self.ends()]
        return {"tree": np.arange(len(self)), "leaves": self._leaves(), "depth": depths}

    def _sketch(self) -> Sketch:
        return count_questions(self.feature[self.left > 0])

    @classmethod
    def none(cls) -> Trees:
        """Return the trees of a booster that has none."""
        return cls(*(np.empty(0, dtype) for dtype in DTYPES.values()))

    @cached_property
    def starts(self) -> IntArray:
        """Where the nodes of each tree begin, and one end."""
        return np.concatenate([[0], np.cumsum(self.n_nodes)])

    @cached_property
    def depths(self) -> IntArray:
        """How many questions are above each node."""
        depths = np.zeros(self.feature.size, dtype=np.int64)
        left = np.repeat(self.starts[:-1], self.n_nodes) + self.left
        level, depth = self.starts[:-1], 0
        while level.size:
            depths[level] = depth
            asking = level[self.left[level] > 0]
            level, depth = np.concatenate([left[asking], left[asking] + 1]), depth + 1
        return depths

    def __len__(self) -> int:
        return int(self.n_nodes.size)

    def __getitem__(self, rounds: slice) -> Trees:
        """Return the trees of a slice of consecutive rounds, counted from 0."""
        first, last, step = rounds.indices(len(self))
        if step != 1:
            raise ValueError(f"trees are sliced with a step of 1; got {step}")
        last = max(first, last)
        begin, end = self.starts[first], self.starts[last]
        nodes = (getattr(self, name)[begin:end] for name in DTYPES if name != "n_nodes")
        return Trees(self.n_nodes[first:last], *nodes)

    def take(self, order: IntArray) -> Trees:
        """Return the trees in another order."""
        sizes = self.n_nodes[order]
        ends = np.cumsum(sizes)
        at = np.arange(int(sizes.sum())) + np.repeat(self.starts[order] - (ends - sizes), sizes)
        nodes = (getattr(self, name)[at] for name in DTYPES if name != "n_nodes")
        return Trees(sizes, *nodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trees):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in DTYPES)

    __hash__ = None  # type: ignore[assignment]

    def votes(self, X: Matrix) -> VoteArray:
        """Return the vote of every tree on every row, of shape ``(n_rows, n_trees)``.

        With more than two classes there is a third axis for the classes.

        The plain definition, for tests and small data. ``X`` is an array or a SciPy sparse matrix.
        """
        return np.asarray(self.vote[self.leaves(X) + self.starts[:-1]])

    def leaves(self, X: Matrix) -> IntArray:
        """Return the leaf of every row in every tree, as its number in the tree."""
        rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        answer = np.empty((rows.shape[0], len(self)), dtype=np.int64)
        for t, (begin, _) in enumerate(self.ends()):
            node = np.full(rows.shape[0], begin)
            while (asks := self.left[node] > 0).any():
                x = rows[asks, self.feature[node[asks]]]
                left = np.where(
                    np.isnan(x), self.missing_left[node[asks]] == 1, x <= self.threshold[node[asks]]
                )
                node[asks] = begin + self.left[node[asks]] + np.where(left, 0, 1)
            answer[:, t] = node - begin
        return answer

    def ends(self) -> list[tuple[int, int]]:
        """Return where the nodes of each tree begin and end."""
        starts = self.starts.tolist()
        return list(pairwise(starts))

    def share_gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share the gain of each tree among the columns of its questions, by their own gains."""
        shares, asks = np.zeros(n_columns), self.left > 0
        of_tree = np.repeat(np.arange(len(self)), self.n_nodes)
        sums = np.bincount(of_tree, weights=self.gain, minlength=len(self))
        parts = (self.gain / np.where(sums > 0, sums, 1.0)[of_tree])[asks]
        np.add.at(shares, self.feature[asks], gains[of_tree[asks]] * parts)
        return shares

    def gains_of(self, owner: IntArray) -> FloatArray:
        """Return the gains of all questions about each feature, the ``owner`` of some columns."""
        gains, asks = np.zeros(int(owner.max()) + 1), self.left > 0
        np.add.at(gains, owner[self.feature[asks]], self.gain[asks])
        return gains

    def gains_below(self, owner: IntArray, features: IntArray) -> FloatArray:
        """Return for each two features the gains of questions about one right below the other."""
        slot = np.full(int(owner.max()) + 1, features.size)
        slot[features] = np.arange(features.size)
        above = np.flatnonzero(self.left > 0)
        below = np.repeat(self.starts[:-1], self.n_nodes)[above] + self.left[above]
        gains = np.zeros((features.size + 1, features.size + 1))
        for side in (below, below + 1):
            asks = self.left[side] > 0
            one, other = (slot[owner[self.feature[node[asks]]]] for node in (above, side))
            np.add.at(gains, (one, other), self.gain[side[asks]])
        gains = (gains + gains.T)[:-1, :-1]
        np.fill_diagonal(gains, 0.0)
        return gains


DTYPES = {
    "n_nodes": np.int64,
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": np.int8,
    "left": np.int32,
    "vote": np.int8,
    "gain": np.float64,
}
"""The arrays of `Trees` and their types."""

NO_TREES = Trees.none()
"""The trees of a booster of stumps."""
