"""Shares of the examples: what a worker holds of them, and what it answers.

A share keeps its rows in bins and the state of a fit on them: numbers of mistakes, or votes. It
never chooses a hypothesis. It answers with sums over its rows, which are integers, so that the sum
over all shares does not depend on how the rows were cut. `combine` joins the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth import tree_steps as steps
from driftgames.boosting.growth.best_first import Question
from driftgames.boosting.growth.pair_training_set import PairCounts, TreePairs
from driftgames.boosting.growth.training_set import RowSet, Standing
from driftgames.boosting.growth.tree_growth import FillRoot, TreeGrower, TreeShape
from driftgames.boosting.growth.tree_state import ASKED, N_FREE, N_NODES, widened
from driftgames.boosting.model.trees import Tree
from driftgames.certificates.margins import Margins
from driftgames.core.typing import IntArray

Command = tuple[str, tuple[Any, ...]]
"""The name of a question, and its arguments."""

LASTING = frozenset({"count_mistakes", "add_votes", "move", "add"})
"""The questions after which a share stands elsewhere; the others belong to one round."""


class SummedBins(BinnedTrainingSet):
    """Binned rows whose answer is their sums, instead of the best stump for them alone."""

    def best_stump(self, sums: IntArray) -> Any:
        """Return the sums of all bins; behind them come the two totals."""
        return np.append(list_all_bins(self, sums[None, :-2], lambda: sums[-2:-1]), sums[-2:])


class SumGrower(TreeGrower):
    """Divides the rows as it is asked, and answers with sums in all bins.

    The rows of an answer are class 0, class 1 and, if leaves need it, their size.
    """

    def __init__(self, data: BinnedTrainingSet, shape: TreeShape) -> None:
        super().__init__(data, shape)
        self._nodes: dict[int, int] = {}  # the number of each node by its place

    def best(
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
            growth, node = self._growth, self._nodes[place]
            growth.fresh[:] = left, left + 1  # both need sums
            growth.at[N_FREE] -= 1
            growth.slots[left : left + 2] = growth.free[growth.at[N_FREE]], growth.slots[node]
            self._take(steps.DIVIDE)
        return [self._sums(2 * question.node) for question in questions]

    def _ask(self, place: int, asked: Sequence[int]) -> int:
        """Ask the question of a node; return the number of its left side."""
        left = int(self._growth.at[N_NODES])
        if left + 2 > self._growth.votes.size or self._growth.at[N_FREE] == 0:
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
            self._data, growth.sums[0, growth.slots[node]], partial(self._totals, node)
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

        The answer has parts of blocks of labels, with every bin.
        """
        sums, totals = self.begin(weights)
        return list_all_bins(self._data, sums, lambda: totals)

    def sum_left(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        return [
            list_all_bins(self._data, sums, partial(self.totals, 2 * asked.node))
            for asked, (sums, _) in zip(questions, self.divide(questions), strict=True)
        ]


class Share:
    """Some of the examples, in bins, and where they stand in a fit.

    Stumps have no ``shape``. ``labels`` number the classes if there are more than two.
    """

    def __init__(
        self,
        data: BinnedTrainingSet,
        shape: TreeShape | None,
        labels: IntArray | None = None,
        n_classes: int = 2,
    ) -> None:
        self._set: RowSet
        self._divide: Callable[[Sequence[Question]], list[IntArray]] | None = None  # for trees
        if labels is not None:
            self._set = pairs = PairShare(data, labels, n_classes, shape or TreeShape())
            self._divide = pairs.sum_left
        elif shape is None:
            self._set = SummedBins(**{f: getattr(data, f) for f in data.__dataclass_fields__})
        else:
            self._set = grower = SumGrower(data, shape)
            self._divide = grower.divide
        self._counts = data.counts
        self._state: Any = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question: a method of `MistakeCounts`, `RowVotes` or trees."""
        if name == "counts":
            return self._counts
        if name == "masses":
            return np.array(self._set.masses)
        if name == "divide" and self._divide is not None:
            return self._divide(*arguments)
        if name in ("count_mistakes", "add_votes"):
            answer = self._state = getattr(self._set, name)()
        else:
            answer = getattr(self._state, name)(*arguments)
        if name == "add_votes":
            return answer.masses()
        if name in ("count_mistakes", "move"):
            self._state = answer
            return *answer.masses(), answer.wrong if isinstance(answer, PairCounts) else 0
        return answer


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


def combine(name: str, answers: Sequence[Any]) -> Any:
    """Return the answer of all examples to a question, from those of their shares."""
    return answers[0] if len(answers) == 1 else _JOIN[name](answers)


def _add(answers: Sequence[Any]) -> Any:
    return sum(answers[1:], start=answers[0])


def _add_each(answers: Sequence[Any]) -> Any:
    """Add up tuples or lists, member by member."""
    return [_add(members) for members in zip(*answers, strict=True)]


def _join_masses(answers: Sequence[tuple[int, IntArray, int]]) -> tuple[int, IntArray, int]:
    first = min(begin for begin, _, _ in answers)
    end = max(begin + masses.shape[1] for begin, masses, _ in answers)
    joined = np.zeros((2, end - first), dtype=np.int64)
    for begin, masses, _ in answers:
        joined[:, begin - first : begin - first + masses.shape[1]] += masses
    return first, joined, sum(wrong for _, _, wrong in answers)


def _join_standings(answers: Sequence[Standing]) -> Standing:
    return Standing(min(each.lowest for each in answers), sum(each.wrong for each in answers))


def _join_margins(answers: Sequence[Margins]) -> Margins:
    return Margins.of_examples(*map(np.concatenate, zip(*answers, strict=True)))


_JOIN: dict[str, Callable[[Sequence[Any]], Any]] = {
    "counts": _add,
    "masses": _add,
    "count_mistakes": _join_masses,
    "best": _add,
    "divide": _add_each,
    "move": _join_masses,
    "add_votes": _add_each,
    "heaviest": max,
    "measure": _add,
    "value": _add_each,
    "add": _join_standings,
    "margins": _join_margins,
}
