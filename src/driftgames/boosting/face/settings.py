"""The settings of a booster, checked: what a fit reads of them."""

from __future__ import annotations

import numbers
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.data.monotonic import directions
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.growth.shape import SETTINGS as SHAPE_SETTINGS
from driftgames.boosting.growth.shape import TreeShape
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.checks import check_flag, check_integer, is_real, shown
from driftgames.core.registry import choose
from driftgames.core.typing import IntArray

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
    cross_fits: bool
    """Whether votes on examples held out calibrate the booster or choose its rounds."""


def check_settings(booster: BoosterInput) -> Settings:
    """Return the settings of a fit; raise ValueError for one that is invalid."""
    n_estimators = None
    if isinstance(booster.n_estimators, str) and booster.chooses_rounds:
        choose("n_estimators", booster.n_estimators, {"auto": True})
    else:
        n_estimators = check_integer("n_estimators", booster.n_estimators, least=1)
    max_bins = None
    if isinstance(booster.max_bins, str):
        choose("max_bins", booster.max_bins, {"auto": True})
    else:
        max_bins = check_integer("max_bins", booster.max_bins, least=2)
        if max_bins > MOST_BINS:
            raise ValueError(f"max_bins must be at most {MOST_BINS}; got {max_bins}")
    _check_stopping(booster)
    if isinstance(booster.ensemble, str):
        choose("ensemble", booster.ensemble, {"auto": True})
    else:
        check_flag("ensemble", booster.ensemble)
    if booster.ensemble is True and (booster.estimator is not None or booster.warm_start):
        raise ValueError(
            "ensemble=True is for the built-in trees, without warm_start; got "
            f"estimator={shown(booster.estimator)} and warm_start={booster.warm_start}"
        )
    if not isinstance(booster.random_state, (*_GENERATORS, type(None))):
        check_integer("random_state", booster.random_state, least=0, limited=False)
    learner: Any = booster.estimator
    if learner is not None and not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise ValueError(f"estimator must be None, or have fit and predict; got {shown(learner)}")
    goes_on = bool(booster.warm_start and booster.__sklearn_is_fitted__())
    shape = _tree_shape(booster)
    if goes_on:
        choice = booster.record_.choice
        if choice is not None and shape.is_open:
            shape = replace(shape, max_leaves=choice.max_leaves)
        if n_estimators is None:
            n_estimators = booster.n_iter_
    cross_fits = check_flag("calibrate", booster.calibrate) or booster.early_stopping == "cv"
    return Settings(n_estimators, max_bins, shape, goes_on, cross_fits)


def _check_stopping(booster: BoosterInput) -> None:
    """Validate the settings of early stopping, even if they are unused."""
    if isinstance(booster.early_stopping, str):
        choose("early_stopping", booster.early_stopping, {"auto": True, "cv": True})
    else:
        check_flag("early_stopping", booster.early_stopping)
    share: Any = booster.validation_fraction
    whole = isinstance(share, numbers.Integral) and not isinstance(share, bool)
    if whole:
        check_integer("validation_fraction", share, least=1)
    elif share is not None and not (is_real(share) and 0 < share < 1):
        raise ValueError(
            "validation_fraction must be a number in (0, 1), a number of examples or None; "
            f"got {shown(share)}"
        )
    check_integer("n_iter_no_change", booster.n_iter_no_change, least=1)
    if not (is_real(booster.tol) and booster.tol >= 0):
        raise ValueError(f"tol must be a number >= 0; got {shown(booster.tol)}")
    _check_scoring(booster.scoring)


def _tree_shape(booster: BoosterInput) -> TreeShape:
    """Return the shape of the weak hypotheses, checked."""
    shape = TreeShape(**{name: getattr(booster, name) for name in SHAPE_SETTINGS})
    if booster.estimator is not None:
        usual: dict[str, Any] = {each.name: each.default for each in fields(booster)}
        if shape != TreeShape(**{name: usual[name] for name in SHAPE_SETTINGS}):
            raise ValueError(
                f"{', '.join(SHAPE_SETTINGS)} are for the built-in trees; "
                f"got {shape} beside estimator={shown(booster.estimator)}"
            )
    return shape


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


def constraints_of(booster: BoosterInput, outline: FittedModel) -> IntArray | None:
    """Return the constraint of each column of a model, checked; None if there is none."""
    if booster.monotonic_cst is None:
        return None
    n_classes, encoder = outline.classes.size, outline.encoder
    signs = directions(booster.monotonic_cst, outline.n_features, outline.feature_names)
    if not signs.any():
        return None
    if booster.estimator is not None or n_classes > 2:
        raise ValueError(
            "monotonic_cst is for two classes and the built-in stumps and trees; got it beside "
            f"{n_classes} classes and estimator={shown(booster.estimator)}"
        )
    if encoder is None:
        return signs
    for j, feature in enumerate(encoder.features):
        if feature is not None and signs[j]:
            raise ValueError(f"monotonic_cst must be 0 for categories; feature {j} holds some")
    return np.asarray(signs[encoder.feature])


def check_built_in(booster: BoosterInput, where: str) -> None:
    """Raise ValueError for another weak learner than stumps and trees."""
    if booster.estimator is not None:
        raise ValueError(
            f"{where} is for the built-in stumps and trees; got estimator={booster.estimator!r}"
        )
