"""Shares of the examples: what a worker holds of them, and what it answers.

A share keeps its rows in bins and the numbers of mistakes of a fit on them. It never chooses a
hypothesis. It answers with sums over its rows, which are integers, so that the sum over all shares
does not depend on how the rows were cut. `combine` joins the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.engine import rounds
from driftgames.boosting.engine.binned_trees import BinnedTree
from driftgames.boosting.engine.game import TreeLearner
from driftgames.boosting.engine.mistake_engine import Engine, MistakeEngine
from driftgames.boosting.engine.shape import TreeShape
from driftgames.core.typing import IntArray

Command = tuple[str, tuple[Any, ...]]
"""The name of a question, and its arguments."""

LASTING = frozenset({"count_mistakes", "move"})
"""Commands that change a share's state; they are replayed after a loss."""


class Question(NamedTuple):
    """A question that divides the rows at ``place`` into ``2 place`` and ``2 place + 1``.

    The root has place 1. Places say where a node stands, not when it was made.
    """

    place: int
    feature: int
    cut: int
    missing_left: int


def places_of(tree: BinnedTree) -> list[int]:
    """Return the place of each node of a tree."""
    places = [1] * len(tree)
    for node, left in enumerate(tree.questions[:, 3].tolist()):
        if left:
            places[left], places[left + 1] = 2 * places[node], 2 * places[node] + 1
    return places


class _Dividing:
    """The rows of a share while a tree grows elsewhere: divided as it is asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._nodes: dict[int, int] = {}  # the number of each node by its place
        self._n_slots = 0

    def begin(self) -> IntArray:
        """Begin a tree on the weights of the engine; return the sums of its root in all bins."""
        engine = self._engine
        engine.compile(rounds.begin_share)(*engine.arrays())
        self._nodes, self._n_slots = {1: 0}, 1
        engine.nodes.counters[0].n_nodes = 1
        engine.nodes.slots[0] = engine.nodes.left[0] = 0
        return self._sums(1)

    def divide(self, questions: Sequence[Question]) -> list[IntArray]:
        """Divide nodes; return the sums of the left side of each."""
        return [self._divide(question, sums=True) for question in questions]

    def _divide(self, question: Question, *, sums: bool) -> Any:
        engine, place = self._engine, question.place
        left = engine.nodes.n_nodes
        engine.make_room(left + 2, self._n_slots + 1)
        nodes, node = engine.nodes, self._nodes[place]
        nodes.feature[node], nodes.cut[node] = question.feature, question.cut
        nodes.missing_left[node], nodes.left[node] = question.missing_left, left
        nodes.left[left : left + 2] = 0
        nodes.counters[0].n_nodes = left + 2
        self._nodes |= {2 * place: left, 2 * place + 1: left + 1}
        nodes.slots[left], nodes.slots[left + 1] = self._n_slots, nodes.slots[node]
        self._n_slots += sums
        engine.compile(rounds.divide_share)(node, sums, *engine.arrays())
        return self._sums(2 * place) if sums else None

    def finish(self, tree: BinnedTree) -> None:
        """Divide the rows further, to the leaves of the tree that has grown, or of another one."""
        if not self._nodes or not self._engine.is_listed:
            self._engine.place(tree)
            return
        for place, question, votes in zip(
            places_of(tree), tree.questions.tolist(), tree.votes, strict=True
        ):
            node = self._nodes[place]
            if question[3]:
                if not self._engine.nodes.left[node]:
                    self._divide(Question(place, *question[:3]), sums=False)
            else:
                self._engine.nodes.votes[node] = votes
        self._nodes = {}

    def _sums(self, place: int) -> IntArray:
        """Return the sums of a node with those of implicit bins, which other shares may list."""
        engine = self._engine
        node, data = self._nodes[place], engine.data
        listed = engine.nodes.sums[0, engine.nodes.slots[node]]
        n_parts, lanes = engine.state.share_totals.shape[1:]
        sums = listed.reshape(n_parts, -1, lanes)
        if data.n_codes == data.offsets[-1]:
            return np.array(sums)
        if engine.is_listed:  # else the counts have the totals
            engine.compile(rounds.total_share)(node, engine.rows, engine.state)
        implicit = data.offsets[:-1] + data.implicit
        full = np.zeros((n_parts, data.offsets[-1], lanes), dtype=np.int64)
        is_listed = np.ones(full.shape[1], dtype=bool)
        is_listed[implicit] = False
        full[:, is_listed] = sums
        rest = np.add.reduceat(full, data.offsets[:-1], axis=1)
        full[:, implicit] = engine.state.share_totals[0][:, None] - rest
        return full


class Share:
    """Some of the examples, in bins, and where they stand in a fit.

    ``labels`` number the classes if there are more than two.
    """

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        labels: IntArray | None = None,
        n_classes: int = 2,
    ) -> None:
        weights = data.sample_weights
        if labels is not None and data.order is not None:
            labels = labels[data.order]  # as the rows are sorted
        self._learner = TreeLearner(data, shape, weights, labels, n_classes)
        self._counts: MistakeEngine | None = None
        self._tree: _Dividing | None = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question, a method of this class."""
        return getattr(self, f"_answer_{name}")(*arguments)

    def _answer_masses(self) -> IntArray:
        return np.array(self._learner.masses)

    def _answer_count_mistakes(self, n_rounds: int) -> tuple[int, IntArray, int]:
        learner = self._learner
        given = learner.data, learner.shape, learner.sample_weights
        self._counts = MistakeEngine(*given, n_rounds=n_rounds, **learner.engine_settings)
        self._tree = _Dividing(self._counts)
        return *self._counts.masses(), 0

    def _answer_best(self, first: int, weights: Array) -> IntArray:
        """Begin a tree on weights by number of mistakes, from ``first`` on."""
        assert self._tree is not None
        assert self._counts is not None
        self._counts.take_weights(first, weights)
        return self._tree.begin()

    def _answer_divide(self, questions: Sequence[Question]) -> list[IntArray]:
        assert self._tree is not None
        return self._tree.divide(questions)

    def _answer_move(self, tree: BinnedTree) -> tuple[int, IntArray, int]:
        assert self._tree is not None
        assert self._counts is not None
        self._tree.finish(tree)
        wrong = self._counts.move_leaves()
        return *self._counts.masses(), wrong


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


_JOIN: dict[str, Callable[[Sequence[Any]], Any]] = {
    "masses": _add,
    "count_mistakes": _join_masses,
    "best": _add,
    "divide": _add_each,
    "move": _join_masses,
}
