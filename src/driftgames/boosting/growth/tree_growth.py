r"""Growing a tree: one vote in each leaf, questions chosen by sums of integer weights.

Let a node hold the weights :math:`W_-` and :math:`W_+` of the two classes, :math:`W = W_- + W_+`.
Both criteria choose the question of the largest sum over its two sides of

.. math:: \frac{(W_+ - W_-)^2}{W} \quad \text{(Gini)}, \qquad
          \frac{(W_+ - W_-)^2}{W + 2\sqrt{W_- W_+}} \quad \text{(Kearns and Mansour)}

The second is :math:`W - 2\sqrt{W_- W_+}`, written without a difference of near numbers: the
criterion of Kearns and Mansour (1999), for which a small edge in every node makes the error of
the tree fall.

The gain of a question is its sum less the value of the node itself. The leaf of the largest gain
is split next; of equal gains, the leaf that was made first. `tree_kernels.best_split` states the
ties between the questions of a leaf. A leaf votes for the class of more weight. A tied leaf votes
like the node above it, and a tied root votes -1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import TypeVar

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.data.bins import Array, BitArray, DenseBins
from driftgames.boosting.growth import tree_kernels as kernels
from driftgames.boosting.growth import tree_steps as steps
from driftgames.boosting.growth.leaf_tally import count_leaf_mistakes
from driftgames.boosting.growth.tally import Ranges
from driftgames.boosting.growth.training_set import MistakeCounts, RowSet
from driftgames.boosting.growth.tree_state import (
    ASKED,
    BLOCK,
    N_NODES,
    SUMMED,
    as_examples,
    make_growth,
    widened,
)
from driftgames.boosting.model.trees import Node, Tree, TreesOnBins
from driftgames.core.checks import check_between, check_integer
from driftgames.core.registry import choose
from driftgames.core.typing import IntArray

T = TypeVar("T")

CRITERIA = {"gini": kernels.GINI, "kearns-mansour": kernels.KEARNS_MANSOUR}
"""The criteria by name."""

_FEW_SUMS = 2_000_000  # the least number of bins listed by rows for which a second thread helps
_FEW_BINS = 30_000  # the least number of bins for which a second thread finds a question sooner
_LEAVES = 32  # for how many leaves arrays are made at first
_NO_MISTAKES = np.empty(0, dtype=np.uint32)
_NO_TABLES = np.empty((2, 0), dtype=np.int64)

Sides = list[tuple[tuple[list[Array], list[Array]], ...]]
"""For each share and class the rows that a tree gets right, and those that it gets wrong."""

FillRoot = Callable[[int, IntArray], None]
"""``fill_root(p, sums)`` writes the sums of the rows of share ``p``: a row for each class."""


@dataclass(frozen=True)
class TreeShape:
    """How large a tree may grow, and the criterion that chooses its questions."""

    max_depth: int | None = 1
    max_leaves: int | str | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    criterion: str = "gini"

    def __post_init__(self) -> None:
        if self.max_depth is not None:
            check_integer("max_depth", self.max_depth, least=1)
        elif self.max_leaves is None:
            raise ValueError("max_leaves must be given if max_depth is None")
        if isinstance(self.max_leaves, str):
            choose("max_leaves", self.max_leaves, {"auto": True})
        elif self.max_leaves is not None:
            check_integer("max_leaves", self.max_leaves, least=2)
        check_integer("min_samples_leaf", self.min_samples_leaf, least=1)
        share = check_between("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5)
        if share > 0 and self.min_samples_leaf > 1:
            raise ValueError(
                "min_samples_leaf must be 1 beside a positive min_weight_fraction_leaf; "
                f"got {self.min_samples_leaf} and {share}"
            )
        choose("criterion", self.criterion, CRITERIA)

    @property
    def is_stump(self) -> bool:
        """Whether the tree is the exhaustive stump, which has an engine of its own."""
        return self.max_depth == 1 and not self.has_least_size

    @property
    def has_least_size(self) -> bool:
        """Whether a leaf has a least size: a number of rows, or a share of the mass."""
        return self.min_samples_leaf > 1 or self.min_weight_fraction_leaf > 0

    def least_size(self, data: BinnedTrainingSet) -> int:
        """Return the least size of a leaf; ``data`` knows the mass of all examples."""
        share = Fraction(str(float(self.min_weight_fraction_leaf)))  # 0.07 of 100 is 7
        return math.ceil(share * sum(data.masses)) if share else self.min_samples_leaf

    def sizes(self, data: BinnedTrainingSet) -> IntArray:
        """Return what each row adds to the size of a leaf; nothing without a least size."""
        if self.min_weight_fraction_leaf > 0:
            return data.sample_weights
        return np.ones(data.n_rows if self.has_least_size else 0, dtype=np.int64)

    @property
    def most_leaves(self) -> int | None:
        """``max_leaves`` of a shape that `fitted_to` has returned."""
        assert not isinstance(self.max_leaves, str)
        return self.max_leaves

    def fitted_to(self, n_classes: int, n_examples: int) -> TreeShape:
        """Return the shape for these examples; "auto" allows two leaves more than classes.

        Raise ValueError for more leaves, or larger leaves, than the examples can fill.
        """
        if isinstance(self.max_leaves, str):
            return replace(self, max_leaves=min(2 + n_classes, n_examples)).fitted_to(
                n_classes, n_examples
            )
        if self.max_leaves is not None and self.max_leaves > n_examples:
            raise ValueError(
                f"max_leaves must be at most {n_examples}, the number of examples of positive "
                f"weight; got {self.max_leaves}"
            )
        if self.min_samples_leaf > 1 and 2 * self.min_samples_leaf > n_examples:
            raise ValueError(
                f"min_samples_leaf must be at most {n_examples // 2}, half of the examples of "
                f"positive weight; got {self.min_samples_leaf}"
            )
        return self


DEFAULTS = asdict(TreeShape())
"""The settings of the exhaustive stump, which every booster starts with."""


class TreeGrower(TreesOnBins, RowSet):
    """Grows one tree after another on the same examples.

    The bins of rows of weight zero are not read. Of the two sides of a question, the smaller is
    summed and the other is the difference. A leaf that cannot be split is not summed at all.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        self._data = data
        self.integer_weights = data.integer_weights
        self.positive = data.positive
        self.sample_weights = data.sample_weights
        self._counts_rows = shape.has_least_size
        self._examples = as_examples(data, shape.sizes(data))
        dense = isinstance(data.bins, DenseBins)
        self._steps = steps.take_dense_steps if dense else steps.take_sparse_steps
        # with few rows a second thread costs more than it saves
        self._n_shares = 1 if data.bins.codes.size < _FEW_SUMS else data.n_shares
        depth, leaves = (-1 if n is None else n for n in (shape.max_depth, shape.most_leaves))
        numbers = np.array([depth, leaves, shape.least_size(data), CRITERIA[shape.criterion]])
        room = min(_LEAVES, *(n for n in (leaves, 2 ** max(depth, 0)) if n > 1))
        n_sums = 3 if shape.has_least_size else 2
        self._growth = make_growth(data, numbers, n_sums, self._n_shares, room)
        self._weights = np.empty(0, dtype=np.int64)
        self._given = self._weights, _NO_TABLES, _NO_MISTAKES
        self._tree: Tree | None = None

    @property
    def ranges(self) -> Ranges:
        """The rows of each share: their class, where they begin and where they end."""
        data, n_shares = self._data, self._n_shares
        size = BLOCK if n_shares > 1 else max(data.n_rows, 1)
        classes = (0, data.split), (data.split, data.n_rows)
        return [
            [
                (c, begin, min(begin + size, end))
                for c, (first, end) in enumerate(classes)
                for begin in range(first + p * size, end, n_shares * size)
            ]
            for p in range(n_shares)
        ]

    @property
    def n_heavy(self) -> int:
        """How many rows had weight when the last tree grew."""
        return int(self._growth.bounds[:, 0, 1, 1].sum())

    @property
    def n_summed(self) -> int:
        """How many times a row was summed for the last tree."""
        return int(self._growth.parts[:, 3].sum())

    def best(
        self, weights: IntArray, mistakes: Array | None = None, fill_root: FillRoot | None = None
    ) -> tuple[int, int, Tree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree ``h`` for these weights.

        With ``mistakes``, row ``i`` of class ``c`` weighs ``weights[c, mistakes[i]]`` times its
        sample weight. With ``fill_root``, the rows are not summed for the root.
        """
        self._weigh(weights, mistakes, fill_root)
        step = steps.BEGIN
        while step != steps.DONE:
            if step == steps.FULL:
                self._growth = widened(self._growth)
                step = steps.CHOOSE
            step = self._take(step, alone=self._n_shares == 1)
        n_nodes = int(self._growth.at[N_NODES])
        totals = self._growth.totals[:n_nodes].tolist()
        norm = totals[0][0] + totals[0][1]
        nodes, value = [], 0
        for (feature, cut, missing_left, left), vote, gain, (lower, upper, _) in zip(
            self._growth.questions[:n_nodes].tolist(),
            self._growth.votes[:n_nodes].tolist(),
            self._growth.gains[:n_nodes].tolist(),
            totals,
            strict=True,
        ):
            if left:
                nodes.append(Node(feature, cut, missing_left, left, gain=gain / norm))
            else:
                nodes.append(Node(vote=vote))
                value += vote * (upper - lower)
        self._tree = tuple(nodes)
        return value, norm, self._tree

    def _weigh(self, weights: IntArray, mistakes: Array | None, fill_root: FillRoot | None) -> None:
        """Give the rows the weights that `best` describes."""
        self._tree = None
        self._given = weights, _NO_TABLES, _NO_MISTAKES
        if mistakes is not None:
            if not self._weights.size:
                self._weights = np.empty(self._data.n_rows, dtype=np.int64)
            self._given = self._weights, weights, mistakes
        self._growth.at[SUMMED] = fill_root is not None
        if fill_root is not None:
            sums = self._growth.sums
            self.run(lambda p: fill_root(p, sums[p, 0]))

    def count_mistakes(self) -> MistakeCounts:
        """Return a tally as long as it is cheaper than one number for each row."""
        return count_leaf_mistakes(self._data, self, counts_rows=self._counts_rows)

    def votes(self, tree: Tree) -> BitArray:
        """Return a tree's vote on every row: 1 for +1 and 0 for -1."""
        self._follow(tree)
        votes = np.empty(self._data.n_rows, dtype=np.uint8)
        self.run(lambda p: steps.write_votes(*self._leaves(p), votes))
        return votes

    def add_mistakes(self, tree: Tree, mistakes: Array, most: int) -> IntArray:
        """Add a tree's mistakes to those of each row, of which none has more than ``most``.

        Return the mass of each class that had each number of mistakes and made another one.
        """
        self._follow(tree)
        moved = np.empty((self._n_shares, 2, most + 1), dtype=np.int64)
        weights = self.sample_weights
        self.run(lambda p: steps.count_mistakes(*self._leaves(p), weights, mistakes, moved[p]))
        return np.asarray(moved.sum(axis=0))

    def sides(self, tree: Tree) -> Sides:
        """Divide the rows by whether a tree is right."""
        self._follow(tree)
        growth, answer = self._growth, []
        n_nodes = growth.at[N_NODES]
        nodes = zip(growth.questions[:n_nodes, 3].tolist(), growth.votes.tolist(), strict=False)
        leaves = [(n, vote > 0) for n, (left, vote) in enumerate(nodes) if not left]
        bounds = growth.bounds[:, :n_nodes].tolist()
        for lists, of_node in zip(growth.lists, bounds, strict=True):
            found: tuple[tuple[list[Array], list[Array]], ...] = ([], []), ([], [])
            for n, vote in leaves:
                for g, (begin, end) in enumerate(of_node[n]):
                    if begin < end:
                        found[g % 2][vote != g % 2].append(lists[g // 2, begin:end])
            answer.append(found)
        return answer

    def _leaves(self, p: int) -> tuple[Array, Array, Array, Array]:
        """Return questions and votes of all nodes, and the rows of a share in its leaves."""
        growth = self._growth
        n_nodes = growth.at[N_NODES]
        return growth.questions[:n_nodes], growth.votes[:n_nodes], growth.bounds[p], growth.lists[p]

    def _take(self, step: int, *, alone: bool = False) -> int:
        """Take a step and return the next one; if ``alone``, go on to the end."""
        here = self._examples, self._growth, *self._given
        if alone or step not in steps.SHARED:
            return self._steps(step, alone, 0, *here)

        def take(p: int) -> int:
            return self._steps(step, False, p, *here)

        if step == steps.FIND and self._data.n_codes < _FEW_BINS:
            *_, following = map(take, range(self._n_shares))
            return following
        return self.run(take)[0]

    def _follow(self, tree: Tree) -> None:
        """Send the rows to the leaves of a tree, if they are not there."""
        if tree is self._tree:
            return
        while self._growth.votes.size < len(tree):
            self._growth = widened(self._growth)
        growth = self._growth
        self._given = np.zeros(self._data.n_rows, dtype=np.int64), _NO_TABLES, _NO_MISTAKES
        growth.at[SUMMED] = 1  # nobody asks for sums
        self._take(steps.BEGIN)
        growth.at[N_NODES] = len(tree)
        for n, node in enumerate(tree):
            growth.questions[n] = node[:4]
            growth.votes[n] = node.vote
        for n, node in enumerate(tree):
            if node.left:
                growth.at[ASKED] = n
                self._take(steps.ASK)
                self._take(steps.FOLLOW)
        self._tree = tree

    def run(self, task: Callable[[int], T]) -> list[T]:
        """Run a task for every share."""
        return [task(0)] if self._n_shares == 1 else self._data.run(task)
