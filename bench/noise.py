"""What label noise does, and what helps: the tables of docs/benchmark_tables.md.

A share of the training labels is flipped; the test labels are not. The table shows the test error
in per cent, the mean over the draws of the flipped labels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.harness import Tell, silent, why_absent
from driftgames import datasets
from driftgames.boosting import (
    AdaBoostClassifier,
    BoostByMajorityClassifier,
    NHBoostDTClassifier,
    NoEdgeWarning,
)
from driftgames.core.typing import IntArray
from driftgames.datasets import Dataset
from driftgames.tables import Cell, Column, Row, Table

SHARES = (0.0, 0.1, 0.2, 0.3)
DRAWS = 3
SETS = ("a9a", "census", "splice", "ocr49")

BOOSTERS: dict[str, Callable[[], Any]] = {
    "NH-Boost.DT, default": NHBoostDTClassifier,
    "NH-Boost.DT": lambda: NHBoostDTClassifier(200, max_leaves=2),
    "NH-Boost.DT, 50 rounds": lambda: NHBoostDTClassifier(50, max_leaves=2),
    "NH-Boost.DT, 1,000 rounds": lambda: NHBoostDTClassifier(1000, max_leaves=2),
    "NH-Boost.DT, d = 30": lambda: NHBoostDTClassifier(200, d=30.0, max_leaves=2),
    "NH-Boost.DT, depth 2": lambda: NHBoostDTClassifier(200, max_depth=2),
    "AdaBoost": lambda: AdaBoostClassifier(200),
    "boost-by-majority, edge 0.02": lambda: BoostByMajorityClassifier(200, edge=0.02),
    "boost-by-majority, edge 0.02, depth 2": lambda: BoostByMajorityClassifier(
        200, edge=0.02, max_depth=2
    ),
    "boost-by-majority, edge 0.05": lambda: BoostByMajorityClassifier(200, edge=0.05),
    "boost-by-majority, edge 0.1": lambda: BoostByMajorityClassifier(200, edge=0.1),
}
"""Stumps and 200 rounds where the name says nothing else; the default chooses both."""

PEERS = {"LightGBM": 31, "LightGBM, stumps": 2}
"""LightGBM by its number of leaves: that of its default, and 2."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return one table for each set; with ``quick``, of a9a and one draw."""
    return [table(name, 1 if quick else DRAWS, tell) for name in (SETS[:1] if quick else SETS)]


def table(name: str, draws: int, tell: Tell) -> Table:
    """Return the test errors on a set for every booster and share of flipped labels."""
    data = datasets.load(name)
    rows: list[Row] = []
    for title, make in BOOSTERS.items():
        tell(f"{name}: {title}")
        errors, zeros = zip(*(_mean(data, make, share, draws) for share in SHARES), strict=True)
        shown: list[Cell] = [None, None] if np.isnan(zeros[0]) else [zeros[0], zeros[-1]]
        rows.append((title, *errors, *shown))
    absent = why_absent(("lightgbm",))
    for title, leaves in PEERS.items() if absent is None else ():
        tell(f"{name}: {title}")
        errors = tuple(_mean(data, _lightgbm(leaves), share, draws)[0] for share in SHARES)
        rows.append((title, *errors, None, None))
    columns = [Column("booster")]
    columns += [Column(f"{share:.0%}", ".2f", "test error (%)") for share in SHARES]
    columns += [Column(f"{share:.0%}", "%", "ignored") for share in (SHARES[0], SHARES[-1])]
    notes = [
        f"Columns are the shares of flipped training labels; mean of {draws} draws.",
        "Ignored: the mean share of examples of weight zero in a round, without noise and with "
        "the most.",
    ]
    if absent is not None:
        notes.append(f"LightGBM was left out: {absent}.")
    return Table(f"Label noise on {name}", tuple(columns), tuple(rows), tuple(notes))


def flipped(y: IntArray, share: float, seed: int) -> IntArray:
    """Return labels of -1 and +1 of which a share is turned over, each by its own draw."""
    return np.where(np.random.default_rng(seed).random(y.size) < share, -y, y)


def _mean(data: Dataset, make: Callable[[], Any], share: float, draws: int) -> tuple[float, float]:
    """Return the test error in per cent and the share of zero weights, over the draws."""
    errors, zeros = [], []
    for seed in range(draws if share else 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoEdgeWarning)
            model = make().fit(data.train.X, flipped(data.train.y, share, seed))
        errors.append(100 * float(np.mean(model.predict(data.test.X) != data.test.y)))
        history = getattr(model, "history_", None)
        zeros.append(np.nan if history is None else float(history["zero_fraction"].mean()))
    return float(np.mean(errors)), float(np.mean(zeros))


def _lightgbm(leaves: int) -> Callable[[], Any]:
    def make() -> Any:
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_estimators=200, num_leaves=leaves, n_jobs=1, verbose=-1)

    return make
