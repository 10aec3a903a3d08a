r"""Training sets: the examples, and the weak learner that finds hypotheses for them.

A booster with equal votes needs to know how often each example has erred. With one vote per round
an example's weight depends on its number of mistakes ``k`` alone: these are `MistakeCounts`.
`RowCounts` keep one number for each example and serve every weak learner. The engine of trees has
positions of its own (`driftgames.boosting.growth.positions`).

A booster whose votes differ in weight needs to know the total of each example,
:math:`F_i = \sum_t \alpha_t y_i h_t(x_i)`, which weighs :math:`e^{-F_i}`. `RowVotes` keep them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array, BitArray
from driftgames.certificates.margins import Margins
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class RowSet(ABC):
    """Examples that are at hand one by one, and a weak learner for them."""

    integer_weights: bool
    """Whether the sample weights are exact, and not rounded fractions."""
    positive: BoolArray
    """Which examples are of class 1."""
    sample_weights: IntArray
    """How much each example counts."""

    @abstractmethod
    def best(self, weights: IntArray) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the hypothesis ``h`` found."""

    @abstractmethod
    def votes(self, hypothesis: Any) -> BitArray:
        """Return the vote on every example: 1 for +1 and 0 for -1."""

    def to_values(self, chosen: list[Any]) -> Any:
        """Return the hypotheses chosen as the model keeps them: `Stumps`, `Trees` or a list."""
        return chosen

    def to_bins(self, hypotheses: Any) -> list[Any]:
        """Return the hypotheses of a model as they were chosen."""
        return list(hypotheses)

    @property
    def masses(self) -> list[int]:
        """The mass of each class."""
        heavy = int(self.sample_weights[self.positive].sum())
        return [int(self.sample_weights.sum()) - heavy, heavy]

    def count_mistakes(self, n_rounds: int) -> MistakeCounts:
        """Return one number of mistakes for each example; ``n_rounds`` are planned."""
        return RowCounts(self)

    def add_votes(self) -> RowVotes:
        """Return one total of votes for each example."""
        return RowVotes(self)


class MistakeCounts(ABC):
    """Examples that are known by their numbers of mistakes."""

    error: float | None = None
    """The share of examples that the vote gets wrong; None if the numbers of mistakes tell."""

    @abstractmethod
    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each from there on.

        The mass is the sum of the sample weights; the array has the shape ``(2, n_numbers)``.
        """

    @abstractmethod
    def best(self, first: int, weights: Any) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best hypothesis ``h``.

        ``weights[k - first]`` is the weight of an example with ``k`` mistakes: an integer, or a
        float that is rounded after it is multiplied by the sample weight.
        """

    @abstractmethod
    def move(self, hypothesis: Any) -> MistakeCounts:
        """Count the mistakes of a hypothesis; return the counts that the next round uses."""


class AsksAhead(MistakeCounts):
    """Counts that are elsewhere: they ask for a move and for the sums after it at once."""

    @abstractmethod
    def expect(self, first: int, weights: Any) -> None:
        """Take what `best` will likely be called with after the next move."""


class RowCounts(MistakeCounts):
    """One number of mistakes for each example, for any weak learner."""

    def __init__(self, training_set: RowSet, mistakes: IntArray | None = None) -> None:
        self._training_set = training_set
        self._labels = training_set.positive.astype(np.int64)
        self._mistakes = np.zeros_like(self._labels) if mistakes is None else mistakes

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        first, last = int(self._mistakes.min()), int(self._mistakes.max())
        masses = np.zeros((2, last - first + 1), dtype=np.int64)
        _add_masses(self._mistakes, self._labels, self._training_set.sample_weights, first, masses)
        return first, masses

    def best(self, first: int, weights: Any) -> tuple[int, int, Any]:
        """Return the weak learner's answer to weights by number of mistakes."""
        weighted = self._training_set.sample_weights * weights[self._mistakes - first]
        if weighted.dtype != np.int64:
            weighted = np.rint(weighted).astype(np.int64)
        return self._training_set.best(weighted)

    def move(self, hypothesis: Any) -> RowCounts:
        """Count the mistakes of a hypothesis."""
        self._mistakes += self._training_set.votes(hypothesis) != self._labels
        return self


