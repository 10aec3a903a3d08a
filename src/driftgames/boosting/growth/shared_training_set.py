"""A training set whose rows are elsewhere: it asks their shares and adds up the answers.

The nodes of a growing tree are here, and the same loops choose its questions as for rows in memory.
Where ``max_leaves`` sets no limit, every leaf with a gain is divided in the end: all leaves of one
depth are then divided by one request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.growth import rounds, several_classes, two_classes
from driftgames.boosting.growth.binned_trees import (
    BinnedTree,
    from_stumps,
    from_trees,
    to_stumps,
    to_trees,
)
from driftgames.boosting.growth.nodes import FULL, GROWN, make_nodes, make_record, widen_nodes
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.growth.shares import Command, Question
from driftgames.boosting.growth.training_set import AsksAhead, Standing
from driftgames.boosting.model.stumps import Stumps
from driftgames.certificates.margins import Margins
from driftgames.core.typing import IntArray

_LEAVES = 32  # for how many leaves arrays are made at first


class Exchange(Protocol):
    """Asks all shares questions."""

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of all examples: those of `Share.ask`, joined by `combine`."""

    def ask_each(self, *questions: Command) -> list[Any]:
        """Return the answers to several questions that are asked at once."""


class SharedTrainingSet:
    """Examples on shares, and trees of a shape as their weak learner."""

    def __init__(
        self,
        exchange: Exchange,
        cuts: Cuts,
        n_classes: int,
        *,
        integer_weights: bool,
        shape: TreeShape,
        monotonic: IntArray | None = None,
    ) -> None:
        self._exchange = exchange
        self._cuts = cuts
        self._shape = shape
        self._n_classes = n_classes
        self.integer_weights = integer_weights
        self.masses: list[int] = exchange.ask("masses").tolist()
        """The mass of each class."""
        n_features = cuts.missing.size
        free = np.zeros(n_features, dtype=np.int64)
        everywhere = np.full(n_features, -1)  # no bin is left out of the sums
        directions = free if monotonic is None else monotonic
        self._bins = FeatureBins(cuts.offsets, everywhere, cuts.missing, directions)
        mass, n_codes = sum(self.masses), int(cuts.offsets[-1])
        self._nodes = make_nodes(shape, mass, n_classes, n_codes, 1, _LEAVES)
        self._make_record()
        self._most = 1 if shape.most_leaves is not None else np.iinfo(np.int64).max

    def count_mistakes(self, n_rounds: int) -> SharedCounts:
        """Return the counts before the first round."""
        return SharedCounts(self, self._exchange, n_rounds)

    def add_votes(self) -> SharedVotes:
        """Return the votes before the first round: none."""
        return SharedVotes(self, self._exchange)

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

    def to_values(self, chosen: list[BinnedTree]) -> Any:
        """Return trees on bins as the model keeps them: `Stumps` or `Trees`."""
        two = self._n_classes == 2
        return (to_stumps if self._shape.is_stump and two else to_trees)(chosen, self._cuts)

    def to_bins(self, hypotheses: Any) -> list[BinnedTree]:
        """Return hypotheses on feature values as trees on bins."""
        if isinstance(hypotheses, Stumps):
            return from_stumps(hypotheses, self._cuts)
        return from_trees(hypotheses, self._cuts)


class SharedCounts(AsksAhead):
    """The `MistakeCounts` of all shares."""

    def __init__(self, training_set: SharedTrainingSet, exchange: Exchange, n_rounds: int) -> None:
        self._training_set = training_set
        self._exchange = exchange
        self._masses = exchange.ask("count_mistakes", n_rounds)
        self._expected: tuple[int, Array] | None = None
        self._sums: Any = None  # the answer to what was expected

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        first, masses, _ = self._masses
        # a share without examples of a class may list numbers that no example has
        begin, *_, end = np.flatnonzero(masses.any(axis=0)).tolist() * 2
        return first + begin, np.ascontiguousarray(masses[:, begin : end + 1])

    def best(self, first: int, weights: Array) -> tuple[int, int, BinnedTree]:
        """Return the best hypothesis for the sums of all shares."""
        sums, self._sums = self._sums, None
        if sums is None or not self._as_expected(first, weights):
            sums = self._exchange.ask("best", first, weights)
        return self._training_set.grow(sums)

    def expect(self, first: int, weights: Array) -> None:
        """Ask for the sums for these weights together with the next move."""
        self._expected = first, weights

    def _as_expected(self, first: int, weights: Array) -> bool:
        """Whether these are the weights that were expected; numbers without examples weigh zero."""
        assert self._expected is not None
        expected = self._expected[1][first - self._expected[0] :][: weights.size]
        return bool(((weights == expected) | (weights == 0)).all())

    def move(self, hypothesis: BinnedTree) -> SharedCounts:
        """Count the mistakes of a hypothesis."""
        if self._expected is None:
            self._masses = self._exchange.ask("move", hypothesis)
        else:
            questions: list[Command] = [("move", (hypothesis,)), ("best", self._expected)]
            self._masses, self._sums = self._exchange.ask_each(*questions)
        if len(self._training_set.masses) > 2:
            self.error = int(self._masses[2]) / sum(self._training_set.masses)
        return self


class SharedVotes:
    """The `RowVotes` of all shares: the methods of this name ask all of them."""

    heaviest: Callable[[float], float]
    measure: Callable[[float, float], int]
    value: Callable[[float, float, Any], tuple[int, int]]
    add: Callable[[Any, float], Standing]
    margins: Callable[[float], Margins]

    def __init__(self, training_set: SharedTrainingSet, exchange: Exchange) -> None:
        self._training_set = training_set
        self._exchange = exchange
        self._masses = exchange.ask("add_votes")
        for name in ("heaviest", "measure", "value", "add", "margins"):
            setattr(self, name, partial(exchange.ask, name))

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of examples, and the sum of the sample weights."""
        n_copies, mass = self._masses
        return n_copies, mass

    def best(self, heaviest: float, unit: float) -> tuple[int, int, BinnedTree]:
        """Return the best hypothesis for the sums of all shares."""
        return self._training_set.grow(self._exchange.ask("best", heaviest, unit))
