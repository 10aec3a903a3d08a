"""The game of examples on other machines: `Share` there answers with sums, `RemoteGame` here plays.

A share keeps its rows in bins and their numbers of mistakes. It never chooses a hypothesis. Sums
over its rows are integers, so that the sum over all shares does not depend on how the rows were
cut; `combine` adds the answers up. The nodes of a growing tree are here, and the same loops choose
its questions as for rows in memory. Where ``max_leaves`` sets no limit, every leaf with a gain is
divided in the end: all leaves of one depth are then divided by one request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from driftgames._kernels.sums import dot
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.engine import rounds
from driftgames.boosting.engine.binned_trees import (
    BinnedTree,
    TreeLearner,
    to_hypotheses,
    vote_by_mass,
)
from driftgames.boosting.engine.game import (
    CountedGame,
    MistakeRule,
    Round,
)
from driftgames.boosting.engine.mistake_engine import (
    Engine,
    MistakeEngine,
    find_sides,
)
from driftgames.boosting.engine.nodes import FULL, GROWN, make_nodes, make_record, widen_nodes
from driftgames.boosting.engine.positions import SUM_BITS
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray, IntArray

Command = tuple[str, tuple[Any, ...]]
"""What all shares are asked: the name of a command, and its arguments."""

LASTING = frozenset({"begin_fit", "move"})
"""Commands that change a share's state; they are replayed after a loss."""


class Question(NamedTuple):
    """The question of the node at ``place``, whose sides are at ``2 place`` and ``2 place + 1``.

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


class _RowDivider:
    """Divides the rows of a share by the questions of a tree that grows elsewhere."""

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
        return [self._divide(question) for question in questions]

    def _divide(self, question: Question) -> IntArray:
        """Divide a node; return the sums of its left side."""
        self._divide_rows(question, sums=True)
        return self._sums(2 * question.place)

    def _divide_rows(self, question: Question, *, sums: bool) -> None:
        """Divide the rows of a node; with ``sums`` its left side has sums of its own."""
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

    def finish(self, tree: BinnedTree) -> None:
        """Divide the rows further, to the leaves of the tree that has grown, or of another one."""
        if not self._nodes or not self._engine.is_listed:
            self._engine.set_tree(tree)
            return
        for place, question, votes in zip(
            places_of(tree), tree.questions.tolist(), tree.votes, strict=True
        ):
            node = self._nodes[place]
            if question[3]:
                if not self._engine.nodes.left[node]:
                    self._divide_rows(Question(place, *question[:3]), sums=False)
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
        self._engine: MistakeEngine | None = None
        self._divider: _RowDivider | None = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Carry out a command, a method of this class; return its answer."""
        return getattr(self, f"_answer_{name}")(*arguments)

    def _answer_masses(self) -> IntArray:
        return np.array(self._learner.masses)

    def _answer_begin_fit(self, n_rounds: int) -> tuple[int, IntArray, int]:
        self._engine = MistakeEngine(self._learner, n_rounds)
        self._divider = _RowDivider(self._engine)
        return *self._engine.masses(), 0

    def _answer_begin_tree(self, first: int, weights: Array) -> IntArray:
        """Begin a tree on weights by number of mistakes; return the sums of its root."""
        assert self._divider is not None
        assert self._engine is not None
        self._engine.set_scaled_weights(first, weights)
        return self._divider.begin()

    def _answer_divide(self, questions: Sequence[Question]) -> list[IntArray]:
        assert self._divider is not None
        return self._divider.divide(questions)

    def _answer_move(self, tree: BinnedTree) -> tuple[int, IntArray, int]:
        assert self._divider is not None
        assert self._engine is not None
        self._divider.finish(tree)
        wrong = self._engine.move_leaves()
        return *self._engine.masses(), wrong


def combine(name: str, answers: Sequence[Any]) -> Any:
    """Return the answer of all examples to a command, from those of their shares."""
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
    "begin_fit": _join_masses,
    "begin_tree": _add,
    "divide": _add_each,
    "move": _join_masses,
}


_LEAVES = 32  # for how many leaves arrays are made at first


