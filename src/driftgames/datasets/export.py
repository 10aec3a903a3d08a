"""Sets as CSV files, for the commands and for other programs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driftgames.core.documents import atomic_write
from driftgames.core.registry import choose
from driftgames.datasets.bundled import BUNDLED
from driftgames.datasets.catalogue import CATALOGUE
from driftgames.datasets.dataset import Dataset, Split
from driftgames.datasets.files import DataError
from driftgames.datasets.loader import load

STOCKS = "stocks"
"""Monthly prices from 1990 to 2022, which come with matplotlib."""

VISITS = "visits"
"""Simulated visits of a web page with three versions."""

INDEX = "^GSPC"  # the S&P 500


def export(name: str, folder: str | os.PathLike[str] = ".", **loading: Any) -> list[Path]:
    """Write a set as CSV files to ``folder`` and return their paths.

    A set of examples becomes NAME.train.csv and NAME.test.csv, the class last; breast_cancer has
    its 30 measurements there, which `load` binarises. ``stocks`` becomes stocks.csv (prices),
    stocks.relatives.csv (each price over the one before) and stocks.forecasts.csv (three forecasts
    of the S&P 500, and its value). ``visits`` becomes
    visits.csv (features of a visitor and the loss of each page), visits.advice.csv (the losses,
    and the page that a rule and a model advise) and visits.pulls.csv (a log of the pages shown).
    ``loading`` goes to `load`.
    """
    choose("set", name, dict.fromkeys((*CATALOGUE, *BUNDLED, STOCKS, VISITS)))
    made = {STOCKS: _stocks, VISITS: _visits, "breast_cancer": _breast_cancer}
    tables = made[name]() if name in made else _examples(load(name, **loading))
    paths = []
    for ending, rows in tables.items():
        path = Path(folder) / f"{name}{ending}.csv"
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        with atomic_write(path) as stream:
            stream.write(text.getvalue().encode())
        paths.append(path)
    return paths


def _examples(data: Dataset) -> dict[str, Iterable[Sequence[Any]]]:
    def rows(split: Split) -> Iterable[Sequence[Any]]:
        yield [*data.feature_names, "class"]
        X = split.X.toarray() if hasattr(split.X, "toarray") else split.X
        for row, label in zip(X, split.y, strict=True):
            yield [*(f"{value:g}" for value in row), data.classes[int(label > 0)]]

    return {".train": rows(data.train), ".test": rows(data.test)}


def _breast_cancer() -> dict[str, Iterable[Sequence[Any]]]:
    """Return even rows to train on and odd rows to test on, as `load` does."""
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer()
    header = [*map(str, table.feature_names), "class"]
    rows = [
        [*(f"{value:g}" for value in row), str(table.target_names[label])]
        for row, label in zip(table.data, table.target, strict=True)
    ]
    return {".train": [header, *rows[0::2]], ".test": [header, *rows[1::2]]}


def _stocks() -> dict[str, Iterable[Sequence[Any]]]:
    """Return three tables of the months in which all prices are known."""
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "sample_data" / "Stocks.csv"
    if not path.is_file():
        raise DataError(f"{path} is not there: this matplotlib comes without its sample data")
    with path.open(encoding="utf-8", newline="") as stream:
        header, *lines = csv.reader(line for line in stream if not line.startswith("#"))
    first = lines[0]  # columns that begin later are left out
    kept = [j for j, cell in enumerate(first) if cell]
    months = [[line[j] for j in kept] for line in lines if all(line[j] for j in kept)]
    titles, dates = [header[j] for j in kept], [month[0] for month in months]
    prices = np.array([month[1:] for month in months], dtype=np.float64)
    relatives = np.round(prices[1:] / prices[:-1], 6).tolist()
    index, start = prices[:, titles.index(INDEX) - 1], 12
    forecasts = [
        (dates[t], index[t - 1], index[t - 3 : t].mean(), 2 * index[t - 1] - index[t - 2], index[t])
        for t in range(start, len(dates))
    ]
    columns = ["Date", "last month", "mean of 3 months", "same step again", "S&P 500"]
    return {
        "": [
            titles,
            *([d, *(f"{x:.6g}" for x in row)] for d, row in zip(dates, prices, strict=True)),
        ],
        ".relatives": [titles, *([d, *row] for d, row in zip(dates[1:], relatives, strict=True))],
        ".forecasts": [columns, *([d, *(f"{x:.2f}" for x in row)] for d, *row in forecasts)],
    }


def _visits() -> dict[str, Iterable[Sequence[Any]]]:
    """Return three tables of 2,000 simulated visits: a loss is 0 for a click, else 1."""
    rng, n = np.random.default_rng(0), 2000
    pages = np.array(["red", "green", "blue"])
    age, hour = rng.random((2, n)).round(3)
    chances = np.column_stack([0.1 + 0.3 * age, 0.4 - 0.3 * age, 0.1 + 0.2 * hour])
    losses = (rng.random((n, 3)) >= chances).astype(int)
    best = chances.argmax(axis=1)
    advised = [
        pages[np.where(rng.random(n) < right, best, (best + rng.integers(1, 3, n)) % 3)]
        for right in (3 / 4, 1 / 2)
    ]
    shown = rng.integers(0, 3, n)
    seen = zip(pages[shown], losses[np.arange(n), shown], strict=True)
    return {
        "": [
            ["age", "hour", *pages],
            *([a, h, *row] for a, h, row in zip(age, hour, losses, strict=True)),
        ],
        ".advice": [
            [*pages, "rule", "model"],
            *([*row, *who] for row, *who in zip(losses, *advised, strict=True)),
        ],
        ".pulls": [["arm", "propensity", "loss"], *([arm, 0.333333, x] for arm, x in seen)],
    }
