"""How should a booster learn more than two classes: the tables of docs/choosing.md.

``python -m bench.classes`` compares pairs of an example and a label (AdaBoost.MH) with one booster
for each class and with AdaBoost.MM (Mukherjee and Schapire, 2013), and prints test errors and the
processor seconds of all fits, in one thread, as a Markdown table. Every set is divided into five
folds. ``--rounds N`` sets the number of rounds (default: 200) and ``--sets iris,wine`` chooses
sets. ``--speed`` times a round beside one of two classes instead.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn import datasets as bundled
from sklearn.multiclass import OneVsRestClassifier

from bench.sets import folds
from driftgames.boosting import AdaBoostClassifier, NHBoostDTClassifier, NoEdgeWarning
from driftgames.boosting.data.cuts import cut_dense

DEPTHS = (1, 2, 3)
SETS: dict[str, Callable[[], Any]] = {
    "iris": partial(bundled.load_iris, return_X_y=True),
    "wine": partial(bundled.load_wine, return_X_y=True),
    "digits": partial(bundled.load_digits, return_X_y=True),
    "20 classes": partial(
        bundled.make_classification,
        3000,
        20,
        n_informative=12,
        n_classes=20,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    ),
}


class AdaBoostMM:
    r"""AdaBoost.MM, with trees that minimise the cost of the class that each leaf names.

    .. math:: C_{il} = e^{f_l(x_i) - f_{y_i}(x_i)}, \qquad C_{i y_i} = -\sum_{l \ne y_i} C_{il},
              \qquad \delta = -\frac{\sum_i C_{i h(x_i)}}{\sum_i |C_{i y_i}|}, \qquad
              \alpha = \tfrac12 \ln \frac{1 + \delta}{1 - \delta}

    The classes must be 0 to K - 1. It is written for its errors, not for speed.
    """

    def __init__(self, n_estimators: int, max_depth: int) -> None:
        self._rounds, self._depth = n_estimators, max_depth

    def fit(self, X: Any, y: Any) -> AdaBoostMM:
        """Fit to dense rows without missing values."""
        self._cuts = cut_dense(X, np.ones(y.size, dtype=np.int64), 255)
        bins = self._bins(X)
        offsets = self._cuts.offsets
        n_codes = int(offsets[-1])
        ends = np.arange(0, bins.size + 1, bins.shape[1])
        self._codes = csr_matrix(
            (np.ones(bins.size), (bins + offsets[:-1]).ravel(), ends), (y.size, n_codes)
        )
        last = np.zeros(n_codes, dtype=bool)
        last[offsets[1:] - 1] = True  # no question separates anything behind the last bin
        self._usable, self._begins = ~last, np.repeat(offsets[:-1], np.diff(offsets))
        n_classes, rows = int(y.max()) + 1, np.arange(y.size)
        scores = np.zeros((y.size, n_classes))
        self._rounds_played: list[tuple[float, list[Any]]] = []
        for _ in range(self._rounds):
            costs = np.exp(scores - scores[rows, y][:, None])
            costs[rows, y] = 0.0
            costs[rows, y] = -costs.sum(axis=1)
            tree: list[Any] = []
            self._grow(tree, bins, rows, costs, self._depth)
            named = _named(tree, bins)
            delta = costs[rows, named].sum() / costs[rows, y].sum()
            if delta <= 1e-12:
                break
            alpha = 0.5 * np.log((1 + delta) / max(1 - delta, 1e-12))
            scores[rows, named] += alpha
            self._rounds_played.append((alpha, tree))
            if delta > 1 - 1e-12:  # no cost is left
                break
        self._n_classes = n_classes
        return self

    def _grow(self, tree: list[Any], bins: Any, rows: Any, costs: Any, depth: int) -> int:
        """Add the tree of these rows to ``tree`` and return the number of its root."""
        at = len(tree)
        tree.append(int(costs[rows].sum(axis=0).argmin()))
        if depth == 0 or rows.size < 2:
            return at
        sums = self._codes[rows].T @ costs[rows]
        left = np.cumsum(sums, axis=0)
        before = np.vstack([np.zeros(sums.shape[1]), left])[self._begins]
        left = left - before
        right = costs[rows].sum(axis=0) - left
        value = np.where(self._usable, left.min(axis=1) + right.min(axis=1), np.inf)
        code = int(value.argmin())
        feature = int(np.searchsorted(self._cuts.offsets, code, side="right")) - 1
        cut = code - int(self._cuts.offsets[feature])
        goes = bins[rows, feature] <= cut
        if goes.all() or not goes.any():
            return at
        sides = [self._grow(tree, bins, rows[side], costs, depth - 1) for side in (goes, ~goes)]
        tree[at] = (feature, cut, *sides)
        return at

    def predict(self, X: Any) -> Any:
        """Return the class of the largest vote."""
        bins = self._bins(X)
        scores = np.zeros((len(X), self._n_classes))
        for alpha, tree in self._rounds_played:
            scores[np.arange(len(X)), _named(tree, bins)] += alpha
        return scores.argmax(axis=1)

    def _bins(self, X: Any) -> Any:
        thresholds, starts = self._cuts.thresholds, self._cuts.starts
        columns = [
            np.searchsorted(thresholds[starts[j] : starts[j + 1]], X[:, j])
            for j in range(X.shape[1])
        ]
        return np.stack(columns, axis=1)


def _named(tree: list[Any], bins: Any) -> Any:
    """Return the class that a tree names for each row."""
    named = np.empty(len(bins), dtype=np.int64)

    def go(n: int, rows: Any) -> None:
        if isinstance(tree[n], int):
            named[rows] = tree[n]
            return
        feature, cut, left, right = tree[n]
        goes = bins[rows, feature] <= cut
        go(left, rows[goes])
        go(right, rows[~goes])

    go(0, np.arange(len(bins)))
    return named


def compare(parts: Any, make: Callable[[], Any]) -> tuple[float, float]:
    """Return the test error in per cent over all folds, and the processor seconds of all fits."""
    wrong = total = 0
    seconds = 0.0
    for X, y, X_test, y_test in parts:
        model = make()
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoEdgeWarning)
            model.fit(X, y)
        seconds += time.process_time() - begin
        wrong += int(np.sum(model.predict(X_test) != y_test))
        total += len(y_test)
    return 100.0 * wrong / total, seconds


def errors(sets: list[str], rounds: int) -> None:
    """Print the table of errors."""
    heads = [
        "set",
        "depth",
        "pairs",
        "pairs, as long as one per class",
        "one per class",
        "AdaBoost, pairs",
        "AdaBoost, one per class",
        "AdaBoost.MM",
    ]
    _print("| " + " | ".join(heads) + " |", "|---" * len(heads) + "|")
    for name in sets:
        parts = folds(*SETS[name]())
        compare(parts[:1], partial(NHBoostDTClassifier, 2, max_depth=2))  # compile
        compare(parts[:1], lambda: OneVsRestClassifier(NHBoostDTClassifier(2, max_depth=2)))
        for depth in DEPTHS:
            pairs = compare(parts, partial(NHBoostDTClassifier, rounds, max_depth=depth))
            single = NHBoostDTClassifier(rounds, max_depth=depth)
            one_each = compare(parts, partial(OneVsRestClassifier, single))
            as_long = max(round(rounds * one_each[1] / pairs[1]), 1)
            ada = AdaBoostClassifier(rounds, max_depth=depth)
            found = [
                pairs,
                compare(parts, partial(NHBoostDTClassifier, as_long, max_depth=depth)),
                one_each,
                compare(parts, partial(AdaBoostClassifier, rounds, max_depth=depth)),
                compare(parts, partial(OneVsRestClassifier, ada)),
                compare(parts, partial(AdaBoostMM, rounds, depth)),
            ]
            cells = [f"{error:.2f} ({seconds:.1f} s)" for error, seconds in found]
            cells[1] += f", {as_long} rounds"
            _print("| " + " | ".join([name, str(depth), *cells]) + " |")


def speed(rounds: int) -> None:
    """Print the time of a round beside one of two classes, on the same rows."""
    _print("| rows | classes | depth | two classes | all | factor |", "|---" * 6 + "|")
    rng = np.random.default_rng(0)
    n_rows, n_features = 20_000, 20
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, :6] @ rng.normal(size=(6, 20)) + rng.normal(size=(n_rows, 20))
    for depth in (1, 3):
        times = {}
        for n_classes in (2, 3, 10, 20):
            y = score[:, :n_classes].argmax(axis=1)
            NHBoostDTClassifier(2, max_depth=depth).fit(X, y)
            short, long = (
                min(compare([(X, y, X[:1], y[:1])], make)[1] for _ in range(3))
                for make in (
                    partial(NHBoostDTClassifier, 2, max_depth=depth),
                    partial(NHBoostDTClassifier, 2 + rounds, max_depth=depth),
                )
            )
            times[n_classes] = (long - short) / rounds
            if n_classes > 2:
                now, two = 1e3 * times[n_classes], 1e3 * times[2]
                _print(
                    f"| {n_rows:,} x {n_features} | {n_classes} | {depth} | {two:.2f} ms | "
                    f"{now:.2f} ms | {now / two:.1f}x |"
                )


def _print(*lines: str) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    if arguments.speed:
        speed(arguments.rounds)
    else:
        errors(arguments.sets.split(","), arguments.rounds)


if __name__ == "__main__":
    main()
