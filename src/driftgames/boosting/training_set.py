"""Training sets: the examples, and the weak learner that finds hypotheses for them.

`TrainingSet` is what a booster asks of them. `driftgames.boosting.binned_training_set` serves the
exhaustive stump, and `EstimatorTrainingSet` any scikit-learn classifier.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from driftgames.boosting.bins import Array, BitArray
from driftgames.boosting.mistake_counts import MistakeCounts, RowCounts
from driftgames.boosting.vote_totals import RowVotes
from driftgames.core.checks import shown
from driftgames.core.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from driftgames.boosting.shared_training_set import SharedVotes


class TrainingSet(Protocol):
    """Examples and a weak learner for them: what a booster needs."""

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact, and not rounded fractions."""

    def count_mistakes(self) -> MistakeCounts:
        """Return the counts before the first round."""

    def add_votes(self) -> RowVotes | SharedVotes:
        """Return the votes on the examples before the first round: none."""

    def to_values(self, chosen: list[Any]) -> Any:
        """Return the hypotheses chosen as the model keeps them: `Stumps`, `Trees` or a list."""


class RowSet(ABC):
    """Examples that are at hand one by one, and a weak learner for them."""

    integer_weights: bool
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

    @abstractmethod
    def to_values(self, chosen: list[Any]) -> Any:
        """Return the hypotheses chosen as the model keeps them: `Stumps`, `Trees` or a list."""

    def count_mistakes(self) -> MistakeCounts:
        """Return one number of mistakes for each example."""
        return RowCounts(self)

    def add_votes(self) -> RowVotes:
        """Return one total of votes for each example."""
        return RowVotes(self)


class ConstantVote(DummyClassifier):  # type: ignore[misc]  # sklearn is untyped
    """The vote for one class on every example; it looks at no feature."""

    @property
    def feature_importances_(self) -> FloatArray:
        """Zero for every feature."""
        return np.zeros(self.n_features_in_)


class EstimatorTrainingSet(RowSet):
    """Examples for a scikit-learn classifier, fitted in every round to those of nonzero weight.

    Many classifiers refuse examples of a single class. If only one class has weight, the
    hypothesis is the `ConstantVote` for it.

    The first of two ``classes`` is -1, the second +1. ``seeds`` has one for each round, for
    estimators that have a ``random_state``.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Array,
        classes: Array,
        sample_weights: IntArray,
        integer_weights: bool,
        seeds: Iterator[int],
    ) -> None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"estimator must take sample_weight in fit; {type(estimator).__name__} does not"
            )
        self._estimator = estimator
        self._X = X
        self._y = y
        self._classes = classes
        self._seeds = seeds
        self._last: tuple[Any, BitArray] | None = None
        self.positive = np.asarray(y == classes[1])
        self.sample_weights = sample_weights
        self.integer_weights = integer_weights

    def best(self, weights: IntArray) -> tuple[int, int, Any]:
        """Return the sums for the classifier fitted to the examples of nonzero weight."""
        heavy = np.flatnonzero(weights)
        seed = next(self._seeds)  # one for each round, so that a continued fit draws the same
        both = np.ptp(self.positive[heavy].astype(np.int8)) > 0
        fitted = self._seeded(seed) if both else ConstantVote(strategy="most_frequent")
        norm = int(weights.sum())
        share = weights[heavy] / norm
        fitted.fit(self._X[heavy], self._y[heavy], sample_weight=share)
        right = self.votes(fitted) == self.positive
        return 2 * int(weights[right].sum()) - norm, norm, fitted

    def votes(self, hypothesis: Any) -> BitArray:
        """Return a fitted classifier's vote on every example."""
        if self._last is None or self._last[0] is not hypothesis:
            self._last = hypothesis, votes_of(hypothesis, self._X, self._classes)
        return self._last[1]

    def to_values(self, chosen: list[Any]) -> list[Any]:
        """Return the fitted classifiers."""
        return chosen

    def _seeded(self, seed: int) -> Any:
        fresh = clone(self._estimator)
        if "random_state" in fresh.get_params():
            fresh.set_params(random_state=seed)
        return fresh


def votes_of(hypothesis: Any, X: Any, classes: Array) -> BitArray:
    """Return a fitted classifier's vote on each row: 1 for ``classes[1]``, 0 for ``classes[0]``."""
    labels = np.asarray(hypothesis.predict(X))
    up = labels == classes[1]
    known = up | (labels == classes[0])
    if not np.all(known):
        raise ValueError(
            f"estimator must predict one of the classes {classes.tolist()}; "
            f"{type(hypothesis).__name__} predicted {shown(labels[~known][0])}"
        )
    return np.asarray(up, dtype=np.uint8)


def draw_seeds(random_state: Any, *, used: int) -> Iterator[int]:
    """Return a seed for each round that follows ``used`` rounds.

    A generator has already made these draws itself. From a seed they are drawn again.
    """
    generators = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
    if isinstance(random_state, np.random.RandomState):
        draw: Any = random_state.randint
    else:
        draw = np.random.default_rng(random_state).integers
    seeds = (int(draw(2**31 - 1)) for _ in itertools.count())
    return itertools.islice(seeds, 0 if isinstance(random_state, generators) else used, None)
