r"""The votes on the examples: all that a booster with votes of different weights needs to know.

The total of an example is :math:`F_i = \sum_t \alpha_t y_i h_t(x_i)`, and it weighs
:math:`e^{-F_i}`. `RowVotes` keeps one total for each example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames.certificates.margins import Margins
from driftgames.core.typing import IntArray

if TYPE_CHECKING:
    from driftgames.boosting.training_set import RowSet


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
        self._copies = prior if integers else np.ones_like(prior)
        self._prior = 1.0 if integers else prior.astype(np.float64)
        self._sign = np.where(training_set.positive, 1.0, -1.0)
        self._votes = np.zeros(prior.size)
        self._each = self._votes

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of examples, and the sum of the sample weights."""
        return int(self._copies.sum()), int(self._training_set.sample_weights.sum())

    def standing(self) -> Standing:
        """Return where the examples stand."""
        wrong = (self._votes > 0) != self._training_set.positive
        mass = int(self._training_set.sample_weights[wrong].sum())
        return Standing(float((self._sign * self._votes).min()), mass)

    def heaviest(self, lowest: float) -> float:
        """Weigh the examples relative to the lowest total; return the largest weight."""
        self._each = self._prior * exp_all(lowest - self._sign * self._votes)
        return float(self._each.max())

    def measure(self, heaviest: float, unit: float) -> int:
        """Return the sum of the weights, in units, each rounded down."""
        return int((self._copies * (self._each / heaviest / unit).astype(np.int64)).sum())

    def best(self, heaviest: float, unit: float) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best hypothesis ``h``.

        The weights are in units, rounded, and at least 1.
        """
        return self._training_set.best(self._weights(heaviest, unit))

    def value(self, heaviest: float, unit: float, hypothesis: Any) -> tuple[int, int]:
        """Return the sums for one hypothesis."""
        weights = self._weights(heaviest, unit)
        right = self._training_set.votes(hypothesis) == self._training_set.positive
        norm = int(weights.sum())
        return 2 * int(weights[right].sum()) - norm, norm

    def add(self, hypothesis: Any, alpha: float) -> Standing:
        """Add the votes of a hypothesis; return where the examples stand."""
        self._votes += alpha * (2.0 * self._training_set.votes(hypothesis) - 1.0)
        return self.standing()

    def margins(self, all_votes: float) -> Margins:
        """Return the totals over ``all_votes``, rounded up to hundredths."""
        margins = self._sign * self._votes / all_votes
        return Margins.on_grid(margins, self._training_set.sample_weights)

    def _weights(self, heaviest: float, unit: float) -> IntArray:
        units = np.maximum(np.rint(self._each / heaviest / unit), 1.0).astype(np.int64)
        return np.asarray(self._copies * units)
