"""Training sets whose weak learner is any scikit-learn classifier."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from driftgames.boosting.data.bins import Array, BitArray
from driftgames.boosting.growth.pair_training_set import PairTrainingSet
from driftgames.boosting.growth.training_set import RowSet
from driftgames.boosting.model.votes import IS_LABEL, votes_of
from driftgames.core.typing import FloatArray, IntArray


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
        fitted: Any = ConstantVote(strategy="most_frequent")
        if np.ptp(self.positive[heavy].astype(np.int8)) > 0:  # both classes have weight
            fitted = clone(self._estimator)
            if "random_state" in fitted.get_params():
                fitted.set_params(random_state=seed)
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


class EstimatorPairs(PairTrainingSet):
    """Pairs for a scikit-learn classifier: one clone for each label votes whether it is the label.

    The clones of a round are one weak hypothesis. Each takes a seed of its own. A label whose pairs
    all weigh zero has the constant vote -1.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        labels: IntArray,
        n_classes: int,
        example_weights: IntArray,
        integer_weights: bool,
        seeds: Iterator[int],
    ) -> None:
        super().__init__(labels, n_classes, example_weights, integer_weights)
        self._X = X
        given = example_weights, integer_weights, seeds
        self._of_label = [
            EstimatorTrainingSet(estimator, X, labels == label, IS_LABEL, *given)
            for label in range(n_classes)
        ]

    def best(self, weights: IntArray) -> tuple[int, int, list[Any]]:
        """Return the sums for clones that are fitted to the pairs of nonzero weight."""
        value = norm = 0
        hypothesis = []
        for one, mine in zip(self._of_label, weights.reshape(-1, self.n_classes).T, strict=True):
            if mine.any():
                gained, weight, fitted = one.best(mine)
                value, norm = value + gained, norm + weight
            else:
                fitted = ConstantVote(strategy="constant", constant=False)
                fitted.fit(self._X[:1], IS_LABEL[:1])
            hypothesis.append(fitted)
        return value, norm, hypothesis

    def votes(self, hypothesis: list[Any]) -> BitArray:
        """Return the votes of the clones of a round on every pair."""
        each = zip(self._of_label, hypothesis, strict=True)
        return np.stack([one.votes(fitted) for one, fitted in each], axis=1).reshape(-1)


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
