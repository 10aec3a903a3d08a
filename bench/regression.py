"""Regression: means, distributions and intervals on real sets, against other libraries.

``python -m bench regression`` runs in the harness of `bench.accuracy`, with defaults in one thread.
Errors, CRPS and Winkler scores are in standard deviations of the outcome, so that sets can be
compared. The absolute error is that of the median.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from bench.accuracy import Study, run_study
from bench.accuracy_options import AccuracyOptions
from bench.harness import Tell, silent
from bench.measuring import SUMS, Kind, small, timed
from bench.regression_libraries import LEVELS, REGRESSORS
from bench.results import Row
from bench.set_table import NUMBERS
from bench.sets import Examples
from driftgames.core.typing import FloatArray
from driftgames.tables import Table

COVERAGE = 0.9
QUICK = ("player salaries", "miles a gallon", "house values")


def crps(y: FloatArray, quantiles: FloatArray) -> float:
    r"""Return the continuous ranked probability score, by the quantiles at `LEVELS`.

    .. math:: \mathrm{CRPS} = 2 \int_0^1 (1\{y < q_u\} - u) (q_u - y) \, du

    Twice the mean pinball loss over the levels (Gneiting and Raftery, JASA 102, 2007).

    >>> crps(np.array([3.0]), np.full((1, 100), 1.0))
    2.0
    """
    over = y[:, None] - quantiles
    return 2.0 * float(np.mean(np.where(over > 0, LEVELS * over, (LEVELS - 1.0) * over)))


def winkler(y: FloatArray, low: FloatArray, high: FloatArray) -> float:
    r"""Return the Winkler score: the width, and :math:`2/\alpha` for each unit outside.

    >>> winkler(np.array([0.5, 2.0]), np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    11.0
    """
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return float(np.mean(high - low + 2.0 / (1.0 - COVERAGE) * outside).round(12))


def assess_numbers(model: Any, X: Any, y: Any, examples: Examples) -> Row:
    """Return errors, scores and coverage of a regressor, and the time of all predictions."""

    def predictions() -> tuple[Any, Any, Any]:
        mean, quantiles = model.predict(X), model.predict_quantiles(X, LEVELS)
        return mean, quantiles, model.predict_interval(X, COVERAGE)

    answer, seconds, wall = timed(predictions)
    mean, quantiles, interval = (np.asarray(each, dtype=np.float64) for each in answer)
    for each, shape in ((quantiles, (y.size, LEVELS.size)), (interval, (y.size, 2))):
        if each.shape != shape:
            raise ValueError(f"a prediction has the shape {each.shape}, expected {shape}")
    unit = float(examples.y.std())
    low, high = interval.T
    median = quantiles[:, LEVELS.size // 2 - 1 : LEVELS.size // 2 + 1].mean(axis=1)
    return {
        "crps": crps(y, quantiles) / unit,
        "winkler": winkler(y, low, high) / unit,
        "mae": float(np.mean(np.abs(y - median))) / unit,
        "rmse": float(np.sqrt(np.mean(np.square(y - mean.ravel())))) / unit,
        "coverage": 100.0 * float(np.mean((low <= y) & (y <= high))),
        "predict": seconds,
        "predict_wall": wall,
    }


@functools.cache
def _small_numbers() -> tuple[Examples, ...]:
    """Return small sets with numbers to predict, of numbers alone and with text."""
    y = np.random.default_rng(1).normal(size=120)
    return tuple(small(y, with_text=with_text) for with_text in (False, True))


MEASURED = Kind(
    assess_numbers,
    _small_numbers,
    measures={
        "crps": ("CRPS", ",.4f"),
        "winkler": ("Winkler", ",.3f"),
        "mae": ("MAE", ",.4f"),
        "rmse": ("RMSE", ",.4f"),
    },
    learnt={"rmse": 0.98},
    means={"coverage": ("coverage, %", ",.1f")},
    sums={name: SUMS[name] for name in ("fit", "fit_wall", "predict")},
    is_relative=True,
)
"""Regression."""


def run(
    *, quick: bool = False, tell: Tell = silent, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the file of results lacks, and return the tables.

    ``quick`` takes three small sets, one split, and no library that has a time limit.
    """
    study = Study(
        "regression",
        NUMBERS,
        tuple(REGRESSORS.values()),
        quick=QUICK,
        kind=MEASURED,
        heading="the sets of regression",
        title="the sets of regression to {} on",
    )
    if quick:
        libraries = [library for library in study.libraries if library.limit is None]
        study = replace(study, libraries=libraries)
    return run_study(study, quick=quick, tell=tell, options=options)
