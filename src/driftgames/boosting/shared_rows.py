"""The rows of a share while trees grow: they are divided, and their sums are the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from driftgames.boosting import tree_steps as steps
from driftgames.boosting.best_first import Question
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array
from driftgames.boosting.pair_training_set import TreePairs
from driftgames.boosting.tree_growth import FillRoot, Tree, TreeGrower, TreeShape
from driftgames.boosting.tree_state import ASKED, N_NODES, widened
from driftgames.core.typing import IntArray


class SumGrower(TreeGrower):
    """Divides the rows as it is asked, and answers with sums in all bins.

    The rows of an answer are class 0, class 1 and, if leaves need it, their size.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        super().__init__(data, shape)
        self._nodes: dict[int, int] = {}  # the number of each node by its place

    def grow(
        self, weights: IntArray, mistakes: Array | None = None, fill_root: FillRoot | None = None
    ) -> Any:
        """Begin a tree; return the sums of its root."""
        self._weigh(weights, mistakes, fill_root)
        self._take(steps.BEGIN)
        self._take(steps.PLANT)
        self._nodes = {1: 0}
        return self._sums(1)

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        for place, *asked in questions:
            left = self._ask(place, asked)
            self._growth.fresh[:] = left, left + 1  # both need sums
            self._take(steps.DIVIDE)
        return [self._sums(2 * question.node) for question in questions]

    def _ask(self, place: int, asked: Sequence[int]) -> int:
        """Ask the question of a node; return the number of its left side."""
        left = int(self._growth.at[N_NODES])
        if left + 2 > self._growth.votes.size or self._growth.n_free[0] == 0:
            self._growth = widened(self._growth)
        growth, node = self._growth, self._nodes[place]
        growth.questions[node] = *asked, left
        growth.questions[left : left + 2, 3] = 0
        growth.at[[N_NODES, ASKED]] = left + 2, node
        self._nodes |= {2 * place: left, 2 * place + 1: left + 1}
        self._take(steps.ASK)
        return left

    def _follow(self, tree: Tree) -> None:
        """Divide the rows further, to the leaves of the tree that has begun."""
        if self._tree is not None or not self._nodes:
            super()._follow(tree)
            return
        places = {0: 1}
        for n, node in enumerate(tree):
            place = places[n]
            mine = self._nodes[place]
            if node.left:
                places |= {node.left: 2 * place, node.left + 1: 2 * place + 1}
                if not self._growth.questions[mine, 3]:
                    self._ask(place, node[:3])
                    self._take(steps.FOLLOW)
            else:
                self._growth.votes[mine] = node.vote
        self._tree = tree

    def _sums(self, place: int) -> IntArray:
        growth, node = self._growth, self._nodes[place]
        return list_all_bins(
            self._data, growth.sums[0, growth.slots[0, node]], partial(self._totals, node)
        )

    def _totals(self, node: int) -> IntArray:
        growth, (weights, *_), sizes = self._growth, self._given, self._examples.sizes
        rows = [growth.lists[0, 0, begin:end] for begin, end in growth.bounds[0, node, :2]]
        totals = [weights[mine].sum() for mine in rows]
        if sizes.size:
            totals.append(sizes[np.concatenate(rows)].sum())
        return np.array(totals)


class PairShare(TreePairs):
    """The rows of a share while trees grow, as pairs of an example and a label."""

    def best(self, weights: IntArray) -> Any:
        """Begin a tree for these weights; return the sums of all rows.

        The answer is what `PairRows` add up: parts of blocks of labels, with every bin.
        """
        sums, totals = self._rows.begin(weights)
        return list_all_bins(self._data, sums, lambda: totals)

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        answers = zip(questions, self._rows.divide(questions), strict=True)
        totals = self._rows.totals
        return [
            list_all_bins(self._data, sums, partial(totals, 2 * asked.node))
            for asked, (sums, _) in answers
        ]


def list_all_bins(
    data: BinnedTrainingSet, sums: IntArray, total: Callable[[], IntArray]
) -> IntArray:
    """Return sums in listed bins with those of the implicit bins, which other shares may list.

    Bins stand along axis 1. ``total`` returns the sums over all rows: an implicit bin has what the
    others leave.
    """
    if data.n_codes == data.offsets[-1]:
        return sums.copy()
    implicit = data.offsets[:-1] + data.implicit
    full = np.zeros((len(sums), data.offsets[-1], *sums.shape[2:]), dtype=np.int64)
    listed = np.ones(full.shape[1], dtype=bool)
    listed[implicit] = False
    for part, mine, rest in zip(full, sums, total(), strict=True):
        part[listed] = mine
        part[implicit] = rest - np.add.reduceat(part, data.offsets[:-1])
    return full
