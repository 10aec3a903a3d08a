"""Regressors that predict distributions: the libraries that `bench.regression` compares.

Every model has ``predict(X)`` (the mean), ``predict_quantiles(X, q)`` and
``predict_interval(X, coverage)``, as ours has. A library that predicts a number only gets a
distribution by the residuals of five folds, which are the same for all rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import ndtri

from bench.libraries import (
    CATBOOST,
    OURS,
    Forms,
    Library,
    Made,
    as_numbers,
    as_text,
    as_they_are,
    few_levels,
    fit_with_texts,
    plain_fit,
)
from bench.sets import folds
from driftgames.core.typing import FloatArray

LEVELS = (np.arange(100) + 0.5) / 100
"""The levels of the quantiles that a CRPS is made of."""

FITTED = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""The levels that are fitted where each level costs time."""

Fit = Callable[[Any, Any, Any], Any]


class Forecaster(ABC):
    """A regressor that predicts a mean and quantiles."""

    @abstractmethod
    def fit(self, X: Any, y: FloatArray) -> Self:
        """Fit to examples and outcomes."""

    @abstractmethod
    def predict(self, X: Any) -> FloatArray:
        """Return the means."""

    @abstractmethod
    def predict_quantiles(self, X: Any, q: Sequence[float] | FloatArray) -> FloatArray:
        """Return a row of quantiles for each example, a column for each level."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Return the ends of central intervals."""
        return self.predict_quantiles(X, [(1.0 - coverage) / 2.0, (1.0 + coverage) / 2.0])


class WithResiduals(Forecaster):
    """Numbers plus the residuals of five folds; on request the mean of the folds' models."""

    def __init__(self, make: Made, fit: Fit = plain_fit, *, is_mean: bool = False) -> None:
        self.make = make
        self.fit_one = fit
        self.is_mean = is_mean

    def fit(self, X: Any, y: FloatArray) -> Self:
        """Fit five folds for the residuals, and all rows if no mean is asked for."""
        models, residuals = [], []
        for X_part, y_part, X_out, y_out in folds(X, y, stratify=False):
            models.append(self.fit_one(self.make(), X_part, y_part))
            residuals.append(y_out - _numbers(models[-1].predict(X_out)))
        self.residuals_ = np.concatenate(residuals)
        self.models_ = models if self.is_mean else [self.fit_one(self.make(), X, y)]
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the models."""
        return np.asarray(np.mean([_numbers(each.predict(X)) for each in self.models_], axis=0))

    def predict_quantiles(self, X: Any, q: Sequence[float] | FloatArray) -> FloatArray:
        """Return the numbers plus the quantiles of the residuals."""
        return np.asarray(self.predict(X)[:, None] + np.quantile(self.residuals_, q))


class Gaussian(Forecaster):
    """A normal distribution, of which the library predicts mean and standard deviation."""

    def __init__(
        self, make: Made, moments: Callable[[Any, Any], tuple[Any, Any]], fit: Fit = plain_fit
    ) -> None:
        self.make = make
        self.moments = moments
        self.fit_one = fit

    def fit(self, X: Any, y: FloatArray) -> Self:
        """Fit one model."""
        self.model_ = self.fit_one(self.make(), X, y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the means."""
        return _numbers(self.moments(self.model_, X)[0])

    def predict_quantiles(self, X: Any, q: Sequence[float] | FloatArray) -> FloatArray:
        """Return the quantiles of normal distributions."""
        mean, deviation = (_numbers(each)[:, None] for each in self.moments(self.model_, X))
        return np.asarray(mean + deviation * ndtri(np.asarray(q)))


