"""The libraries with the settings for stumps: functions that return the fit to be timed.

Each takes the data in memory, brings it untimed into the form its library likes best, and
returns a function without arguments that fits and gives back the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.paper.peers import Fit, adaboost, as_dense, as_float32, lightgbm

__all__ = ["adaboost", "driftgames", "ebm", "hist_gradient_boosting", "lightgbm", "xgboost"]


def driftgames(X: Any, y: Any, rounds: int, *, threads: int = 1, bins: int = 255) -> Fit:
    """NH-Boost.DT with stumps, straight from the matrix; not calibrated, as the peers are not."""
    from driftgames.boosting import NHBoostDTClassifier

    settings: dict[str, Any] = {"max_bins": bins, "n_jobs": threads, "calibrate": False}
    settings["max_leaves"] = 2
    return lambda: NHBoostDTClassifier(n_estimators=rounds, **settings).fit(X, y)


def xgboost(X: Any, y: Any, rounds: int, *, threads: int = 1, bins: int = 256) -> Fit:
    """XGBoost's histograms with one split per tree."""
    import xgboost as xgb

    rows, labels = as_float32(X), (np.asarray(y) > 0).astype(np.float32)
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

    rows = as_dense(X)

    def fit() -> Any:
        model = HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=2, max_bins=bins, early_stopping=False
        )
        with threadpool_limits(threads):
            return model.fit(rows, y)

    return fit


def ebm(X: Any, y: Any, cycles: int, *, threads: int = 1, bins: int = 255) -> Fit:
    """Explainable boosting machine without interactions: its closest to plain stumps."""
    from interpret.glassbox import ExplainableBoostingClassifier

    rows = as_dense(X)

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
