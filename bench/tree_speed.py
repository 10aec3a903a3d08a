"""Trees of eight leaves against LightGBM's: the table of times in docs/trees.md.

``python -m bench.tree_speed`` fits 200 trees of eight leaves in one thread, binning included, on
a9a and on 200,000 rows of 28 continuous features. The contestants take turns, and the best turn of
each counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.boosting import make_dense
from bench.harness import Contestant, race
from driftgames import datasets
from driftgames.boosting import NHBoostDTClassifier
from driftgames.cli._output import console
from driftgames.tables import Table, draw_table

TREES = 200
LEAVES = 8


def driftgames(X: Any, y: Any, **shape: Any) -> Callable[[], object]:
    """NH-Boost.DT with trees."""
    return lambda: NHBoostDTClassifier(TREES, calibrate=False, **shape).fit(X, y)


def lightgbm(X: Any, y: Any) -> Callable[[], object]:
    """LightGBM with its defaults but for the number of leaves."""
    import lightgbm as lgb

    labels = np.asarray(y) > 0
    settings = {"n_estimators": TREES, "num_leaves": LEAVES, "n_jobs": 1, "verbose": -1}
    return lambda: lgb.LGBMClassifier(**settings).fit(X, labels)


def fit(name: str, X: Any, y: Any, repeats: int) -> Table:
    """Return the race on one set."""
    n_items = TREES * X.shape[0]
    entrants = [
        Contestant(
            "driftgames, max_leaves=8",
            lambda: driftgames(X, y, max_depth=None, max_leaves=LEAVES),
            items=n_items,
        ),
        Contestant("driftgames, max_depth=3", lambda: driftgames(X, y, max_depth=3), items=n_items),
        Contestant("LightGBM", lambda: lightgbm(X, y), items=n_items, requires=("lightgbm",)),
    ]
    return race(f"{name}: {TREES} trees of {LEAVES} leaves, 1 thread", entrants, repeats=repeats)


def run(*, n_rows: int = 200_000, repeats: int = 7) -> list[Table]:
    """Return both tables."""
    train = datasets.load("a9a").train
    dense = make_dense(n_rows)
    return [
        fit("a9a", train.X, train.y, repeats),
        fit(f"{n_rows:,} x 28 dense", *dense, repeats),
    ]


if __name__ == "__main__":
    for table in run():
        console().print(draw_table(table))
