r"""Examples that weigh by their number of mistakes; every vote weighs 1.

With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
:math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred. So a round weighs
these numbers instead of the examples.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from driftgames._kernels.sums import dot
from driftgames.boosting.growth.mistake_engine import MistakeEngine, scale_raw
from driftgames.boosting.growth.positions import SUM_BITS, Rule
from driftgames.boosting.growth.training_set import AsksAhead, MistakeCounts
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.growth.tree_training_set import GrownTrees
from driftgames.boosting.weights.example_chips import ExampleChips, Round
from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray, IntArray


class MistakeWeights(ABC):
    """Weights of examples from their numbers of mistakes alone."""

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


class CountedChips(ExampleChips):
    """What all examples that weigh by their number of mistakes have in common."""

    def __init__(self, rule: MistakeWeights) -> None:
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

    def _replayed_edge(self, first: int, masses: IntArray, weights: FloatArray) -> float:
        """Return the edge of the last hypothesis, from where the examples stood before it."""
        after = np.zeros(masses.size + 1, dtype=np.int64)
        begin = self._first - first
        after[begin : begin + self._totals.size] = self._totals
        erred = np.cumsum(masses - after[:-1])  # an error moves an example to the next number
        value = dot(weights, (masses - 2 * erred).astype(np.float64))
        return value / (2 * dot(weights, masses.astype(np.float64)))


class EngineChips(CountedChips):
    """Examples in memory: the engine plays rounds of a compiled rule without Python."""

    def __init__(self, rule: MistakeWeights, engine: MistakeEngine, n_examples: int) -> None:
        super().__init__(rule)
        self._engine = engine
        self._n_examples = n_examples
        self._first, self._masses = engine.masses()
        self._total = int(self._masses.sum())
        self._compiled = rule.compiled()
        engine.set_weights(self._weigh(0, self._totals))

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
        total, n_examples = self._total, self._n_examples
        return [
            Round(tree, edge, 1.0, zeros / total, wrong / n_examples)
            for tree, edge, zeros, wrong in self._engine.rounds(begin, end)
        ]

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

    def replay(self, hypothesis: Any, edge: float) -> tuple[Round, float]:
        """Play a round of an earlier fit again; return it, and its edge found anew."""
        first, masses = self._first, self._totals
        weights = self._engine.weights_by_mistakes()
        self._engine.move(hypothesis, edge)
        self._reweigh()
        (last,) = self.rounds(self.n_rounds - 1, self.n_rounds)
        return last, self._replayed_edge(first, masses, weights)


class AskingChips(CountedChips):
    """Examples elsewhere, or of another weak learner: they are asked in every round."""

    def __init__(self, rule: MistakeWeights, training_set: TrainingSet, n_rounds: int) -> None:
        super().__init__(rule)
        self._integer_weights = training_set.integer_weights
        counts = training_set.count_mistakes(n_rounds)
        assert isinstance(counts, MistakeCounts)
        self._counts = counts
        self._played: list[Round] = []
        self._total = int(self._counts.masses()[1].sum())
        self._scale()

    def _scale(self, first: int = 0, weights: FloatArray | None = None) -> None:
        """Scale the weights of the next round, from number ``first`` on; find them if not given."""
        self._first, self._masses = self._counts.masses()
        if weights is None:
            weights = self._weigh(self._first, self._totals)
        else:
            weights = weights[self._first - first :][: self._totals.size]
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = scale_raw(
            weights, self._masses, self._first, self.n_rounds, self._weights
        )

    def _whole(self, weights: FloatArray) -> Any:
        """Return weights as the counts take them: whole, if sample weights are."""
        return np.rint(weights).astype(np.int64) if self._integer_weights else weights

    def advance(self, n_rounds: int) -> None:
        """Play rounds, as far as a hypothesis has an edge."""
        for _ in range(n_rounds):
            value, norm, hypothesis = self._counts.best(self._first, self._whole(self._weights))
            if value <= 0:
                break
            edge = value / (2 * norm)
            self._move(hypothesis, edge)
            self._played.append(self._round(hypothesis, edge))

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        return self._played[begin:end]

    def _move(self, hypothesis: Any, edge: float) -> None:
        """Count the mistakes of a hypothesis."""
        first, weights = self._first, None
        self._edge_sum += edge
        self.n_rounds += 1
        if not self._rule.looks_at_masses:  # the next weights are known before the move
            weights = self._weigh_ahead()
            if isinstance(self._counts, AsksAhead):
                self._counts.expect(first, self._whole(self._guess_scale(weights, edge)))
        self._counts = self._counts.move(hypothesis)
        self._scale(first, weights)

    def _round(self, hypothesis: Any, edge: float) -> Round:
        error = self._counts.error
        error = self._wrong / self._total if error is None else error
        return Round(hypothesis, edge, 1.0, self._zeros / self._total, error)

    def _guess_scale(self, weights: FloatArray, edge: float) -> FloatArray:
        """Scale weights before a move, as if every number of mistakes erred like all examples."""
        err = 0.5 - edge
        likely = dot(self._totals.astype(np.float64), (1 - err) * weights[:-1] + err * weights[1:])
        with np.errstate(over="ignore"):  # a number that no example is likely to reach
            scaled = np.ldexp(weights, SUM_BITS - math.frexp(likely)[1])
        return np.minimum(scaled, 2.0**SUM_BITS)

    def replay(self, hypothesis: Any, edge: float) -> tuple[Round, float]:
        """Play a round of an earlier fit again; return it, and its edge found anew."""
        first, masses, weights = self._first, self._totals, self._weights
        self._move(hypothesis, edge)
        self._played.append(self._round(hypothesis, edge))
        return self._played[-1], self._replayed_edge(first, masses, weights)


def count_chips(rule: MistakeWeights, training_set: TrainingSet, n_rounds: int) -> CountedChips:
    """Return examples that weigh by a rule, before the first of up to ``n_rounds`` rounds."""
    if isinstance(training_set, GrownTrees):
        return EngineChips(rule, training_set.play_rounds(n_rounds), training_set.mass)
    return AskingChips(rule, training_set, n_rounds)
