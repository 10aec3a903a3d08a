"""How the peers of the reproduction are asked for stumps; the benchmarks use the same settings.

A function of this module brings the data, untimed, into the form that its library is fastest on,
and returns a function without arguments that fits and returns the model.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Fit = Callable[[], Any]


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

    By default it would try both ways at the start of every fit. ``binned`` makes its Dataset
    beforehand.
    """
    import lightgbm as lgb

    rows, labels = as_float32(X), (np.asarray(y) > 0).astype(np.float32)

    def make(way: str) -> Fit:
        options = {
            "objective": "binary",
            "num_leaves": 2,
            "num_threads": threads,
            "max_bin": bins,
            "seed": 0,
            "verbose": -1,
            way: True,
        }

        def dataset() -> Any:
            return lgb.Dataset(rows, label=labels, params=options)

        ready = dataset().construct() if binned else None
        return lambda: lgb.train(options, ready or dataset(), rounds)

    fits = [make(way) for way in ways]
    return fits[_fastest(fits)]


def adaboost(X: Any, y: Any, rounds: int) -> Fit:
    """scikit-learn's AdaBoost of stumps, on dense or sparse input, whichever is faster."""
    from scipy.sparse import csc_matrix, csr_matrix
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    def make(rows: Any, n_estimators: int) -> Fit:
        stump = DecisionTreeClassifier(max_depth=1, random_state=0)
        model = AdaBoostClassifier(stump, n_estimators=n_estimators, random_state=0)
        return lambda: model.fit(rows, y)

    forms = [as_dense(X), csc_matrix(as_float32(X)), csr_matrix(as_float32(X))]
    return make(forms[_fastest([make(rows, 3) for rows in forms])], rounds)


@dataclass(frozen=True)
class Peer:
    """A library: the module to import, ``fit(X, y, rounds)``, and the labels of a model."""

    module: str
    fit: Callable[[Any, Any, int], Fit]
    predict: Callable[[Any, Any], Any]

    def find(self) -> tuple[str | None, str | None]:
        """Return its version, or None and the reason why it cannot be used.

        >>> version, absent = PEERS["scikit-learn AdaBoost"].find()
        >>> absent is None
        True
        """
        try:
            return str(importlib.import_module(self.module).__version__), None
        except (ImportError, OSError) as error:  # OSError: a shared library is missing
            return None, str(error)


PEERS: dict[str, Peer] = {
    "LightGBM": Peer(
        "lightgbm", lightgbm, lambda model, X: np.where(model.predict(as_float32(X)) > 0.5, 1, -1)
    ),
    "scikit-learn AdaBoost": Peer("sklearn", adaboost, lambda model, X: model.predict(X)),
}
"""The peers of the reproduction by name."""


def as_float32(X: Any) -> Any:
    """Return the matrix in the precision that peers compute in."""
    return X.astype(np.float32, copy=False)


def as_dense(X: Any) -> Any:
    """Return the matrix as a dense array of float32."""
    from scipy.sparse import issparse

    return as_float32(X.toarray() if issparse(X) else X)


def _fastest(fits: list[Fit]) -> int:
    """Return which of them is fastest in a single trial."""
    times = [0.0] * len(fits)
    for trial, fit in enumerate(fits if len(fits) > 1 else []):
        begun = time.perf_counter()
        fit()
        times[trial] = time.perf_counter() - begun
    return int(np.argmin(times))
