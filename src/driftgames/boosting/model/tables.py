"""What predictions and explanations read: tables that follow from the weak hypotheses.

There is one kind for each kind of hypotheses, and all answer the same questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.additive import AdditiveModel, Explanation, ShapeFunction
from driftgames.boosting.model.tree_model import PairModel, TreeModel
from driftgames.boosting.model.trees import Trees
from driftgames.boosting.model.votes import cast_votes
from driftgames.core.typing import FloatArray

_INTERACT = (
    "only a booster of the built-in stump is an additive model (max_leaves=2); this one was fitted "
    "with trees, whose questions interact"
)

Shapes = dict[int, ShapeFunction]
"""The step function of each column that has a vote."""


class Tables(ABC):
    """The votes of all weak hypotheses of a model, added up."""

    built_in = True
    """Whether the hypotheses are the library's own stumps or trees."""

    @abstractmethod
    def scores(
        self, X: Any, *, n_threads: int, divisor: float | None = None, finite: bool = False
    ) -> Array:
        """Return the sums of votes; the keywords are those of `AdditiveModel.scores`."""

    @abstractmethod
    def gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share what each hypothesis gained among the columns that it asks about."""

    @property
    @abstractmethod
    def additive(self) -> AdditiveModel:
        """The votes as one function of each column; AttributeError if they are none."""

    def shapes(self) -> list[Shapes]:
        """Return the step functions of the columns; of several classes, those of each."""
        return [self.additive.shape_functions]

    @abstractmethod
    def explain(self, row: Any, label: int) -> Explanation:
        """Return the votes of the columns on one row for one class, given by its number."""

    @property
    def bases(self) -> list[float]:
        """The part of the scores of each class that no column decides."""
        return [0.0]


@dataclass(frozen=True, eq=False)
class StumpTables(Tables):
    """Stumps of two classes: one step function for each column."""

    model: AdditiveModel
    asked: Array
    """The column of each stump."""

    def scores(self, X: Any, **settings: Any) -> Array:
        """Return the sums of votes."""
        return self.model.scores(X, **settings)

    def gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Give each column what its stumps gained."""
        shares = np.zeros(n_columns)
        np.add.at(shares, self.asked, gains)
        return shares

    @property
    def additive(self) -> AdditiveModel:
        """The model itself."""
        return self.model

    def explain(self, row: Any, label: int) -> Explanation:
        """Return the values of the step functions."""
        return _turned(self.model.explain(row), label)


@dataclass(frozen=True, eq=False)
class TreeTables(Tables):
    """Trees of two classes."""

    model: TreeModel

    def scores(self, X: Any, **settings: Any) -> Array:
        """Return the sums of votes."""
        return self.model.scores(X, **settings)

    def gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share the gains among the questions of each tree."""
        return _share_gains(self.model.trees, gains, n_columns)

    @property
    def additive(self) -> AdditiveModel:
        """Questions of a tree interact."""
        raise AttributeError(_INTERACT)

    def explain(self, row: Any, label: int) -> Explanation:
        """Credit the votes to the questions on the way of the row."""
        return _turned(self.model.explain(row), label)


@dataclass(frozen=True, eq=False)
class PairTables(Tables):
    """Stumps or trees of several classes."""

    model: PairModel

    def scores(self, X: Any, **settings: Any) -> Array:
        """Return the sums of votes, a column for each class."""
        return self.model.scores(X, **settings)

    def gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share the gains among the questions of each tree."""
        return _share_gains(self.model.trees, gains, n_columns)

    @property
    def _of_stumps(self) -> bool:
        return bool((self.model.trees.n_nodes <= 3).all())

    @property
    def additive(self) -> AdditiveModel:
        """There is none, or one for each class."""
        if self._of_stumps:
            raise AttributeError(
                f"there is one additive model for each of {self.model.n_classes} classes: "
                "shape_functions_ has their step functions"
            )
        raise AttributeError(_INTERACT)

    def shapes(self) -> list[Shapes]:
        """Return the step functions of each class."""
        if not self._of_stumps:
            return super().shapes()
        return [self.model.shape_functions(k) for k in range(self.model.n_classes)]

    def explain(self, row: Any, label: int) -> Explanation:
        """Credit the votes for the class to the questions on the way of the row."""
        return self.model.of_class(label).explain(row)

    @property
    def bases(self) -> list[float]:
        """The part of the scores of each class that no column decides."""
        return [self.model.of_class(k).base for k in range(self.model.n_classes)]


@dataclass(frozen=True, eq=False)
class EstimatorTables(Tables):
    """Fitted classifiers of another library: they only vote."""

    built_in = False

    estimators: Sequence[Any]
    vote_weights: FloatArray
    classes: Array

    def scores(
        self, X: Any, *, n_threads: int, divisor: float | None = None, finite: bool = False
    ) -> Array:
        """Add up the votes in the order of the rounds."""
        n_classes = self.classes.size
        scores = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for weight, estimator in zip(self.vote_weights, self.estimators, strict=True):
            scores += weight * cast_votes(estimator, X, self.classes)
        return np.asarray(scores / (divisor or 1.0))

    def gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share the gains by the importances of each classifier; those of classes are equal."""
        shares = np.zeros(n_columns)
        for gain, h in zip(gains, self.estimators, strict=True):
            for each in h if isinstance(h, list) else [h]:
                shares += gain * each.feature_importances_
        return shares

    @property
    def additive(self) -> AdditiveModel:
        """Nothing is known of their votes."""
        raise AttributeError(
            "only a booster of the built-in stump is an additive model; "
            "this one was fitted with another estimator"
        )

    def explain(self, row: Any, label: int) -> Explanation:
        """Say that there is no explanation."""
        return self.additive.explain(row)


def _turned(explanation: Explanation, label: int) -> Explanation:
    """Return the explanation for the first of two classes, if it is asked for."""
    if label != 0:
        return explanation
    return replace(explanation, votes=-explanation.votes, base=-explanation.base)


def _share_gains(trees: Trees, gains: FloatArray, n_columns: int) -> FloatArray:
    """Share the gain of each tree among its questions, in proportion to theirs."""
    shares, asks = np.zeros(n_columns), trees.left > 0
    of_tree = np.repeat(np.arange(len(trees)), trees.n_nodes)
    sums = np.bincount(of_tree, weights=trees.gain, minlength=len(trees))
    parts = (trees.gain / np.where(sums > 0, sums, 1.0)[of_tree])[asks]
    np.add.at(shares, trees.feature[asks], gains[of_tree[asks]] * parts)
    return shares


def split(hypotheses: Any) -> Iterator[Any]:
    """Yield the weak hypotheses one by one, as `cast_votes` takes them."""
    if isinstance(hypotheses, tuple):
        yield from hypotheses
        return
    for t in range(len(hypotheses)):
        yield hypotheses[t : t + 1]
