"""What a booster is given: its settings, checked, and the examples that it predicts."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from dataclasses import fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.data.monotonic import directions, plain_constraints
from driftgames.boosting.face.fitted_face import FittedFace
from driftgames.boosting.face.input_checks import check_rows, encode_rows
from driftgames.boosting.face.parameters import SharedParameters
from driftgames.boosting.growth.shape import SETTINGS as SHAPE_SETTINGS
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.checks import check_flag, check_integer, is_real, shown
from driftgames.core.registry import choose
from driftgames.core.typing import IntArray

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

_GENERATORS = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)


class Settings(NamedTuple):
    """The settings of a fit."""

    n_estimators: int | None
    """The number of rounds; None if the examples choose it."""
    max_bins: int | None
    """The number of bins; None if it follows from the number of examples."""
    shape: TreeShape
    goes_on: bool
    """Whether an earlier fit goes on."""


class BoosterInput(SharedParameters, FittedFace, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn is untyped
    """A classifier that checks its settings and its examples."""

    n_estimators: int | str
    chooses_rounds: ClassVar[bool] = True
    """Whether ``n_estimators`` may be "auto"."""

    @abstractmethod
    def fit(self, *examples: Any, **settings: Any) -> Self:
        """Fit the booster; see `driftgames.boosting.fit.rounds`."""

    def _check_settings(self) -> Settings:
        """Return the settings, checked."""
        n_estimators = None
        if isinstance(self.n_estimators, str) and self.chooses_rounds:
            choose("n_estimators", self.n_estimators, {"auto": True})
        else:
            n_estimators = check_integer("n_estimators", self.n_estimators, least=1)
        max_bins = None
        if isinstance(self.max_bins, str):
            choose("max_bins", self.max_bins, {"auto": True})
        else:
            max_bins = check_integer("max_bins", self.max_bins, least=2)
            if max_bins > MOST_BINS:
                raise ValueError(f"max_bins must be at most {MOST_BINS}; got {max_bins}")
        self._check_stopping()
        if isinstance(self.ensemble, str):
            choose("ensemble", self.ensemble, {"auto": True})
        else:
            check_flag("ensemble", self.ensemble)
        if self.ensemble is True and (self.estimator is not None or self.warm_start):
            raise ValueError(
                "ensemble=True is for the built-in trees, without warm_start; got "
                f"estimator={shown(self.estimator)} and warm_start={self.warm_start}"
            )
        if not isinstance(self.random_state, (*_GENERATORS, type(None))):
            check_integer("random_state", self.random_state, least=0, limited=False)
        learner: Any = self.estimator
        if learner is not None and not (hasattr(learner, "fit") and hasattr(learner, "predict")):
            raise ValueError(
                f"estimator must be None, or have fit and predict; got {shown(learner)}"
            )
        goes_on = bool(self.warm_start and self.__sklearn_is_fitted__())
        shape = self._tree_shape()
        if goes_on:
            choice = self.record_.choice
            if choice is not None and shape.is_open:
                shape = replace(shape, max_leaves=choice.max_leaves)
            if n_estimators is None:
                n_estimators = self.n_iter_
        return Settings(n_estimators, max_bins, shape, goes_on)

    def _check_stopping(self) -> None:
        """Validate the settings of early stopping, even if they are unused."""
        if isinstance(self.early_stopping, str):
            choose("early_stopping", self.early_stopping, {"auto": True, "cv": True})
        else:
            check_flag("early_stopping", self.early_stopping)
        share: Any = self.validation_fraction
        whole = isinstance(share, numbers.Integral) and not isinstance(share, bool)
        if whole:
            check_integer("validation_fraction", share, least=1)
        elif share is not None and not (is_real(share) and 0 < share < 1):
            raise ValueError(
                "validation_fraction must be a number in (0, 1), a number of examples or None; "
                f"got {shown(share)}"
            )
        check_integer("n_iter_no_change", self.n_iter_no_change, least=1)
        if not (is_real(self.tol) and self.tol >= 0):
            raise ValueError(f"tol must be a number >= 0; got {shown(self.tol)}")
        _check_scoring(self.scoring)

    def _tree_shape(self) -> TreeShape:
        """Return the shape of the weak hypotheses, checked."""
        shape = TreeShape(**{name: getattr(self, name) for name in SHAPE_SETTINGS})
        if self.estimator is not None:
            usual: dict[str, Any] = {each.name: each.default for each in fields(self)}
            if shape != TreeShape(**{name: usual[name] for name in SHAPE_SETTINGS}):
                raise ValueError(
                    f"{', '.join(SHAPE_SETTINGS)} are for the built-in trees; "
                    f"got {shape} beside estimator={shown(self.estimator)}"
                )
        return shape

    def _directions(self, outline: FittedModel) -> IntArray | None:
        """Return the constraint of each column of a model, checked; None if there is none."""
        if self.monotonic_cst is None:
            return None
        n_classes, encoder = outline.classes.size, outline.encoder
        found = directions(self.monotonic_cst, outline.n_features, outline.feature_names)
        if not found.any():
            return None
        if self.estimator is not None or n_classes > 2:
            raise ValueError(
                "monotonic_cst is for two classes and the built-in stumps and trees; got it beside "
                f"{n_classes} classes and estimator={shown(self.estimator)}"
            )
        if encoder is None:
            return found
        for j, feature in enumerate(encoder.features):
            if feature is not None and found[j]:
                raise ValueError(f"monotonic_cst must be 0 for categories; feature {j} holds some")
        return np.asarray(found[encoder.feature])

    def binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds played depend on."""
        settings = self.get_params(deep=False)
        if isinstance(settings["categorical_features"], np.ndarray):
            settings["categorical_features"] = settings["categorical_features"].tolist()
        if self.monotonic_cst is not None:
            settings["monotonic_cst"] = plain_constraints(self.monotonic_cst)
        return {name: value for name, value in settings.items() if name not in _FREE}

    def _check_input(self, X: Any, *, finite: bool = True) -> Any:
        """Return examples to predict, as the columns that the weak hypotheses ask about.

        Without ``finite``, a plain array is not searched for infinities.
        """
        model = self.model_
        rows = check_rows(self, X, model.encoder, finite=finite)
        return rows if model.encoder is None else encode_rows(model, rows)

    def _twin(self, fitted: Fitted | None = None) -> Self:
        """Return another booster of these settings, fitted or not."""
        twin: Self = type(self)(**self.get_params(deep=False))
        return twin if fitted is None else twin.adopt(*fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        if self.estimator is not None:
            own = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = own.sparse, own.allow_nan
        return tags


def _check_scoring(scoring: Any) -> None:
    """Raise ValueError for what is neither a name of a score, nor a scorer, nor None."""
    if isinstance(scoring, str) and scoring != "loss":
        from sklearn.metrics import get_scorer_names  # slow to import

        if scoring not in get_scorer_names():
            raise ValueError(
                'scoring must be "loss" or a name of sklearn.metrics.get_scorer_names(); '
                f"got {shown(scoring)}"
            )
    elif not (scoring is None or isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            f"scoring must be a name, a scorer of scikit-learn or None; got {shown(scoring)}"
        )


def find_classes(y: Array) -> Array:
    """Return the labels in order; raise ValueError if there are fewer than two."""
    check_classification_targets(y)
    classes = np.unique(y)
    if classes.size < 2:
        raise ValueError(f"y must hold two classes or more; got one class only: {classes.tolist()}")
    return classes
