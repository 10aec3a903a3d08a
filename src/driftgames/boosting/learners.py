"""Weak learners that weigh every example: exhaustive stumps, or any scikit-learn classifier."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.dummy import DummyClassifier

from driftgames.boosting.binning import IntArray
from driftgames.boosting.table import Stump, Table
from driftgames.core.typing import FloatArray

BitArray = npt.NDArray[np.uint8]


class WeakLearner(Protocol):
    """What finds a weak hypothesis for weighted examples."""

    positive: npt.NDArray[np.bool_]
    """Which examples are of class 1."""
    mass: IntArray
    """How much each example counts."""

    def best(self, weights: IntArray) -> tuple[int, int, Any]:
        """Return ``sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the hypothesis ``h`` found."""

    def votes(self, hypothesis: Any) -> BitArray:
        """Return the vote on every example: 1 for +1 and 0 for -1."""


class StumpLearner:
    """The exhaustive stump, adding up weights over all rows that have any."""

    def __init__(self, table: Table, pool: Executor | None = None, n_shares: int = 1) -> None:
        self._table = table
        self._pool = pool
        self._n_sums = table.n_codes + 2
        self._ends = np.linspace(0, table.n_rows, n_shares + 1).astype(np.int64).tolist()
        self.positive = np.arange(table.n_rows) >= table.split
        self.mass = table.mass

    def best(self, weights: IntArray) -> tuple[int, int, Stump]:
        """Return the largest sum over all stumps, and its stump."""

        def add(begin: int, end: int) -> IntArray:
            sums = np.zeros(self._n_sums, dtype=np.int64)
            self._table.add_weights(weights, begin, end, sums)
            return sums

        run = map if self._pool is None else self._pool.map
        parts = list(run(add, self._ends[:-1], self._ends[1:]))
        return self._table.best_stump(np.sum(parts, axis=0))

    def votes(self, hypothesis: Stump) -> BitArray:
        """Return a stump's vote on every row."""
        return self._table.votes(hypothesis)


class ConstantVote(DummyClassifier):  # type: ignore[misc]  # sklearn is untyped
    """The vote for one class on every example, which asks about no feature."""

    @property
    def feature_importances_(self) -> FloatArray:
        """Zero for every feature."""
        return np.zeros(self.n_features_in_)


class EstimatorLearner:
    """A scikit-learn classifier, fitted afresh in every round on the examples that weigh.

    Where those are all of one class, which many classifiers refuse to be fitted on, the
    hypothesis is the `ConstantVote` for that class.

    Parameters
    ----------
    estimator : classifier
        Cloned for every round; its ``fit`` takes ``sample_weight``.
    X, y : the examples
        As the classifier shall see them.
    classes : array of two labels
        The first is -1, the second +1.
    mass : array of int64
        How much each example counts.
    seeds : iterator of int
        One for each round, for estimators that have a ``random_state``.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        mass: IntArray,
        seeds: Iterator[int],
    ) -> None:
        from sklearn.utils.validation import has_fit_parameter

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
        self.positive = y == classes[1]
        self.mass = mass

    def best(self, weights: IntArray) -> tuple[int, int, Any]:
        """Return the sums for the classifier fitted on the examples of nonzero weight."""
        heavy = np.flatnonzero(weights)
        seed = next(self._seeds)  # one for each round, so that a fit that goes on draws alike
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

    def _seeded(self, seed: int) -> Any:
        from sklearn.base import clone

        fresh = clone(self._estimator)
        if "random_state" in fresh.get_params():
            fresh.set_params(random_state=seed)
        return fresh


def votes_of(hypothesis: Any, X: Any, classes: npt.NDArray[Any]) -> BitArray:
    """Return a fitted classifier's vote on each row: 1 for ``classes[1]``, 0 for ``classes[0]``."""
    labels = np.asarray(hypothesis.predict(X))
    up = labels == classes[1]
    known = up | (labels == classes[0])
    if not np.all(known):
        raise ValueError(
            f"estimator must predict one of the classes {classes.tolist()}; "
            f"{type(hypothesis).__name__} predicted {labels[~known][0]!r}"
        )
    return np.asarray(up, dtype=np.uint8)


def draw_seeds(random_state: Any, *, used: int) -> Iterator[int]:
    """Return a seed for each round that follows ``used`` rounds.

    A generator has moved on by as many draws itself; from a seed they are drawn again.
    """
    generators = (np.random.RandomState, np.random.Generator, np.random.BitGenerator)
    moves_itself = isinstance(random_state, generators)
    if isinstance(random_state, np.random.RandomState):
        draw: Any = random_state.randint
    else:
        draw = np.random.default_rng(random_state).integers
    seeds = (int(draw(2**31 - 1)) for _ in itertools.count())
    return itertools.islice(seeds, 0 if moves_itself else used, None)
