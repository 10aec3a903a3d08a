"""Log-loss of calibrated boosters beside scikit-learn's calibration of the same booster.

``python -m bench.calibration`` prints a table of log-losses: of the share of the vote
(``calibrate=False``), of ours, of ``CalibratedClassifierCV(method="sigmoid", cv=5)``, whose five
boosters are averaged, of the same with ``ensemble=False``, which has one booster as ours, and of
the best sigmoid of our vote on the test part, which no calibration of this vote can beat by much.
``--depth N`` boosts trees; ``--rounds N`` sets the number of rounds. Default: stumps, 200
rounds.
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
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.model.calibration import fit_sigmoid
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
                five, one = (
                    CalibratedClassifierCV(plain, method="sigmoid", cv=5, ensemble=each).fit(X, y)
                    for each in (True, False)
                )
            models = plain, booster, five, one
            share, ours, of_five, of_one = (
                log_loss(y_test, model.predict_proba(X_test)) for model in models
            )
            votes, up = booster.decision_function(X_test), y_test == booster.classes_[1]
            best = fit_sigmoid(votes, up, np.ones(votes.size, dtype=np.int64))[2]
            ratios = ours / of_five, ours / of_one
            label = kind.__name__.removesuffix("Classifier")
            rows.append((name, label, share, ours, of_five, of_one, best, *ratios, cost))
    columns = (
        Column("set"),
        Column("booster"),
        Column("share", ".3f"),
        Column("ours", ".4f"),
        Column("five", ".4f"),
        Column("one", ".4f"),
        Column("best", ".4f"),
        Column("to five", ".3f"),
        Column("to one", ".3f"),
        Column("time", ".1f"),
    )
    title = f"log-loss, {arguments.rounds} rounds, depth {arguments.depth}"
    console().print(draw_table(Table(title, columns, tuple(rows))))


if __name__ == "__main__":
    main()
