"""What a loader returns: two splits, the names of the columns, and where they came from."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.core.caching import cached_property
from driftgames.datasets.files import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Split(NamedTuple):
    """Examples and their labels; unpacks as ``X, y = data.train``."""

    X: csr_matrix
    """One sparse row per example, float64."""
    y: npt.NDArray[np.int64]
    """-1 or +1 per example."""

    def __repr__(self) -> str:
        return f"<Split: {self.X.shape[0]:,} rows, {self.X.shape[1]:,} features>"


@dataclass(frozen=True)
class Dataset:
    """A binary classification set as an experiment takes it.

    Parameters
    ----------
    name : str
        The name that `load` takes.
    train, test : Split
        The two splits, with the same columns.
    feature_names : tuple of str
        One name per column.
    classes : tuple of two str
        The classes that are -1 and +1.
    source : str
        Where the data came from: a location of the search path, or a package.
    published : bool
        Whether these are the rows of the published experiment, by checksum.
    note : str
        A remark for readers of results. Default: none.
    """

    name: str
    train: Split
    test: Split
    feature_names: tuple[str, ...]
    classes: tuple[str, str]
    source: str
    published: bool
    note: str = ""

    def __post_init__(self) -> None:
        for what, split in (("train", self.train), ("test", self.test)):
            wanted = (split.y.size, len(self.feature_names))
            if split.X.shape != wanted:
                raise DataError(
                    f"{self.name}: {what}.X must have shape {wanted}; got {split.X.shape}"
                )
            if not np.isin(split.y, (-1, 1)).all():
                raise DataError(f"{self.name}: the labels of {what} must be -1 or +1")

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}, {self.train.y.size} + {self.test.y.size} rows, "
            f"{len(self.feature_names)} features, from {self.source})"
        )

    @cached_property
    def fingerprint(self) -> str:
        """A digest of rows and labels; stored results are found by it."""
        digest = hashlib.sha256()
        for split in (self.train, self.test):
            for array in (split.X.indptr, split.X.indices, split.X.data, split.y):
                # the same numbers give the same digest on every machine
                digest.update(np.ascontiguousarray(array).astype("<f8").tobytes())
        return digest.hexdigest()

    def with_labels_swapped(self) -> Dataset:
        """Return the same rows with the other class as +1.

        It matters where a vote can be tied: the paper's ``sign(0)`` is -1. [LS14, Alg. 6]
        """
        return replace(
            self,
            train=Split(self.train.X, -self.train.y),
            test=Split(self.test.X, -self.test.y),
            classes=(self.classes[1], self.classes[0]),
        )

    def without_test_rows(self) -> Dataset:
        """Return the set with every test row taken out of the training split, once.

        For a test split that is contained in the training split, as that of w8a is. A row that
        occurs more often in training than in test keeps its other copies, as it would in any
        random split.
        """
        remaining = Counter(_rows(self.test))
        keep = np.ones(self.train.y.size, dtype=bool)
        for i, row in enumerate(_rows(self.train)):
            if remaining[row] > 0:
                remaining[row] -= 1
                keep[i] = False
        return replace(self, train=Split(self.train.X[keep], self.train.y[keep]))


def _rows(split: Split) -> list[tuple[int, bytes, bytes]]:
    X = split.X.sorted_indices()
    spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [
        (int(y), X.indices[begin:end].tobytes(), X.data[begin:end].tobytes())
        for y, (begin, end) in zip(split.y, spans, strict=True)
    ]