class AtLevels(Forecaster):
    """Quantiles at fixed levels: sorted, linear between the levels and flat beyond them.

    Parameters
    ----------
    make : Made
        Makes the model.
    levels : sequence of float
        The levels that ``values(model, X)`` has columns for.
    values : callable
        Returns the quantiles of a fitted model.
    fit : callable
        Fits; what it returns is the fitted model.
    mean : callable, optional
        Returns the means of a fitted model. Default: the mean over the quantiles.
    """

    def __init__(
        self,
        make: Made,
        levels: Sequence[float] | FloatArray,
        values: Callable[[Any, Any], Any],
        fit: Fit = plain_fit,
        mean: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.make = make
        self.levels = levels
        self.values = values
        self.fit_one = fit
        self.mean = mean

    def fit(self, X: Any, y: FloatArray) -> Self:
        """Fit one model."""
        self.model_ = self.fit_one(self.make(), X, y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the means."""
        if self.mean is None:
            return np.asarray(self.predict_quantiles(X, LEVELS).mean(axis=1))
        return _numbers(self.mean(self.model_, X))

    def predict_quantiles(self, X: Any, q: Sequence[float] | FloatArray) -> FloatArray:
        """Return quantiles between those at the levels."""
        values = np.sort(np.asarray(self.values(self.model_, X), dtype=np.float64), axis=1)
        shares = np.array([np.interp(q, self.levels, each) for each in np.eye(len(self.levels))])
        return np.asarray(values @ shares)


class Conformal(Forecaster):
    """Quantiles moved so that a fifth of the rows, held out, lies below them as often as it should.

    Each tail has its own correction (Romano, Patterson and Candès, NeurIPS 2019, Theorem 2).
    """

    def __init__(self, make: Callable[[], Forecaster]) -> None:
        self.make = make

    def fit(self, X: Any, y: FloatArray) -> Self:
        """Fit four fifths of the rows, and keep the others."""
        X_part, y_part, self.X_out_, self.y_out_ = folds(X, y, stratify=False)[0]
        self.model_ = self.make().fit(X_part, y_part)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the mean over the quantiles."""
        return np.asarray(self.predict_quantiles(X, LEVELS).mean(axis=1))

    def predict_quantiles(self, X: Any, q: Sequence[float] | FloatArray) -> FloatArray:
        """Return corrected quantiles."""
        levels = np.asarray(q, dtype=np.float64)
        over = np.sort(self.y_out_[:, None] - self.model_.predict_quantiles(self.X_out_, q), axis=0)
        n_out = self.y_out_.size
        upper = np.maximum(levels, 1.0 - levels)  # the share on the inner side of the quantile
        place = np.minimum(np.ceil((n_out + 1) * upper), n_out).astype(np.int64)
        place = np.where(levels < 0.5, n_out - place, place - 1)
        moved = self.model_.predict_quantiles(X, q) + over[place, np.arange(levels.size)]
        return np.sort(moved, axis=1)


def _numbers(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float64).ravel()


def _fit_levels(model: Any, X: Any, y: FloatArray) -> list[Any]:
    """Fit a model of LightGBM for each level."""
    settings = model.get_params()
    kind = type(model)
    return [kind(**{**settings, "alpha": level}).fit(X, y) for level in FITTED]


def _stacked(models: list[Any], X: Any) -> FloatArray:
    return np.column_stack([model.predict(X) for model in models])


def _predicted(model: Any, X: Any) -> Any:
    return model.predict(X)


def _predicted_mean(model: Any, X: Any) -> Any:
    return model.predict(X, kind="mean")


def _of_forest(model: Any, X: Any) -> Any:
    return model.predict(X, quantiles=LEVELS.tolist())


def _ngboost_moments(model: Any, X: Any) -> tuple[Any, Any]:
    parameters = model.pred_dist(X).params
    return parameters["loc"], parameters["scale"]


def _catboost_moments(model: Any, X: Any) -> tuple[Any, Any]:
    mean, variance = np.asarray(model.predict(X)).T
    return mean, np.sqrt(variance)


def no_size(model: Any) -> int:
    """Return 0: the size of these models is not compared."""
    return 0


def _library(
    name: str,
    package: str,
    make: Callable[[], Any],
    form: Callable[[Any, Any], Forms] = as_they_are,
    **options: Any,
) -> Library:
    return Library(name, make, package, form=form, size=no_size, **options)


_LIGHTGBM = Made("lightgbm", "LGBMRegressor", {"verbose": -1, "n_jobs": 1})
_QUANTILES = partial(
    AtLevels, _LIGHTGBM.with_settings(objective="quantile"), FITTED, _stacked, _fit_levels
)
_CATBOOST = Made("catboost", "CatBoostRegressor", CATBOOST)
_CHIMERA = {"thread_count": 1, "random_state": 0}
_CHIMERA_LEVELS = np.arange(1, 20) / 20
_MULTI = f"MultiQuantile:alpha={','.join(map(str, FITTED))}"
_SLOW: dict[str, Any] = {"most_splits": 1, "limit": 3600.0}
_SLOWEST: dict[str, Any] = {"most_splits": 1, "limit": 1200.0}


def _of_sklearn(name: str, **settings: Any) -> Made:
    return Made("sklearn.ensemble", name, {"random_state": 0, **settings})


_ALL = (
    _library(OURS, "driftgames", Made("driftgames.boosting", "NHBoostDTRegressor", {"n_jobs": 1})),
    _library("LightGBM", "lightgbm", partial(WithResiduals, _LIGHTGBM)),
    _library("LightGBM quantiles", "lightgbm", _QUANTILES),
    _library("LightGBM conformal", "lightgbm", partial(Conformal, _QUANTILES)),
    _library(
        "XGBoost",
        "xgboost",
        partial(
            WithResiduals,
            Made("xgboost", "XGBRegressor", {"n_jobs": 1, "enable_categorical": True}),
        ),
    ),
    _library(
        "HistGradientBoosting",
        "scikit-learn",
        partial(
            WithResiduals,
            _of_sklearn("HistGradientBoostingRegressor", categorical_features="from_dtype"),
        ),
        few_levels,
    ),
    _library("CatBoost", "catboost", partial(WithResiduals, _CATBOOST, fit_with_texts), as_text),
    _library(
        "CatBoost mean of five",
        "catboost",
        partial(WithResiduals, _CATBOOST, fit_with_texts, is_mean=True),
        as_text,
    ),
    _library(
        "CatBoost uncertainty",
        "catboost",
        partial(
            Gaussian,
            _CATBOOST.with_settings(loss_function="RMSEWithUncertainty"),
            _catboost_moments,
            fit_with_texts,
        ),
        as_text,
    ),
    _library(
        "CatBoost quantiles",
        "catboost",
        partial(
            AtLevels,
            _CATBOOST.with_settings(loss_function=_MULTI),
            FITTED,
            _predicted,
            fit_with_texts,
        ),
        as_text,
    ),
    _library(
        "ChimeraBoost",
        "chimeraboost",
        partial(
            WithResiduals, Made("chimeraboost", "ChimeraBoostRegressor", _CHIMERA), fit_with_texts
        ),
        as_text,
        prepare=Made("chimeraboost", "warmup"),
    ),
    _library(
        "ChimeraBoost quantiles",
        "chimeraboost",
        partial(
            AtLevels,
            Made("chimeraboost", "ChimeraBoostQuantileRegressor", _CHIMERA),
            _CHIMERA_LEVELS,
            _predicted,
            fit_with_texts,
            _predicted_mean,
        ),
        as_text,
        prepare=Made("chimeraboost", "warmup"),
    ),
    _library(
        "Perpetual",
        "perpetual",
        partial(WithResiduals, Made("perpetual", "PerpetualRegressor", {"num_threads": 1})),
    ),
    _library(
        "random forest",
        "scikit-learn",
        partial(WithResiduals, _of_sklearn("RandomForestRegressor", n_jobs=1)),
        as_numbers,
    ),
    _library(
        "quantile forest",
        "quantile-forest",
        partial(
            AtLevels,
            Made(
                "quantile_forest",
                "RandomForestQuantileRegressor",
                {"n_jobs": 1, "random_state": 0},
            ),
            LEVELS,
            _of_forest,
        ),
        as_numbers,
        **_SLOW,
    ),
    _library(
        "NGBoost",
        "ngboost",
        partial(
            Gaussian,
            Made("ngboost", "NGBRegressor", {"verbose": False, "random_state": 0}),
            _ngboost_moments,
        ),
        as_numbers,
        **_SLOW,
    ),
    _library(
        "EBM",
        "interpret-core",
        partial(
            WithResiduals,
            Made(
                "interpret.glassbox",
                "ExplainableBoostingRegressor",
                {"n_jobs": 1, "random_state": 0},
            ),
        ),
        **_SLOWEST,
    ),
)

REGRESSORS: dict[str, Library] = {library.name: library for library in _ALL}
"""All libraries by name, ours first."""
