"""A booster as scikit-learn sees it: its parameters, its fitted attributes and its tags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags

from driftgames.boosting.data.monotonic import plain_constraints
from driftgames.boosting.face.fitted_face import FittedFace
from driftgames.boosting.face.parameters import SharedParameters
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.model.training_record import Fitted
from driftgames.boosting.weights.example_chips import ExampleChips

_FREE = {
    "calibrate",
    "ensemble",
    "estimator",
    "n_estimators",
    "n_iter_no_change",
    "n_jobs",
    "random_state",
    "scoring",
    "tol",
    "verbose",
    "warm_start",
}
"""Settings that may change when a fit goes on. An `estimator` may be replaced by another one."""


class BoosterInput(SharedParameters, FittedFace, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn is untyped
    """A classifier by vote of weak hypotheses; subclasses say how the examples are weighed."""

    n_estimators: int | str
    chooses_rounds: ClassVar[bool] = True
    """Whether ``n_estimators`` may be "auto"."""

    @abstractmethod
    def fit(self, *examples: Any, **settings: Any) -> Self:
        """Fit the booster; see `driftgames.boosting.fit.memory_fit`."""

    @abstractmethod
    def place_chips(self, training_set: TrainingSet, n_rounds: int) -> ExampleChips:
        """Return the examples as chips before the first of up to ``n_rounds`` rounds."""

    def binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds played depend on."""
        settings = self.get_params(deep=False)
        if isinstance(settings["categorical_features"], np.ndarray):
            settings["categorical_features"] = settings["categorical_features"].tolist()
        if self.monotonic_cst is not None:
            settings["monotonic_cst"] = plain_constraints(self.monotonic_cst)
        return {name: value for name, value in settings.items() if name not in _FREE}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


_Booster = TypeVar("_Booster", bound=BoosterInput)


def twin_of(booster: _Booster, fitted: Fitted | None = None) -> _Booster:
    """Return another booster of the same settings, fitted or not."""
    twin = type(booster)(**booster.get_params(deep=False))
    return twin if fitted is None else twin.adopt(*fitted)
