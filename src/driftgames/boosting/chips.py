"""Training examples as chips: where they stand, what they weigh, which hypothesis comes next.

Weights are integers in fixed point, with a binary point chosen in each round so that their sum is
just below 2**62. Sums of them are exact, so every comparison between hypotheses is too, whatever
the order of the examples or the number of threads.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from driftgames._kernels import stump_boosting as kernels
from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import dot
from driftgames.boosting.binning import IntArray
from driftgames.boosting.learners import WeakLearner
from driftgames.boosting.rules import Rule
from driftgames.certificates.margins import Margins

_SUM_BITS = 61
_VOTE_UNIT = 2.0**-32  # votes that are multiples of it add up exactly, in any order


class Chips(ABC):
    """The examples during a fit."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would be of no use."""

    @abstractmethod
    def propose(self) -> tuple[float, Any]:
        """Return the edge of the next hypothesis, and the hypothesis. [LS14, Alg. 6]"""

    @abstractmethod
    def accept(self, hypothesis: Any, edge: float) -> float:
        """Move the chips by a hypothesis and return the weight of its vote."""

    @abstractmethod
    def accept_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Accept a hypothesis of an earlier fit; return what `accept` does, and its edge here."""

    @property
    @abstractmethod
    def zero_share(self) -> float:
        """The share of examples that weigh nothing in the next round."""

    @property
    @abstractmethod
    def training_error(self) -> float:
        """The share of examples that the vote so far gets wrong; a tie is a vote for -1."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""


class Counts(Protocol):
    """Examples known by their numbers of mistakes: a `Tally`, or one number for each."""

    def masses(self) -> tuple[int, IntArray]:
        """Return the mass of each class at each number of mistakes, and the first number."""

    def best(self, first: int, weights: Any) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best hypothesis ``h``.

        ``weights[k - first]`` is the weight of an example with ``k`` mistakes: whole numbers,
        or floats that are rounded once they are multiplied by the mass of an example.
        """

    def move(self, hypothesis: Any) -> None:
        """Count the mistakes of a hypothesis."""


class MistakeCounts:
    """One number of mistakes for each example, for any weak learner."""

    def __init__(self, learner: WeakLearner, mistakes: IntArray | None = None) -> None:
        self._learner = learner
        self._labels = learner.positive.astype(np.int64)
        self._mistakes = np.zeros_like(self._labels) if mistakes is None else mistakes

    def masses(self) -> tuple[int, IntArray]:
        """Return the mass of each class at each number of mistakes, and the first number."""
        first, last = int(self._mistakes.min()), int(self._mistakes.max())
        width = last - first + 1
        cells = self._labels * width + (self._mistakes - first)
        # counted in floats, and exactly: the total mass is below 2**53
        masses = np.bincount(cells, weights=self._learner.mass, minlength=2 * width)
        return first, masses.astype(np.int64).reshape(2, width)

    def best(self, first: int, weights: Any) -> tuple[int, int, Any]:
        """Return the learner's answer to weights by number of mistakes."""
        weighted = self._learner.mass * weights[self._mistakes - first]
        if weighted.dtype != np.int64:
            weighted = np.rint(weighted).astype(np.int64)
        return self._learner.best(weighted)

    def move(self, hypothesis: Any) -> None:
        """Count the mistakes of a hypothesis."""
        self._mistakes += self._learner.votes(hypothesis) != self._labels