class Exchange(Protocol):
    """Sends commands to all shares, wherever they are."""

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of all examples: those of `Share.ask`, joined by `combine`."""

    def ask_each(self, *commands: Command) -> list[Any]:
        """Return the answers to several commands that are sent at once."""


@dataclass(frozen=True, eq=False)
class RemoteLearner:
    """What a game must know of rows on other machines, and trees of a shape as the weak learner.

    ``integer_weights`` tells whether sample weights are exact, and ``monotonic`` is the sign of the
    vote's step on each feature, 0 for any.
    """

    cuts: Cuts
    shape: TreeShape
    n_classes: int
    integer_weights: bool
    monotonic: IntArray | None = None


class RemoteGame(CountedGame):
    """Examples on shares, which are asked for sums in every round.

    Like all `CountedGame`s it weighs examples by their number of mistakes.
    """

    def __init__(
        self,
        rule: MistakeRule,
        exchange: Exchange,
        learner: RemoteLearner,
        n_rounds: int,
    ) -> None:
        super().__init__(rule)
        self._exchange, self._learner = exchange, learner
        masses = exchange.ask("masses").tolist()
        self.default_vote, self._mass = vote_by_mass(masses), sum(masses)
        self._grower = _RemoteGrower(exchange, learner, self._mass)
        self._played: list[Round] = []
        self._expected: tuple[int, Array] | None = None
        self._sums: IntArray | None = None  # the answer to what was expected
        self._read_masses(exchange.ask("begin_fit", n_rounds))
        self._total = int(self._masses.sum())
        self._scale()

    def advance(self, n_rounds: int) -> None:
        """Play rounds, as far as a hypothesis has an edge."""
        for _ in range(n_rounds):
            value, norm, tree = self._grower.grow(self._root_sums(self._as_sent(self._weights)))
            if value <= 0:
                break
            edge = value / (2 * norm)
            self._move(tree, edge)
            self._played.append(
                Round(tree, edge, 1.0, self._zeros / self._total, self._wrong / self._mass)
            )

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        return self._played[begin:end]

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        learner = self._learner
        trees = [each.tree for each in rounds]
        return to_hypotheses(trees, learner.shape, learner.n_classes, learner.cuts)

    def _read_masses(self, answer: tuple[int, IntArray, int]) -> None:
        """Read the masses of each class by number of mistakes, after a move."""
        first, masses, self._wrong_pairs = answer
        # a share without examples of a class may list numbers that no example has
        begin, *_, end = np.flatnonzero(masses.any(axis=0)).tolist() * 2
        self._first = first + begin
        self._masses = np.ascontiguousarray(masses[:, begin : end + 1])

    def _scale(self, first: int = 0, weights: FloatArray | None = None) -> None:
        """Scale the weights of the next round, from number ``first`` on; find them if not given."""
        if weights is None:
            weights = self._weigh(self._first, self._totals)
        else:
            weights = weights[self._first - first :][: self._totals.size]
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = scale_in_python(
            weights, self._masses, self._first, self.n_rounds, self._weights
        )
        if self._learner.n_classes > 2:  # pairs do not tell which examples are wrong
            self._wrong = self._wrong_pairs

    def _as_sent(self, weights: FloatArray) -> Array:
        """Return weights as the shares use them: integers if sample weights are exact."""
        return np.rint(weights).astype(np.int64) if self._learner.integer_weights else weights

    def _root_sums(self, weights: Array) -> IntArray:
        """Return the sums of the root, which came with the last move if they were expected."""
        sums, self._sums = self._sums, None
        if sums is None or not self._as_expected(weights):
            sums = self._exchange.ask("begin_tree", self._first, weights)
        return np.asarray(sums)

    def _as_expected(self, weights: Array) -> bool:
        """Whether these are the weights that were expected; numbers without examples weigh zero."""
        assert self._expected is not None
        expected = self._expected[1][self._first - self._expected[0] :][: weights.size]
        return bool(((weights == expected) | (weights == 0)).all())

    def _move(self, tree: BinnedTree, edge: float) -> None:
        """Count the mistakes of a tree; ask for the next sums at once if weights are known."""
        first, weights = self._first, None
        self._edge_sum += edge
        self.n_rounds += 1
        if self._rule.looks_at_masses:
            answer = self._exchange.ask("move", tree)
        else:
            weights = self._weigh_ahead()
            self._expected = first, self._as_sent(self._guess_scale(weights, edge))
            commands: list[Command] = [("move", (tree,)), ("begin_tree", self._expected)]
            answer, self._sums = self._exchange.ask_each(*commands)
        self._read_masses(answer)
        self._scale(first, weights)

    def _guess_scale(self, weights: FloatArray, edge: float) -> FloatArray:
        """Scale weights before a move, as if every number of mistakes erred like all examples."""
        err = 0.5 - edge
        likely = dot(self._totals.astype(np.float64), (1 - err) * weights[:-1] + err * weights[1:])
        with np.errstate(over="ignore"):  # a number that no example is likely to reach
            scaled = np.ldexp(weights, SUM_BITS - math.frexp(likely)[1])
        return np.minimum(scaled, 2.0**SUM_BITS)


def scale_in_python(
    weights: FloatArray, masses: IntArray, first: int, n_rounds: int, out: FloatArray
) -> tuple[int, int]:
    """Scale weights by number of mistakes as `positions.scale_weights` does.

    Here no engine has the rows. Both ``weights`` and the ``masses`` of each class begin with those
    of ``first`` mistakes. Return the mass that weighs zero, and the mass that the vote gets wrong.
    """
    mass = masses.sum(axis=0)
    equal = not (mass * weights).any()
    total = float(mass.sum()) if equal else _ordered_sum(mass * weights)
    exponent = math.frexp(total)[1]
    out[:] = 0.0  # where no example has this number of mistakes
    out[mass > 0] = np.ldexp(1.0 if equal else weights[mass > 0], SUM_BITS - exponent)
    mistakes = np.arange(first, first + mass.size)
    wrong = masses[0][2 * mistakes > n_rounds].sum() + masses[1][2 * mistakes >= n_rounds].sum()
    return 0 if equal else int(mass[weights == 0.0].sum()), int(wrong)


def _ordered_sum(values: FloatArray) -> float:
    total = 0.0
    for value in values.tolist():  # in the order of the compiled loop
        total += value
    return total


class _RemoteGrower:
    """Grows a tree from the sums of all shares."""

    def __init__(self, exchange: Exchange, learner: RemoteLearner, mass: int) -> None:
        self._exchange = exchange
        cuts, shape, n_classes = learner.cuts, learner.shape, learner.n_classes
        n_features = cuts.missing.size
        monotonic = learner.monotonic
        if monotonic is None:
            monotonic = np.zeros(n_features, dtype=np.int64)
        everywhere = np.full(n_features, -1)  # no bin is left out of the sums
        self._bins = FeatureBins(cuts.offsets, everywhere, cuts.missing, monotonic)
        self._sides = find_sides(n_classes)
        n_labels = 1 if n_classes == 2 else n_classes
        side = self._sides.side_shape(n_labels, has_size=shape.has_least_size)
        self._nodes = make_nodes(shape, mass, n_labels, side, int(cuts.offsets[-1]), 1, _LEAVES)
        self._make_record()
        self._most = 1 if shape.most_leaves is not None else np.iinfo(np.int64).max

    def grow(self, sums: IntArray) -> tuple[int, int, BinnedTree]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the tree for the sums of its root."""
        nodes = self._nodes
        nodes.sums[0, 0] = sums.reshape(nodes.sums.shape[2:])
        # every row has a bin of each feature
        nodes.totals[0] = sums[:, : self._bins.offsets[1]].sum(axis=1)
        self._record.counters[0].n_nodes = 0
        places = {0: 1}
        step = self._advance(begins=True)
        while step != GROWN:
            if step == FULL:
                self._nodes = widen_nodes(self._nodes)
                self._make_record()
            else:
                self._divide(places)
            step = self._advance(begins=False)
        progress = self._record.counters[0]
        tree = self._record.trees(0, int(progress.n_nodes))
        return int(progress.value), int(progress.norm), tree

    def _make_record(self) -> None:
        self._record = make_record(1, self._nodes.gains.size, self._nodes.votes.shape[1])

    def _advance(self, *, begins: bool) -> Any:
        step = instantiate(rounds.grow_remotely, sides=self._sides)
        return step(begins, self._most, self._bins, self._nodes, self._record)

    def _divide(self, places: dict[int, int]) -> None:
        """Ask the shares to divide the leaves that are chosen; write the sums of their sides."""
        nodes, counters = self._nodes, self._nodes.counters[0]
        fresh = set(nodes.fresh[: counters.n_fresh].tolist())
        asked, questions = [], []
        for node in nodes.asked[: counters.n_asked].tolist():
            columns = nodes.feature, nodes.cut, nodes.missing_left, nodes.left
            feature, cut, missing_left, left = (int(column[node]) for column in columns)
            places[left], places[left + 1] = 2 * places[node], 2 * places[node] + 1
            if left in fresh or left + 1 in fresh:
                asked.append(left)
                questions.append(Question(places[node], feature, cut, missing_left))
        answers = self._exchange.ask("divide", questions) if questions else []
        for left, sums in zip(asked, answers, strict=True):
            of_left = sums.reshape(nodes.sums.shape[2:])
            nodes.sums[0, nodes.slots[left]] = of_left
            nodes.sums[0, nodes.slots[left + 1]] -= of_left  # it held the sums of the node
        if self._most > 1:
            for node in nodes.asked[: counters.n_asked].tolist():
                left = int(nodes.left[node])
                for side in {left, left + 1} - fresh:
                    nodes.free[counters.n_free] = nodes.slots[side]
                    counters.n_free += 1
