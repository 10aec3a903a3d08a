"""What explanations read: tables that follow from the weak hypotheses.

There is one kind for each kind of hypotheses, and all answer the same questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

from driftgames.boosting.model.additive import AdditiveModel
from driftgames.boosting.model.explanation import Explanation, ShapeFunction
from driftgames.boosting.model.tree_model import PairModel, TreeModel

_INTERACT = (
    "only a booster of the built-in stump is an additive model (max_leaves=2); this one was fitted "
    "with trees, whose questions interact"
)

Shapes = dict[int, ShapeFunction]
"""The step function of each column that has a vote."""


class Tables(ABC):
    """The votes of all weak hypotheses of a model, by the columns that they ask about."""

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


def _turned(explanation: Explanation, label: int) -> Explanation:
    """Return the explanation for the first of two classes, if it is asked for."""
    if label != 0:
        return explanation
    return replace(explanation, votes=-explanation.votes, base=-explanation.base)
