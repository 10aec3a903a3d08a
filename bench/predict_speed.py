"""The speed of predictions by trees: many rows at a time, and one.

``python -m bench.predict_speed`` fits 1,000 trees to 5,000 rows of 28 features and predicts others
with one thread: dense rows, rows with missing values, sparse rows, several classes, and a single
row. The best of some turns counts, in time of the processor. ``--tsv`` prints plain columns, to be
compared with those of another version.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from scipy.sparse import csr_matrix

from driftgames.boosting import NHBoostDTClassifier
from driftgames.cli._output import console
from driftgames.tables import Column, Row, Table, draw_table

TREES, FEATURES = 1_000, 28
TRAINING, PREDICTED = 5_000, 20_000


def make(kind: str, seed: int = 0) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return rows of this kind and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(TRAINING + PREDICTED, FEATURES))
    score = X[:, :5].sum(axis=1) + X[:, 0] * X[:, 1] + 2 * rng.normal(size=len(X))
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "sparse":
        X[rng.random(X.shape) < 0.8] = 0.0
        return csr_matrix(X), score > 0
    return X, np.digitize(score, [-2, 0, 2]) if kind == "four classes" else score > 0


def best(call: Callable[[], Any], repeats: int) -> float:
    """Return the least time of the processor that a call takes."""
    call()
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        times.append(time.process_time() - begun)
    return min(times)


def measure(kind: str, leaves: int, repeats: int) -> Row:
    """Return the microseconds that a row takes among many, and alone."""
    X, y = make(kind)
    model = NHBoostDTClassifier(TREES, max_depth=None, max_leaves=leaves, calibrate=kind == "dense")
    model.fit(X[:TRAINING], y[:TRAINING])
    rows, one = X[TRAINING:], X[:1]
    many = best(lambda: model.decision_function(rows), repeats) / PREDICTED
    vote = best(lambda: [model.decision_function(one) for _ in range(100)], repeats) / 100
    share = best(lambda: [model.predict_proba(one) for _ in range(100)], repeats) / 100
    return kind, leaves, many * 1e6, vote * 1e6, share * 1e6


def main(
    repeats: Annotated[int, typer.Option(min=1)] = 5,
    tsv: Annotated[bool, typer.Option("--tsv")] = False,
) -> None:
    """Print microseconds per row."""
    cases = [("dense", 4), ("dense", 8), ("dense", 32)]
    cases += [(kind, 8) for kind in ("missing", "sparse", "four classes")]
    rows = [measure(*case, repeats) for case in cases]
    if tsv:
        sys.stdout.writelines("\t".join(map(str, row)) + "\n" for row in rows)
        return
    titles = ("us a row of many", "us a vote on one", "us a probability of one")
    columns = (Column("rows"), Column("leaves"), *(Column(title, ".2f") for title in titles))
    words = (f"{TREES} trees, one thread, time of the processor",)
    console().print(draw_table(Table("Prediction by trees", columns, tuple(rows), words)))


if __name__ == "__main__":
    typer.run(main)
