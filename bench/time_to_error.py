"""Time to the test error of LightGBM's defaults, in one thread, on every set.

The rounds of ours are those after which the mean error over the splits first is that of LightGBM's
100 trees of 31 leaves. Then both are fitted anew in turns, each to all splits, and the best turn of
each counts. Times are those of the processor, because other programs change them less.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from bench.harness import Tell, silent
from bench.libraries import lightgbm
from bench.set_table import TABLE
from bench.sets import QUICK, SPLITS, Examples, sets
from driftgames.tables import Column, Row, Table

TURNS = 3


def plain() -> Any:
    """Return ours: 1,000 trees of four leaves, not calibrated."""
    from driftgames.boosting import NHBoostDTClassifier

    return NHBoostDTClassifier(1000, 6.0, max_depth=None, max_leaves=4, calibrate=False)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the table; ``quick`` takes three small sets."""
    notes: list[str] = []
    rows = []
    for examples in sets(QUICK if quick else tuple(TABLE), notes.append):
        tell(examples.name)
        rows.append(_row(examples))
    ahead = sum(isinstance(row[-1], float) and row[-1] > 1 for row in rows)
    columns = (
        Column("set"),
        Column("LightGBM's error, %", ",.2f"),
        Column("LightGBM, s", ",.3f"),
        Column("our trees", ",d"),
        Column("ours, s", ",.3f"),
        Column("factor", ",.2f"),
    )
    said = f"ours is ahead on {ahead} of {len(rows)} sets"
    return [Table("time to LightGBM's error", columns, tuple(rows), (said, *notes))]


def _row(examples: Examples) -> Row:
    """Return the error of LightGBM and both times; None where ours does not reach the error."""
    parts = [examples.split(seed) for seed in SPLITS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = [lightgbm().fit(X, y) for X, y, *_ in parts]
        error = np.mean(
            [np.mean(m.predict(X) != y) for m, (*_, X, y) in zip(theirs, parts, strict=True)]
        )
        curves = [
            [np.mean(stage != y_test) for stage in plain().fit(X, y).staged_predict(X_test)]
            for X, y, X_test, y_test in parts
        ]
        reached = np.flatnonzero(np.mean(curves, axis=0) <= error + 1e-12)
        if not reached.size:
            return examples.name, 100 * error, _seconds(lightgbm, parts), None, None, None
        trees = int(reached[0]) + 1
        times = [
            (
                _seconds(lightgbm, parts),
                _seconds(lambda: plain().set_params(n_estimators=trees), parts),
            )
            for _ in range(TURNS)
        ]
    slow, fast = np.min(times, axis=0).tolist()
    return examples.name, 100 * error, slow, trees, fast, slow / fast


def _seconds(make: Any, parts: list[Any]) -> float:
    """Return the time of the processor for a fit to each part."""
    begin = time.process_time()
    for X, y, *_ in parts:
        make().fit(X, y)
    return time.process_time() - begin
