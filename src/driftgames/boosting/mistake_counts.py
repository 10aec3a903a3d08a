"""How often the examples have erred: all that a booster with equal votes needs to know.

With one vote per round an example's weight depends on its number of mistakes ``k`` alone. Two
classes implement this interface: `RowCounts` keeps one number for each example and serves every
weak learner; `driftgames.boosting.tally.Tally` counts in every bin and serves stumps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames.boosting.bins import Array
from driftgames.core.typing import IntArray

if TYPE_CHECKING:
    from driftgames.boosting.training_set import RowSet


class MistakeCounts(ABC):
    """Examples that are known by their numbers of mistakes."""

    @property
    def error(self) -> float | None:
        """The share of examples that the vote gets wrong; None if the numbers of mistakes tell."""
        return None

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


@kernel
def _add_masses(mistakes: Array, labels: Array, weights: Array, first: int, masses: Array) -> None:
    """Add the weight of each example to ``masses[label, mistakes - first]``."""
    for i in range(mistakes.size):
        masses[labels[i], mistakes[i] - first] += weights[i]
