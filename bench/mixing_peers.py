"""Forecasts mixed by river and sktime, with their defaults, on numbers of a standard size.

Both are given forecasts and outcomes divided by the standard deviation of the outcomes, because
river's weights underflow on losses of millions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import mean_squared_error

from driftgames.core.typing import FloatArray

Peer = Callable[[FloatArray, FloatArray], FloatArray]


def river_ewa(X: FloatArray, y: FloatArray) -> FloatArray:
    """Return the predictions of river's EWARegressor, whose experts read a column each."""
    from river import base, ensemble

    class Column(base.Regressor):  # type: ignore[misc]
        """An expert that reads its forecast from the features."""

        def __init__(self, at: int) -> None:
            self.at = at

        def learn_one(self, x: dict[int, float], y: float) -> None:
            """Learn nothing."""

        def predict_one(self, x: dict[int, float]) -> float:
            return x[self.at]

    model = ensemble.EWARegressor([Column(j) for j in range(X.shape[1])])
    rows = (dict(enumerate(row)) for row in X.tolist())
    return np.array([model.learn_predict_one(x, z) for x, z in zip(rows, y.tolist(), strict=True)])


def sktime_ensemble(name: str) -> Peer:
    """Return the predictions of one of sktime's online ensembles."""

    def mix(X: FloatArray, y: FloatArray) -> FloatArray:
        from sktime.forecasting import online_learning

        kind = getattr(online_learning, name)
        model: Any = kind(n_estimators=X.shape[1], loss_func=mean_squared_error)
        found = []
        for row, outcome in zip(X, y.tolist(), strict=True):
            found.append(float(np.dot(model.weights, row)))
            model.update(row[:, None], np.array([outcome]))
        return np.array(found)

    return mix


PEERS: dict[str, tuple[str, Peer]] = {
    "river EWARegressor": ("river", river_ewa),
    "sktime NormalHedgeEnsemble": ("sktime", sktime_ensemble("NormalHedgeEnsemble")),
    "sktime NNLSEnsemble": ("sktime", sktime_ensemble("NNLSEnsemble")),
}
"""The module that each peer needs, and its predictions."""
