"""Log-loss of calibrated boosters beside scikit-learn's calibration of the same booster.

``python -m bench.calibration`` prints a table: the log-loss of the share of the vote
(``calibrate=False``), of ours, of ``CalibratedClassifierCV(booster, method="sigmoid", cv=5)``, and
of the best sigmoid of our vote on the test part, which no calibration of this vote can beat by
much. The peer averages five boosters, ours calibrates one. ``--depth N`` boosts trees;
``--rounds N`` sets the number of rounds. Default: stumps, 200 rounds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import datasets as bundled
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from driftgames import datasets
from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier, NoEdgeWarning
from driftgames.boosting.calibration import fit_sigmoid
from driftgames.boosting.row_sample import hash_rows
from driftgames.cli._output import console
from driftgames.tables import Column, Table, draw_table

Parts = tuple[Any, Any, Any, Any]
"""Training examples and labels, test examples and labels."""


def sets() -> Iterator[tuple[str, Parts]]:
    """Yield every set by name."""
    for name in ("a9a", "census", "splice", "ocr49"):
        data = datasets.load(name)
        yield name, (data.train.X, data.train.y, data.test.X, data.test.y)
    train = datasets.load("w8a").train
    # its test rows are training rows too: equal rows go to one half
    yield "w8a, halves", halve(train.X, train.y, hash_rows(train.X) % 2 == 0)
    for name, load in (
        ("breast_cancer", bundled.load_breast_cancer),
        ("digits, odd or even", bundled.load_digits),
    ):
        X, y = load(return_X_y=True)
        yield name, halve(X, y % 2, np.arange(y.size) % 2 == 0)
    X, y = bundled.make_hastie_10_2(4000, random_state=0)
    yield "make_hastie_10_2", halve(X, y, np.arange(y.size) % 2 == 0)
    X, y = bundled.make_moons(1500, noise=0.3, random_state=0)
    yield "make_moons", halve(X, y, np.arange(y.size) % 2 == 0)
    X, y = bundled.make_classification(
        120_000, 20, n_informative=8, weights=[0.9], flip_y=0.1, random_state=0
    )
    yield "make_classification, large", halve(X, y, np.arange(y.size) % 2 == 0)


def halve(X: Any, y: Any, first: Any) -> Parts:
    """Return the rows to train on and the other ones."""
    return X[first], y[first], X[~first], y[~first]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="log-loss of calibrated boosters")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--depth", type=int, default=1)
    arguments = parser.parse_args()
    rows = []
    for name, (X, y, X_test, y_test) in sets():
        for kind in (NHBoostDTClassifier, AdaBoostClassifier):
            booster = kind(arguments.rounds, max_depth=arguments.depth)
            plain = kind(arguments.rounds, max_depth=arguments.depth, calibrate=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NoEdgeWarning)
                plain.fit(X, y)
                begun = time.perf_counter()
                plain.fit(X, y)
                middle = time.perf_counter()
                booster.fit(X, y)
                cost = (time.perf_counter() - middle) / (middle - begun)
                peer = CalibratedClassifierCV(plain, method="sigmoid", cv=5).fit(X, y)
            ours, theirs, share = (
                log_loss(y_test, model.predict_proba(X_test)) for model in (booster, peer, plain)
            )
            votes, up = booster.decision_function(X_test), y_test == booster.classes_[1]
            best = fit_sigmoid(votes, up, np.ones(votes.size, dtype=np.int64))[2]
            rows.append((name, kind.__name__, share, ours, theirs, ours / theirs, best, cost))
    columns = (
        Column("set"),
        Column("booster"),
        Column("share of vote", ".4f"),
        Column("ours", ".4f"),
        Column("scikit-learn", ".4f"),
        Column("ratio", ".3f"),
        Column("best sigmoid", ".4f"),
        Column("time to plain fit", ".1f"),
    )
    title = f"log-loss, {arguments.rounds} rounds, depth {arguments.depth}"
    console().print(draw_table(Table(title, columns, tuple(rows))))


if __name__ == "__main__":
    main()
