r"""Games of boosting: the examples are chips, and each round adds a hypothesis to the vote.

With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
:math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred. So a round weighs
numbers of mistakes instead of examples, and a `MistakeRule` says what each of them weighs.
`vote_game` has the game in which votes differ in weight, and `remote_game` that of examples on
other machines.

Weights are rounded to integers, so that sums of them are exact, and so is every comparison between
hypotheses: neither the order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.engine.binned_trees import BinnedTree, to_stumps, to_trees
from driftgames.boosting.engine.mistake_engine import MistakeEngine
from driftgames.boosting.engine.positions import Rule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import Trees
from driftgames.certificates.margins import Margins
from driftgames.core.threads import stop_if_given_up
from driftgames.core.typing import FloatArray, IntArray

_SECONDS = 0.05  # how long a compiled call plays rounds


class Round(NamedTuple):
    """One round: the hypothesis, its edge and vote, and the state of the examples after it."""

    tree: BinnedTree
    edge: float
    vote_weight: float
    zero_fraction: float
    training_error: float


class Game(ABC):
    """The examples during a fit: their positions, their weights and the next hypotheses."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""
    masses: list[int]
    """The mass of each class."""
    _rounds_of_call: int = 16

    def play_until(self, n_rounds: int, tell: Callable[[int], None] = lambda steps: None) -> bool:
        """Play until there are ``n_rounds`` rounds; return False if they end before.

        It plays in calls of some hundredths of a second, so that an interruption is heard between
        them. ``tell`` hears how many rounds each of them has played.
        """
        while self.n_rounds < n_rounds and not self.finished:
            stop_if_given_up()
            before, begun = self.n_rounds, time.perf_counter()
            wanted = min(self._rounds_of_call, n_rounds - before)
            self.advance(wanted)
            took = time.perf_counter() - begun
            if took > _SECONDS:
                self._rounds_of_call = max(wanted // 2, 1)
            elif wanted == self._rounds_of_call:
                self._rounds_of_call *= 2
            tell(self.n_rounds - before)
            if self.n_rounds < before + wanted:
                return False
        return self.n_rounds >= n_rounds

    def play(self, n_rounds: int) -> list[Round]:
        """Play rounds and return them; see `advance`."""
        begin = self.n_rounds
        self.advance(n_rounds)
        return self.rounds(begin, self.n_rounds)

    @abstractmethod
    def advance(self, n_rounds: int) -> None:
        """Play rounds; fewer if no hypothesis has an edge, or if the game is finished.

        A round chooses a hypothesis and moves the chips by it. [LS14, Alg. 6]
        """

    @abstractmethod
    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""

    @abstractmethod
    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds as the model keeps them, on feature values."""


class LocalGame(Game):
    """A game of examples in memory."""

    @abstractmethod
    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""

    @abstractmethod
    def rest(self) -> None:
        """Free what only the growth of a tree needs, until the next round."""


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """Binned rows in memory, and trees of a shape as the weak learner for them.

    ``sample_weights`` are in the order of the binned rows; rows of weight zero are held out.
    ``labels`` number the classes in that order if there are more than two. With ``gaps`` they count
    the thresholds below an outcome, and ``n_classes`` is the number of thresholds.
    """

    data: BinnedData
    shape: TreeShape
    sample_weights: IntArray
    labels: IntArray | None = None
    n_classes: int = 2
    n_threads: int = 1
    gaps: IntArray | None = None

    @classmethod
    def of(
        cls,
        data: BinnedData,
        shape: TreeShape,
        labels: IntArray | None,
        n_classes: int,
        n_threads: int = 1,
    ) -> TreeLearner:
        """Return the learner of examples whose classes have these numbers, in their own order."""
        if n_classes == 2 or labels is None:
            labels = None
        elif data.order is not None:
            labels = labels[data.order]
        return cls(data, shape, data.sample_weights, labels, n_classes, n_threads)

    @property
    def mass(self) -> int:
        """The sample weight of all examples."""
        return int(self.sample_weights.sum())

    @property
    def masses(self) -> list[int]:
        """The sample weight of each class."""
        if self.labels is None:
            halves = np.split(self.sample_weights, [self.data.split])
            return [int(half.sum()) for half in halves]
        return [int(self.sample_weights[self.labels == k].sum()) for k in range(self.n_classes)]

    @property
    def engine_settings(self) -> dict[str, Any]:
        """What an engine needs to know beside the rows, the shape and the weights."""
        return {
            "labels": self.labels,
            "n_classes": self.n_classes,
            "n_threads": self.n_threads,
            "gaps": self.gaps,
        }

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return trees_to_values(rounds, self.shape, self.n_classes, self.data.cuts)


def trees_to_values(
    rounds: Sequence[Round], shape: TreeShape, n_classes: int, cuts: Any
) -> Stumps | Trees:
    """Return the hypotheses of rounds: `Stumps` of two classes, or `Trees`."""
    trees = [each.tree for each in rounds]
    return to_stumps(trees, cuts) if shape.is_stump and n_classes == 2 else to_trees(trees, cuts)


class GameRule(ABC):
    """What makes a booster: how the examples are weighed."""

    @abstractmethod
    def begin(self, learner: TreeLearner, n_rounds: int) -> LocalGame:
        """Return the game before the first of up to ``n_rounds`` rounds."""


class MistakeRule(GameRule):
    """Weights of examples from their numbers of mistakes alone; every vote weighs 1."""

    looks_at_masses = False
    """Whether weights depend on how many examples have made each number of mistakes."""

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all equal.

        ``mistakes`` ascends by ones, and ``edge_sum`` is the sum of the edges so far. ``masses``
        tells how many examples have made each of these numbers. A rule that does not look at them
        may be asked before the last move, and is told how many examples may reach each number.
        """

    def compiled(self) -> Rule | None:
        """Return the compiled rule, or None if it is Python code."""
        return None

    def begin(self, learner: TreeLearner, n_rounds: int) -> MistakeGame:
        """Return the game before the first of up to ``n_rounds`` rounds."""
        return MistakeGame(self, learner, n_rounds)


class CountedGame(Game):
    """What all games have in common in which examples weigh by their number of mistakes."""

    def __init__(self, rule: MistakeRule) -> None:
        self._rule = rule
        self._edge_sum = 0.0
        self._first = 0
        self._masses = np.zeros((2, 1), dtype=np.int64)

    @property
    def _totals(self) -> IntArray:
        """The mass of the examples of each number of mistakes, of all classes."""
        return np.asarray(self._masses.sum(axis=0))

    def _weigh(self, first: int, masses: IntArray) -> FloatArray:
        """Return the weights of the next round by number of mistakes, from ``first`` on."""
        mistakes = np.arange(first, first + masses.size)
        return self._rule.weights(mistakes, self.n_rounds + 1, self._edge_sum, masses)

    def _weigh_ahead(self) -> FloatArray:
        """Return the weights of the round after a move that is yet to come."""
        masses = self._totals
        reach = np.zeros(masses.size + 1, dtype=np.int64)
        reach[:-1] += masses
        reach[1:] += masses
        return self._weigh(self._first, reach)

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        masses = self._totals[::-1]
        mistakes = np.arange(self._first, self._first + masses.size)[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[masses > 0], masses[masses > 0])


class MistakeGame(CountedGame, LocalGame):
    """Examples in memory: the engine plays rounds of a compiled rule without Python."""

    def __init__(self, rule: MistakeRule, learner: TreeLearner, n_rounds: int) -> None:
        super().__init__(rule)
        self.masses = learner.masses
        self._learner = learner
        self._engine = MistakeEngine(
            learner.data,
            learner.shape,
            learner.sample_weights,
            n_rounds,
            **learner.engine_settings,
        )
        self._first, self._masses = self._engine.masses()
        self._total = int(self._masses.sum())
        self._compiled = rule.compiled()
        self._engine.set_weights(self._weigh(0, self._totals))

    def advance(self, n_rounds: int) -> None:
        """Play rounds, as far as a hypothesis has an edge."""
        engine = self._engine
        until = min(self.n_rounds + n_rounds, engine.most_rounds)
        if self._compiled is not None:
            engine.play(until, self._compiled)
            self._update()
        else:
            while self.n_rounds < until and engine.play(self.n_rounds + 1):
                self._reweigh()

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        total, n_examples = self._total, self._learner.mass
        return [
            Round(tree, edge, 1.0, zeros / total, wrong / n_examples)
            for tree, edge, zeros, wrong in self._engine.rounds(begin, end)
        ]

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return self._learner.to_values(rounds)

    def _update(self) -> None:
        self.n_rounds = self._engine.n_rounds
        self._edge_sum = self._engine.edge_sum
        self._first, self._masses = self._engine.masses()

    def _reweigh(self) -> None:
        """Set the weights after a round whose rule is Python code."""
        first = self._first
        self.n_rounds, self._edge_sum = self._engine.n_rounds, self._engine.edge_sum
        if self._rule.looks_at_masses:
            self._update()
            weights = self._weigh(self._first, self._totals)
        else:
            weights = self._weigh_ahead()
            self._update()
            weights = weights[self._first - first :]
        self._engine.set_weights(weights)

    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""
        return (2 * self._engine.votes_for() - self.n_rounds) / self.n_rounds

    def rest(self) -> None:
        """Free what only the growth of a tree needs, until the next round."""
        self._engine.rest()
