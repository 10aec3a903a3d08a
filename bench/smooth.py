"""A smooth function without noise: what our regressor lacks there, the table of docs/regression.md.

The outcome of Friedman's first function is ``10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4``;
five more columns say nothing (Annals of Statistics 19, 1991).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from bench.harness import Tell, silent
from bench.regression import crps
from bench.regression_libraries import LEVELS, REGRESSORS
from driftgames import NHBoostDTRegressor
from driftgames.tables import Cell, Column, Table

SIZES = (2_000, 10_000)
N_NEW = 5_000
PEERS = ("CatBoost", "ChimeraBoost", "LightGBM")

SETTINGS: Mapping[str, Callable[[], Any]] = {
    "driftgames": partial(NHBoostDTRegressor, n_jobs=1),
    "driftgames, 32 thresholds": partial(NHBoostDTRegressor, n_thresholds=32, n_jobs=1),
    "driftgames, 255 bins": partial(NHBoostDTRegressor, max_bins=255, n_jobs=1),
    "driftgames, 32 thresholds, 255 bins": partial(
        NHBoostDTRegressor, n_thresholds=32, max_bins=255, n_jobs=1
    ),
}
"""The default, and what could help."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return CRPS, squared error and CPU seconds of each regressor; ``quick`` has 300 rows."""
    peers = {name: REGRESSORS[name] for name in PEERS}
    notes = [f"{name} left out: {why}" for name, each in peers.items() if (why := each.why_absent)]
    makers = {**SETTINGS, **{name: each.make for name, each in peers.items()}}
    for name, each in peers.items():
        if each.why_absent is not None:
            del makers[name]
    sizes = (300,) if quick else SIZES
    rows = []
    for name, make in makers.items():
        cells: list[Cell] = []
        for n in sizes:
            tell(f"{name}, {n:,} rows")
            cells += measure(make, n)
        rows.append((name, *cells))
    columns = [Column("regressor")]
    for n in sizes:
        group = f"{n:,} rows"
        columns += [Column("CRPS", ".3f", group), Column("RMSE", ".3f", group)]
        columns += [Column("CPU, s", ".1f", group)]
    return [Table("Friedman 1 without noise", tuple(columns), tuple(rows), tuple(notes))]


def measure(make: Callable[[], Any], n: int) -> tuple[float, float, float]:
    """Return the CRPS and the root mean squared error on new rows, and the time of the fit."""
    import pandas as pd
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(n + N_NEW, noise=0.0, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    start = process_time()
    model = make().fit(frame.iloc[:n], y[:n])
    seconds = process_time() - start
    new = frame.iloc[n:]
    quantiles = np.asarray(model.predict_quantiles(new, LEVELS), dtype=np.float64)
    away = y[n:] - np.asarray(model.predict(new)).ravel()
    return crps(y[n:], quantiles), float(np.sqrt(np.mean(np.square(away)))), seconds
