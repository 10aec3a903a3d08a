"""The examples during a fit as chips: their positions, their weights and the next hypothesis.

Weights are integers in fixed point. The binary point is chosen in each round so that their sum is
just below 2**62. Sums of them are exact, and so is every comparison between hypotheses: neither the
order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from driftgames._kernels.sums import dot
from driftgames.boosting.mistake_counts import CountsErrors
from driftgames.boosting.stump_kernels import scale_weights
from driftgames.boosting.training_set import TrainingSet
from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray, IntArray

SUM_BITS = 61
"""The number of bits in the sum of the weights of all examples."""


class Chips(ABC):
    """The examples during a fit: their positions, their weights and the next hypothesis."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""

    @abstractmethod
    def choose(self) -> tuple[float, Any]:
        """Return the edge of the next hypothesis, and the hypothesis. [LS14, Alg. 6]"""

    @abstractmethod
    def move(self, hypothesis: Any, edge: float) -> float:
        """Move the chips by a hypothesis and return the weight of its vote."""

    @abstractmethod
    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Move by a hypothesis of an earlier fit; return its vote, and its edge found anew."""

    @property
    @abstractmethod
    def zero_fraction(self) -> float:
        """The share of examples that weigh zero in the next round."""

    @property
    @abstractmethod
    def training_error(self) -> float:
        """The share of examples that the vote so far gets wrong; a tie is a vote for -1."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""


class MistakeWeights(ABC):
    r"""Weights of examples from their numbers of mistakes alone.

    With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
    :math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred.
    """

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all equal.

        ``mistakes`` ascends by ones, ``masses`` tells how many examples have made each of these
        numbers, and ``edge_sum`` is the sum of the edges so far.
        """


class CountedChips(Chips):
    """Examples that weigh by their number of mistakes; every vote weighs 1."""

    def __init__(self, rule: MistakeWeights, training_set: TrainingSet) -> None:
        self._rule = rule
        self._integer_weights = training_set.integer_weights
        self._counts = training_set.count_mistakes()
        self._edge_sum = 0.0
        self._total = int(self._counts.masses()[1].sum())
        self._weigh()

    def _weigh(self) -> None:
        """Weigh the examples for the next round."""
        self._first, masses = self._counts.masses()
        self._held = masses[0] + masses[1]
        mistakes = np.arange(self._first, self._first + self._held.size)
        weights = self._rule.weights(mistakes, self.n_rounds + 1, self._edge_sum, self._held)
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = scale_weights(
            weights, masses, self._first, self.n_rounds, SUM_BITS, self._weights
        )

    def choose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the rule's weights."""
        integers = self._integer_weights
        weights = np.rint(self._weights).astype(np.int64) if integers else self._weights
        value, norm, hypothesis = self._counts.best(self._first, weights)
        return value / (2 * norm), hypothesis

    def move(self, hypothesis: Any, edge: float) -> float:
        """Count the mistakes of a hypothesis."""
        self._counts = self._counts.move(hypothesis)
        self._edge_sum += edge
        self.n_rounds += 1
        self._weigh()
        return 1.0

    def move_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Find the edge from the mass that moved."""
        first, held, weights = self._first, self._held, self._weights
        vote = self.move(hypothesis, edge)
        after = np.zeros(held.size + 1, dtype=np.int64)
        begin = self._first - first
        after[begin : begin + self._held.size] = self._held
        erred = np.cumsum(held - after[:-1])  # an error moves an example to the next number
        value = dot(weights, (held - 2 * erred).astype(np.float64))
        return vote, value / (2 * dot(weights, held.astype(np.float64)))

    @property
    def zero_fraction(self) -> float:
        """The share of mass at numbers of mistakes that weigh zero."""
        return self._zeros / self._total

    @property
    def training_error(self) -> float:
        """The share of mass that the vote gets wrong."""
        if isinstance(self._counts, CountsErrors):
            return self._counts.error
        return self._wrong / self._total

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        mistakes = np.arange(self._first, self._first + self._held.size)[::-1]
        held = self._held[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[held > 0], held[held > 0])
