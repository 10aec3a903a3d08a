"""The game of examples on other machines: their shares answer with sums, which are added up here.

The nodes of a growing tree are here, and the same loops choose its questions as for rows in memory.
Where ``max_leaves`` sets no limit, every leaf with a gain is divided in the end: all leaves of one
depth are then divided by one request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from driftgames._kernels.sums import dot
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.engine import rounds, several_classes, two_classes
from driftgames.boosting.engine.binned_trees import BinnedTree
from driftgames.boosting.engine.game import CountedGame, MistakeRule, Round, trees_to_values
from driftgames.boosting.engine.mistake_engine import scale_raw
from driftgames.boosting.engine.mistake_engine import find_sides
from driftgames.boosting.engine.nodes import FULL, GROWN, make_nodes, make_record, widen_nodes
from driftgames.boosting.engine.positions import SUM_BITS
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.engine.shares import Command, Question
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray, IntArray

_LEAVES = 32  # for how many leaves arrays are made at first


class Exchange(Protocol):
    """Asks all shares questions."""

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of all examples: those of `Share.ask`, joined by `combine`."""

    def ask_each(self, *questions: Command) -> list[Any]:
        """Return the answers to several questions that are asked at once."""


class RemoteGame(CountedGame):
    """Examples on shares that weigh by their number of mistakes: they are asked in every round."""

    def __init__(
        self,
        rule: MistakeRule,
        exchange: Exchange,
        cuts: Cuts,
        n_classes: int,
        shape: TreeShape,
        n_rounds: int,
        *,
        integer_weights: bool,
        monotonic: IntArray | None = None,
    ) -> None:
        super().__init__(rule)
        self._exchange = exchange
        self._shape, self._n_classes, self._cuts = shape, n_classes, cuts
        self._integer_weights = integer_weights
        self.masses = exchange.ask("masses").tolist()
        self._grower = _RemoteGrower(exchange, cuts, n_classes, shape, self.masses, monotonic)
        self._played: list[Round] = []
        self._expected: tuple[int, Array] | None = None
        self._sums: Any = None  # the answer to what was expected
        self._take(exchange.ask("count_mistakes", n_rounds))
        self._total = int(self._masses.sum())
        self._scale()

    def advance(self, n_rounds: int) -> None:
        """Play rounds, as far as a hypothesis has an edge."""
        for _ in range(n_rounds):
            value, norm, tree = self._grower.grow(self._root_sums(self._whole(self._weights)))
            if value <= 0:
                break
            edge = value / (2 * norm)
            self._move(tree, edge)
            self._played.append(
                Round(tree, edge, 1.0, self._zeros / self._total, self._wrong / sum(self.masses))
            )

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        return self._played[begin:end]

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return trees_to_values(rounds, self._shape, self._n_classes, self._cuts)

    def _take(self, answer: tuple[int, IntArray, int]) -> None:
        """Take the masses of each class by number of mistakes, after a move."""
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
        self._zeros, self._wrong = scale_raw(
            weights, self._masses, self._first, self.n_rounds, self._weights
        )
        if self._n_classes > 2:  # pairs do not tell which examples are wrong
            self._wrong = self._wrong_pairs

    def _whole(self, weights: FloatArray) -> Any:
        """Return weights as the shares take them: whole, if sample weights are."""
        return np.rint(weights).astype(np.int64) if self._integer_weights else weights

    def _root_sums(self, weights: Array) -> IntArray:
        """Return the sums of the root, which came with the last move if they were expected."""
        sums, self._sums = self._sums, None
        if sums is None or not self._as_expected(weights):
            sums = self._exchange.ask("best", self._first, weights)
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
            self._expected = first, self._whole(self._guess_scale(weights, edge))
            questions: list[Command] = [("move", (tree,)), ("best", self._expected)]
            answer, self._sums = self._exchange.ask_each(*questions)
        self._take(answer)
        self._scale(first, weights)

    def _guess_scale(self, weights: FloatArray, edge: float) -> FloatArray:
        """Scale weights before a move, as if every number of mistakes erred like all examples."""
        err = 0.5 - edge
        likely = dot(self._totals.astype(np.float64), (1 - err) * weights[:-1] + err * weights[1:])
        with np.errstate(over="ignore"):  # a number that no example is likely to reach
            scaled = np.ldexp(weights, SUM_BITS - math.frexp(likely)[1])
        return np.minimum(scaled, 2.0**SUM_BITS)


class _RemoteGrower:
    """Grows a tree from the sums of all shares."""

    def __init__(
        self,
        exchange: Exchange,
        cuts: Cuts,
        n_classes: int,
        shape: TreeShape,
        masses: list[int],
        monotonic: IntArray | None,
    ) -> None:
        self._exchange = exchange
        self._n_classes = n_classes
        n_features = cuts.missing.size
        free = np.zeros(n_features, dtype=np.int64)
        everywhere = np.full(n_features, -1)  # no bin is left out of the sums
        directions = free if monotonic is None else monotonic
        self._bins = FeatureBins(cuts.offsets, everywhere, cuts.missing, directions)
        mass, n_codes = sum(masses), int(cuts.offsets[-1])
        n_labels = 1 if n_classes == 2 else n_classes
        side = find_sides(n_classes).side_shape(n_labels, has_size=shape.has_least_size)
        self._nodes = make_nodes(shape, mass, n_labels, side, n_codes, 1, _LEAVES)
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
        sides = several_classes if self._n_classes > 2 else two_classes
        step = instantiate(rounds.grow_remotely, sides=sides)
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
            mine = sums.reshape(nodes.sums.shape[2:])
            nodes.sums[0, nodes.slots[left]] = mine
            nodes.sums[0, nodes.slots[left + 1]] -= mine  # it held the sums of the node
        if self._most > 1:
            for node in nodes.asked[: counters.n_asked].tolist():
                left = int(nodes.left[node])
                for side in {left, left + 1} - fresh:
                    nodes.free[counters.n_free] = nodes.slots[side]
                    counters.n_free += 1
