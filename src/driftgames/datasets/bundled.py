"""Sets that come with scikit-learn, so that every experiment can run without any file.

Both are binarised by the published rule. Even rows train and odd rows test; the values that
become columns are those of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames.datasets.binarise import Attribute, Row, binarise, make_columns, quantise
from driftgames.datasets.dataset import Dataset, Split

_LEVELS = 8


def load_digits49() -> Dataset:
    """Return scikit-learn's 8 x 8 digits, fours against nines.

    >>> load_digits49()
    Dataset('digits49', 181 + 180 rows, 715 features, from scikit-learn)
    """
    from sklearn.datasets import load_digits

    digits = load_digits()
    chosen = np.isin(digits.target, (4, 9))
    names = [f"{x}:{y}" for y in range(1, 9) for x in range(1, 9)]
    labels = np.where(digits.target[chosen] == 9, 1, -1)
    return _make("digits49", names, digits.data[chosen], labels, ("4", "9"))


def load_breast_cancer() -> Dataset:
    """Return Wisconsin breast cancer, benign as +1, each measurement in eight levels.

    >>> load_breast_cancer()
    Dataset('breast_cancer', 285 + 284 rows, 210 features, from scikit-learn)
    """
    from sklearn import datasets

    cancer = datasets.load_breast_cancer()
    names = [str(name).replace(" ", "-") for name in cancer.feature_names]
    even = np.arange(cancer.target.size) % 2 == 0
    levels = np.empty_like(cancer.data)
    for j in range(levels.shape[1]):
        # a value belongs to the highest level of the training rows that it reaches
        steps = np.unique(quantise(cancer.data[even, j], _LEVELS))
        at = np.searchsorted(steps, cancer.data[:, j], side="right") - 1
        levels[:, j] = steps[np.maximum(at, 0)]
    labels = np.where(cancer.target == 1, 1, -1)
    return _make("breast_cancer", names, levels, labels, ("malignant", "benign"))


@dataclass(frozen=True)
class BundledSet:
    """A set that comes with a package that is always installed."""

    title: str
    load: Callable[[], Dataset]
    package: str = "scikit-learn"


BUNDLED: dict[str, BundledSet] = {
    "digits49": BundledSet("8 x 8 digits, 4 against 9", load_digits49),
    "breast_cancer": BundledSet("Wisconsin breast cancer", load_breast_cancer),
}
"""The sets that need no file, by name."""


def _make(
    name: str,
    attributes: Sequence[str],
    data: npt.NDArray[np.float64],
    labels: npt.NDArray[np.int64],
    classes: tuple[str, str],
) -> Dataset:
    rows: list[Row] = [[f"{value:g}" for value in row] for row in data]
    columns = make_columns([Attribute(each) for each in attributes], rows[0::2])
    X = binarise(rows, columns)
    return Dataset(
        name,
        Split(X[0::2], labels[0::2]),
        Split(X[1::2], labels[1::2]),
        tuple(column.name for column in columns),
        classes,
        source="scikit-learn",
        published=False,
        note="Not a set of the paper.",
    )
