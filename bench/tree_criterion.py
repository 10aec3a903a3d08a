"""Which criterion should choose the questions of a tree: the table of docs/choosing.md.

``python -m bench.tree_criterion`` fits NH-Boost.DT with trees of two depths and both criteria and
prints the test errors as a Markdown table. Sets that have a test part are used as they are; the
others are divided into five folds. ``--rounds N`` sets the number of trees. Default: 200.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn import datasets as bundled

from bench.sets import Part, folds
from driftgames import datasets
from driftgames.boosting import NHBoostDTClassifier, NoEdgeWarning

CRITERIA = ("gini", "kearns-mansour")
DEPTHS = (2, 3)
PAPER_SETS = ("a9a", "census", "splice", "ocr49")


def sets() -> Iterator[tuple[str, list[Part]]]:
    """Yield every set by name."""
    for name in PAPER_SETS:
        data = datasets.load(name)
        yield name, [(data.train.X, data.train.y, data.test.X, data.test.y)]
    X, y = bundled.load_breast_cancer(return_X_y=True)
    yield "breast_cancer", folds(X, y)
    X, y = bundled.load_digits(return_X_y=True)
    yield "digits, odd or even", folds(X, y % 2)
    X, y = bundled.load_wine(return_X_y=True)
    yield "wine, class 1 or not", folds(X, y == 1)
    yield "make_moons", folds(*bundled.make_moons(1500, noise=0.3, random_state=0))
    yield "make_hastie_10_2", folds(*bundled.make_hastie_10_2(4000, random_state=0))
    made = bundled.make_classification(
        3000, 20, n_informative=8, n_clusters_per_class=4, flip_y=0.05, random_state=0
    )
    yield "make_classification", folds(*made)
    yield (
        "make_gaussian_quantiles",
        folds(
            *bundled.make_gaussian_quantiles(
                n_samples=3000, n_features=8, n_classes=2, random_state=0
            )
        ),
    )


def error(parts: list[Part], rounds: int, **settings: Any) -> float:
    """Return the test error in per cent, over all folds."""
    wrong = total = 0
    for X, y, X_test, y_test in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoEdgeWarning)
            booster = NHBoostDTClassifier(rounds, calibrate=False, **settings).fit(X, y)
        wrong += int(np.sum(booster.predict(X_test) != y_test))
        total += len(y_test)
    return 100.0 * wrong / total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    columns = [(depth, criterion) for depth in DEPTHS for criterion in CRITERIA]
    heads = ["set", "stumps", *(f"depth {depth}, {criterion}" for depth, criterion in columns)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    found = []
    for name, parts in sets():
        errors = [error(parts, rounds)]
        errors += [error(parts, rounds, max_depth=d, criterion=c) for d, c in columns]
        found.append(errors)
        lines.append("| " + " | ".join([name, *(f"{x:.2f}" for x in errors)]) + " |")
    means = np.mean(found, axis=0)
    lines.append("| mean | " + " | ".join(f"{x:.2f}" for x in means) + " |")
    for k, depth in enumerate(DEPTHS):
        gini, other = np.array(found)[:, 1 + 2 * k], np.array(found)[:, 2 + 2 * k]
        lines.append(
            f"\ndepth {depth}: gini is better on {np.sum(gini < other)} sets, "
            f"kearns-mansour on {np.sum(other < gini)}"
        )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
