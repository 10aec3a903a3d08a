"""How each library is asked for stumps: functions that return the fit to be timed.

Each takes the data in memory, brings it untimed into the form its library likes best, and
returns a function without arguments that fits and gives back the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

Fit = Callable[[], Any]


def driftgames(X: Any, y: Any, rounds: int, *, threads: int = 1, bins: int = 255) -> Fit:
    """NH-Boost.DT, straight from the matrix."""
    from driftgames.boosting import NHBoostDTClassifier

    return lambda: NHBoostDTClassifier(n_estimators=rounds, max_bins=bins, n_jobs=threads).fit(X, y)


def lightgbm(
    X: Any,
    y: Any,
    rounds: int,
    *,
    threads: int = 1,
    bins: int = 255,
    binned: bool = False,
    ways: tuple[str, ...] = ("force_col_wise", "force_row_wise"),
) -> Fit:
    """LightGBM with two leaves, in the faster of two ways to keep its histograms.

    Left to itself it would try both at the start of every fit. ``binned`` makes its Dataset
    beforehand.
    """
    import lightgbm as lgb

    rows, labels = _as_float32(X), (np.asarray(y) > 0).astype(np.float32)

    def make(way: str) -> Fit:
        options = {
            "objective": "binary",
            "num_leaves": 2,
            "num_threads": threads,
            "max_bin": bins,
            "verbose": -1,
            way: True,
        }

        def dataset() -> Any:
            return lgb.Dataset(rows, label=labels, params=options)

        ready = dataset().construct() if binned else None
        return lambda: lgb.train(options, ready or dataset(), rounds)

    fits = [make(way) for way in ways]
    return fits[_fastest(fits)]


def xgboost(X: Any, y: Any, rounds: int, *, threads: int = 1, bins: int = 256) -> Fit:
    """XGBoost's histograms with one split per tree."""
    import xgboost as xgb

    rows, labels = _as_float32(X), (np.asarray(y) > 0).astype(np.float32)
    options = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "max_depth": 1,
        "max_bin": bins,
        "nthread": threads,
    }

    def fit() -> Any:
        matrix = xgb.QuantileDMatrix(rows, labels, max_bin=bins, nthread=threads)
        return xgb.train(options, matrix, rounds)

    return fit


def hist_gradient_boosting(
    X: Any, y: Any, rounds: int, *, threads: int = 1, bins: int = 255
) -> Fit:
    """scikit-learn's histogram gradient boosting with two leaves; it takes dense data only."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    rows = _as_dense(X)

    def fit() -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=2, max_bins=bins, early_stopping=False
        )
        with threadpool_limits(threads):
            return model.fit(rows, y)

    return fit


def adaboost(X: Any, y: Any, rounds: int) -> Fit:
    """scikit-learn's AdaBoost of stumps, on dense or sparse input: what is faster."""
    from scipy.sparse import csc_matrix, csr_matrix
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    def make(rows: Any, n_estimators: int) -> Fit:
        stump = DecisionTreeClassifier(max_depth=1)
        return lambda: AdaBoostClassifier(stump, n_estimators=n_estimators).fit(rows, y)

    forms = [_as_dense(X), csc_matrix(_as_float32(X)), csr_matrix(_as_float32(X))]
    return make(forms[_fastest([make(rows, 3) for rows in forms])], rounds)


def ebm(X: Any, y: Any, cycles: int, *, threads: int = 1, bins: int = 255) -> Fit:
    """Explainable boosting machine without interactions: its closest to plain stumps."""
    from interpret.glassbox import ExplainableBoostingClassifier

    rows = _as_dense(X)

    def fit() -> Any:
        model = ExplainableBoostingClassifier(
            interactions=0,
            max_rounds=cycles,
            max_leaves=2,
            max_bins=bins,
            outer_bags=1,
            inner_bags=0,
            validation_size=0,
            early_stopping_rounds=0,
            n_jobs=threads,
        )
        return model.fit(rows, y)

    return fit


def _as_float32(X: Any) -> Any:
    return X.astype(np.float32, copy=False)


def _as_dense(X: Any) -> Any:
    from scipy.sparse import issparse

    return _as_float32(X.toarray() if issparse(X) else X)


def _fastest(fits: list[Fit]) -> int:
    """Return which of them is fastest in a single trial."""
    times = [0.0] * len(fits)
    for trial, fit in enumerate(fits if len(fits) > 1 else []):
        begun = time.perf_counter()
        fit()
        times[trial] = time.perf_counter() - begun
    return int(np.argmin(times))