class Standing(NamedTuple):
    """Where the examples stand: their lowest total, and the mass that the vote gets wrong."""

    lowest: float
    wrong: int


class RowVotes:
    """One total for each example, for any weak learner.

    In a round its methods are called in this order. `SharedVotes` has the same ones for examples
    that are elsewhere.
    """

    def __init__(self, training_set: RowSet) -> None:
        self._training_set = training_set
        prior, integers = training_set.sample_weights, training_set.integer_weights
        # an integer weight is a number of copies, and any other a factor of the example's weight
        self._copies = prior if integers else np.minimum(prior, 1)
        self._prior = (self._copies > 0 if integers else prior).astype(np.float64)
        self._sign = np.where(training_set.positive, 1.0, -1.0)
        self._votes = np.zeros(prior.size)
        self._each = self._votes

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of examples, and the sum of the sample weights."""
        return int(self._copies.sum()), int(self._training_set.sample_weights.sum())

    def standing(self) -> Standing:
        """Return where the examples stand."""
        wrong = (self._votes > 0) != self._training_set.positive
        return Standing(self._lowest(), int(self._training_set.sample_weights[wrong].sum()))

    def _lowest(self) -> float:
        """Return the lowest total of an example that is not held out."""
        totals = self._sign * self._votes
        return float(totals.min(where=self._copies > 0, initial=np.inf))

    def votes_so_far(self) -> FloatArray:
        """Return the sum of the votes on every row."""
        return self._votes.copy()

    def heaviest(self, lowest: float) -> float:
        """Weigh the examples relative to the lowest total; return the largest weight."""
        # totals of examples that are held out may be lower
        self._each = self._prior * exp_all(np.minimum(lowest - self._sign * self._votes, 0.0))
        return float(self._each.max())

    def measure(self, heaviest: float, unit: float) -> int:
        """Return the sum of the weights, in units, each rounded down."""
        return int((self._copies * (self._each / heaviest / unit).astype(np.int64)).sum())

    def best(self, heaviest: float, unit: float) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best hypothesis ``h``.

        The weights are in units, rounded, and at least 1.
        """
        return self._training_set.best(self.weights(heaviest, unit))

    def value(self, heaviest: float, unit: float, hypothesis: Any) -> tuple[int, int]:
        """Return the sums for one hypothesis."""
        weights = self.weights(heaviest, unit)
        right = self._training_set.votes(hypothesis) == self._training_set.positive
        norm = int(weights.sum())
        return 2 * int(weights[right].sum()) - norm, norm

    def add(self, hypothesis: Any, alpha: float) -> Standing:
        """Add the votes of a hypothesis; return where the examples stand."""
        self._votes += alpha * (2.0 * self._training_set.votes(hypothesis) - 1.0)
        return self.standing()

    def margins(self, all_votes: float) -> Margins:
        """Return the totals over ``all_votes``, rounded up to hundredths."""
        counts = self._copies > 0
        margins = (self._sign * self._votes)[counts] / all_votes
        return Margins.on_grid(margins, self._training_set.sample_weights[counts])

    def weights(self, heaviest: float, unit: float) -> IntArray:
        """Return the weights of all examples in units, rounded, and at least 1."""
        units = np.maximum(np.rint(self._each / heaviest / unit), 1.0).astype(np.int64)
        return np.asarray(self._copies * units)


@kernel
def _add_masses(mistakes: Array, labels: Array, weights: Array, first: int, masses: Array) -> None:
    """Add the weight of each example to ``masses[label, mistakes - first]``."""
    for i in range(mistakes.size):
        masses[labels[i], mistakes[i] - first] += weights[i]
