"""A training set whose rows are elsewhere: it asks their shares and adds up the answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.data.bins import Array, DenseBins
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.growth.best_first import BestFirstGrower, Question
from driftgames.boosting.growth.shares import Command
from driftgames.boosting.growth.training_set import AsksAhead, Standing
from driftgames.boosting.growth.tree_growth import TreeShape
from driftgames.certificates.margins import Margins
from driftgames.core.typing import IntArray


class Exchange(Protocol):
    """Asks all shares questions."""

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer of all examples: those of `Share.ask`, joined by `combine`."""

    def ask_each(self, *questions: Command) -> list[Any]:
        """Return the answers to several questions that are asked at once."""


class SharedTrainingSet:
    """Examples on shares, and trees of a shape, or stumps without one, as their weak learner."""

    def __init__(
        self,
        exchange: Exchange,
        cuts: Cuts,
        n_classes: int,
        *,
        integer_weights: bool,
        shape: TreeShape | None,
        monotonic: IntArray | None = None,
    ) -> None:
        self._exchange = exchange
        self.integer_weights = integer_weights
        self.masses: list[int] = exchange.ask("masses").tolist()
        """The mass of each class."""
        nothing = np.empty((0, cuts.missing.size), dtype=np.uint8)
        none = np.empty(0, dtype=np.int64)
        implicit = np.full(cuts.missing.size, -1, dtype=np.int64)
        bins, counts = DenseBins(nothing, nothing.T), exchange.ask("counts")
        # without rows it still knows stumps, ties and thresholds
        self._bins = BinnedTrainingSet(
            cuts, bins, none, 0, none, implicit, counts, monotonic=monotonic
        )
        self._grower: BestFirstGrower | None = None

        def divide(questions: list[Question]) -> list[tuple[IntArray, None]]:
            return [(_own(left), None) for left in exchange.ask("divide", questions)]

        if shape is not None or n_classes > 2:
            self._grower = BestFirstGrower(self._bins, n_classes, shape or TreeShape(), divide)

    def count_mistakes(self) -> SharedCounts:
        """Return the counts before the first round."""
        return SharedCounts(self, self._exchange)

    def add_votes(self) -> SharedVotes:
        """Return the votes before the first round: none."""
        return SharedVotes(self, self._exchange)

    def choose(self, sums: IntArray) -> tuple[int, int, Any]:
        """Return the best stump, or the tree, for sums over all shares."""
        if self._grower is None:
            return self._bins.best_stump(sums)
        sums = _own(sums)
        totals = sums[:, : self._bins.offsets[1]].sum(axis=1)  # every row has a bin of each feature
        return self._grower.grow(sums, totals)

    def to_values(self, chosen: list[Any]) -> Any:
        """Return hypotheses on bins as hypotheses on feature values."""
        return (self._grower or self._bins).to_values(chosen)

    def to_bins(self, hypotheses: Any) -> list[Any]:
        """Return hypotheses on feature values as hypotheses on bins."""
        return list((self._grower or self._bins).to_bins(hypotheses))


def _own(sums: IntArray) -> IntArray:
    """Return sums as the compiled loops expect them: those of a message are read-only."""
    return np.require(sums, requirements=["C", "W"])


class SharedCounts(AsksAhead):
    """The `MistakeCounts` of all shares; those of more than two classes are `PairCounts`."""

    def __init__(self, training_set: SharedTrainingSet, exchange: Exchange) -> None:
        self._training_set = training_set
        self._exchange = exchange
        self._masses = exchange.ask("count_mistakes")
        self._expected: tuple[int, Array] | None = None
        self._sums: Any = None  # the answer to what was expected

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        first, masses, _ = self._masses
        # a share without examples of a class may list numbers that no example has
        begin, *_, end = np.flatnonzero(masses.any(axis=0)).tolist() * 2
        return first + begin, np.ascontiguousarray(masses[:, begin : end + 1])

    def best(self, first: int, weights: Array) -> tuple[int, int, Any]:
        """Return the best hypothesis for the sums of all shares."""
        sums, self._sums = self._sums, None
        if sums is None or not self._as_expected(first, weights):
            sums = self._exchange.ask("best", first, weights)
        return self._training_set.choose(sums)

    def expect(self, first: int, weights: Array) -> None:
        """Ask for the sums for these weights together with the next move."""
        self._expected = first, weights

    def _as_expected(self, first: int, weights: Array) -> bool:
        """Whether these are the weights that were expected; numbers without examples weigh zero."""
        assert self._expected is not None
        expected = self._expected[1][first - self._expected[0] :][: weights.size]
        return bool(((weights == expected) | (weights == 0)).all())

    def move(self, hypothesis: Any) -> SharedCounts:
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

    def best(self, heaviest: float, unit: float) -> tuple[int, int, Any]:
        """Return the best hypothesis for the sums of all shares."""
        return self._training_set.choose(self._exchange.ask("best", heaviest, unit))