class CountedChips(Chips):
    """Examples that weigh by their number of mistakes.

    Parameters
    ----------
    rule : Rule
        What they weigh.
    counts : Counts
        How often they have erred.
    whole : bool
        Whether the masses of the examples are whole numbers, so that weights in fixed point can
        be found once for each number of mistakes.
    """

    def __init__(self, rule: Rule, counts: Counts, *, whole: bool) -> None:
        self._rule = rule
        self._counts = counts
        self._whole = whole
        self._edge_sum = 0.0
        self._total = int(counts.masses()[1].sum())
        self._weigh()

    def propose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the rule's weights."""
        weights = np.rint(self._weights).astype(np.int64) if self._whole else self._weights
        value, norm, hypothesis = self._counts.best(self._first, weights)
        return value / (2 * norm), hypothesis

    def accept(self, hypothesis: Any, edge: float) -> float:
        """Count mistakes; every vote weighs 1."""
        self._counts.move(hypothesis)
        self._edge_sum += edge
        self.n_rounds += 1
        self._weigh()
        return 1.0

    def accept_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Accept a hypothesis and tell its edge from the mass that moved."""
        first, held, weights = self._first, self._held, self._weights
        vote = self.accept(hypothesis, edge)
        after = np.zeros(held.size + 1, dtype=np.int64)
        begin = self._first - first
        after[begin : begin + self._held.size] = self._held
        erred = np.cumsum(held - after[:-1])  # whoever errs goes to the next number of mistakes
        value = dot(weights, (held - 2 * erred).astype(np.float64))
        return vote, value / (2 * dot(weights, held.astype(np.float64)))

    @property
    def zero_share(self) -> float:
        """The share of mass at numbers of mistakes that weigh nothing."""
        return self._zeros / self._total

    @property
    def training_error(self) -> float:
        """The share of mass that the vote gets wrong."""
        return self._wrong / self._total

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        mistakes = np.arange(self._first, self._first + self._held.size)[::-1]
        held = self._held[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[held > 0], held[held > 0])

    def _weigh(self) -> None:
        self._first, self._masses = self._counts.masses()
        self._held = self._masses[0] + self._masses[1]
        mistakes = np.arange(self._first, self._first + self._held.size)
        t = self.n_rounds + 1
        weights = self._rule.weights(mistakes, t, self._edge_sum, self._held)
        self._weights = np.empty(weights.size)
        self._zeros, self._wrong = kernels.appraise(
            weights, self._masses, self._first, self.n_rounds, _SUM_BITS, self._weights
        )


class ExponentialChips(Chips):
    r"""Examples that weigh :math:`e^{-F_i}`, where each vote adds to or takes from ``F_i``.

    .. math:: F_i = \sum_t \alpha_t y_i h_t(x_i), \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    This is discrete AdaBoost, the booster that the exponential potential gives. [LS14, Sec. 4]

    Notes
    -----
    In fixed point every example weighs at least one unit, the last bit of their sum, and an
    edge is rounded down to a multiple of ``2**-54``. So an edge of 1/2 means a hypothesis
    without a mistake, whose :math:`\alpha` would be infinite: it gets as many votes as all
    before it together and one more, and ends the fit. The largest other :math:`\alpha` is
    ``atanh(1 - 2**-53)``, about 18.7.

    Each :math:`\alpha_t` is rounded to a multiple of ``2**-32``: votes then add up exactly in
    any order, and an edge whose vote would round to zero is none.
    """

    def __init__(self, learner: WeakLearner, *, whole: bool) -> None:
        self._learner = learner
        # a whole mass is so many examples, and any other a factor of its example's weight
        self._copies = learner.mass if whole else np.ones_like(learner.mass)
        self._prior = 1.0 if whole else learner.mass.astype(np.float64)
        self._sign = np.where(learner.positive, 1.0, -1.0)
        self._votes = np.zeros(learner.mass.size)
        self._all_votes = 0.0

    def propose(self) -> tuple[float, Any]:
        """Return the best hypothesis for the exponential weights."""
        value, norm, hypothesis = self._learner.best(self._weights())
        edge = math.ldexp((value << 53) // norm, -54)
        return (edge if edge > 0 and _vote_weight(edge) > 0 else 0.0), hypothesis

    def accept(self, hypothesis: Any, edge: float) -> float:
        """Add the votes of a hypothesis and return how much they weigh."""
        self.finished = edge == 0.5
        alpha = self._all_votes + 1.0 if self.finished else _vote_weight(edge)
        self._votes += alpha * (2.0 * self._learner.votes(hypothesis) - 1.0)
        self._all_votes += alpha
        self.n_rounds += 1
        return alpha

    def accept_again(self, hypothesis: Any, edge: float) -> tuple[float, float]:
        """Accept a hypothesis and tell its edge from the weights before it."""
        weights = self._weights()
        right = self._learner.votes(hypothesis) == self._learner.positive
        norm = int(weights.sum())  # whole numbers, as below: the sum is exact in any order
        value = 2 * int(weights[right].sum()) - norm
        return self.accept(hypothesis, edge), value / (2 * norm)

    @property
    def zero_share(self) -> float:
        """Zero: each weighs a unit at least."""
        return 0.0

    @property
    def training_error(self) -> float:
        """The share of mass on the wrong side."""
        wrong = (self._votes > 0) != self._learner.positive
        return float(self._learner.mass[wrong].sum() / self._learner.mass.sum())

    def margins(self) -> Margins:
        """Return the margin of each example."""
        return Margins.of_examples(self._sign * self._votes / self._all_votes, self._learner.mass)

    def _weights(self) -> IntArray:
        """Return the weights in units: none is zero, and their sum has all its bits."""
        margins = self._sign * self._votes
        each = self._prior * exp_all(margins.min() - margins)
        each /= each.max()
        unit = 2.0 ** (int(self._copies.sum()).bit_length() - _SUM_BITS)
        # a first sum, in whole numbers so that no order matters, tells how many bits are free
        total = int((self._copies * (each / unit).astype(np.int64)).sum())
        unit *= 2.0 ** (total.bit_length() - _SUM_BITS)
        units: IntArray = np.maximum(np.rint(each / unit), 1.0).astype(np.int64)
        return self._copies * units


def _vote_weight(edge: float) -> float:
    if edge >= 0.5:
        return math.inf
    alpha = 0.5 * float(log_all(np.array([(0.5 + edge) / (0.5 - edge)]))[0])
    return round(alpha / _VOTE_UNIT) * _VOTE_UNIT
