"""More than two classes: chips are pairs of an example and a label (see `several_classes`)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from driftgames.boosting.growth.training_set import RowCounts, RowSet, RowVotes, Standing
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class PairTrainingSet(RowSet):
    """Examples as pairs; subclasses have the weak learner. ``labels`` number the classes."""

    def __init__(
        self, labels: IntArray, n_classes: int, example_weights: IntArray, integer_weights: bool
    ) -> None:
        self.labels = labels
        self.n_classes = n_classes
        self.example_weights = example_weights
        self.integer_weights = integer_weights

    @cached_property
    def positive(self) -> BoolArray:  # type: ignore[override]  # found when asked for
        """Which pairs are of an example and its own label."""
        return np.asarray(self.labels[:, None] == np.arange(self.n_classes)).reshape(-1)

    @cached_property
    def sample_weights(self) -> IntArray:  # type: ignore[override]
        """How much each pair counts."""
        copies = np.where(self.positive, self.n_classes - 1, 1)
        return np.asarray(copies * np.repeat(self.example_weights, self.n_classes))

    @property
    def masses(self) -> list[int]:
        """The mass of each class."""
        return [int(self.example_weights[self.labels == k].sum()) for k in range(self.n_classes)]

    def count_mistakes(self, n_rounds: int) -> PairCounts:
        """Return one number of mistakes for each pair."""
        return PairCounts(self)

    def add_votes(self) -> PairVotes:
        """Return one total for each pair."""
        return PairVotes(self)


class PairCounts(RowCounts):
    """One number of mistakes for each pair."""

    _training_set: PairTrainingSet

    def __init__(self, training_set: PairTrainingSet) -> None:
        super().__init__(training_set)
        self._n_rounds = 0
        self.error = 0.0

    def move(self, hypothesis: Any) -> PairCounts:
        """Count the mistakes of a hypothesis; a tied vote is for the lowest label."""
        super().move(hypothesis)
        self._n_rounds += 1
        pairs = self._training_set
        mistakes = self._mistakes.reshape(-1, pairs.n_classes)
        own = pairs.positive.reshape(mistakes.shape)
        ups = np.where(own, self._n_rounds - mistakes, mistakes)  # how many votes were +1
        wrong = int(pairs.example_weights[ups.argmax(axis=1) != pairs.labels].sum())
        self.error = wrong / int(pairs.example_weights.sum())
        return self


class PairVotes(RowVotes):
    """One total for each pair; the mass is that of examples."""

    _training_set: PairTrainingSet

    def masses(self) -> tuple[int, int]:
        """Return the number of copies of pairs, and the sum of the sample weights."""
        return int(self._copies.sum()), int(self._training_set.example_weights.sum())

    def standing(self) -> Standing:
        """Return the lowest total of a pair, and the mass of examples that the vote gets wrong."""
        pairs = self._training_set
        chosen = self._votes.reshape(-1, pairs.n_classes).argmax(axis=1)  # the first of equals
        mass = int(pairs.example_weights[chosen != pairs.labels].sum())
        return Standing(self._lowest(), mass)

    def votes_so_far(self) -> FloatArray:
        """Return the sum of the votes on every row for every label."""
        return super().votes_so_far().reshape(-1, self._training_set.n_classes)
