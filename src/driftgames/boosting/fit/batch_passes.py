"""Passes over a source of batches: each is checked as `fit` does, and all see the same rows.

Of each example only its weight and, for folds, its label and its hash are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.fingerprint import OTHER_ROWS, Fingerprint
from driftgames.boosting.data.frames import UNKNOWN, Categories, FoundCategories, recode
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.data.sample_weights import (
    SampleWeights,
    check_weights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.data.sources import Batch, Source
from driftgames.boosting.face.input_checks import find_classes
from driftgames.boosting.fit.calibration import RowKeys
from driftgames.core.checks import float_errors
from driftgames.core.progress import progress
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class Rows(NamedTuple):
    """The examples of positive weight of a batch; ``begin`` is the number of those before it."""

    X: Any
    y: Array
    weights: IntArray
    hashes: Array
    begin: int

    def of(self, of_all: Array) -> Array:
        """Return the entries of these examples from an array over all."""
        return of_all[self.begin : self.begin + self.y.size]


@dataclass
class BatchPasses:
    """Reads a source as often as needed.

    ``check(X, y, first)`` returns the examples of a batch in the form that `fit` uses, and their
    categories: see `input_checks.check_examples`. ``keeps_keys`` tells whether `keys` will be asked
    for, and ``show`` whether there are progress bars.
    """

    source: Source
    check: Callable[[Any, Any, bool], tuple[Any, Array, tuple[Categories | None, ...] | None]]
    class_weight: Any
    keeps_keys: bool
    show: bool
    classes: Array = field(default_factory=lambda: np.empty(0))
    categories: tuple[Categories | None, ...] | None = None
    weights: SampleWeights | None = None  # of all examples; zero where they do not count
    sample_weight: FloatArray | None = None  # what the user says that they weigh
    held_out: BoolArray | None = None  # of the examples that count, those not trained on
    _pending: Iterator[Batch] | None = None
    _n_rows: int | None = None
    _expected: Fingerprint | None = None
    _hashes: list[Array] = field(default_factory=list)
    _labels: list[Array] = field(default_factory=list)

    def begin(self) -> None:
        """Read the first batch, and all of them if they have weights or categories."""
        self._pending = self.source.read()
        first = next(self._pending, None)
        if first is None:
            raise ValueError("source must yield examples; it yielded no batch")
        _, _, categories = self._checked(0, first, reset=True)
        self._pending = chain([first], self._pending)
        if first.sample_weight is not None or self.class_weight is not None:
            self._weigh()
        if categories is not None:
            seen, labels = [], []
            for k, batch, _, y, some in self._batches("finding categories"):
                if some is None:
                    raise ValueError(f"batch {k} must have categories as batch 0; it has none")
                seen.append(FoundCategories.of(batch.X, some))
                labels.append(np.unique(y))
            self.categories = reduce(add, seen).categories
            self.classes = find_classes(np.concatenate(labels))

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact."""
        return self.weights is None or self.weights.integer_weights

    def count(self) -> int:
        """Return the number of examples that count."""
        if self._expected is None:
            for _ in self.read("reading labels"):
                pass
        assert self._expected is not None
        return self._expected.n_rows

    def keys(self) -> RowKeys:
        """Return what folds are made of, for the examples that count."""
        self.count()  # reads them
        self._hashes, self._labels = [np.concatenate(self._hashes)], [np.concatenate(self._labels)]
        own = self.sample_weight
        kept = None if own is None else own[own > 0]
        return RowKeys(self._hashes[0], np.searchsorted(self.classes, self._labels[0]), kept)

    def hold_out(self, choose: Callable[[RowKeys, IntArray], BoolArray]) -> None:
        """Hold out the examples that ``choose`` chooses by their keys and weights."""
        keys, masses = self.keys(), np.ones(self.count(), dtype=np.int64)
        if self.weights is not None:
            masses = self.weights.of_each[self.weights.of_each > 0]
        self.held_out = choose(keys, masses)
        # what was seen so far says nothing of the order of rows, which decides who is held out
        self._expected = Fingerprint()
        self._expected.add(self.classes[keys.labels], masses, keys.hashes, self.held_out)

    def read(self, task: str) -> Iterator[Rows]:
        """Yield the examples of positive weight of each batch; check that they are the same."""
        at = begin = 0
        expected, seen, labels = self._expected, Fingerprint(), []
        keeps = self.keeps_keys and not self._hashes
        for k, _, X, y, categories in self._batches(task):
            if self.categories is not None and categories is not None:
                X = self._recoded(k, X, categories)
            labels.append(np.unique(y))
            weights: IntArray = np.ones(y.size, dtype=np.int64)
            if self.weights is not None:
                weights = self.weights.of_each[at : at + y.size]
                if weights.size < y.size:
                    raise ValueError(f"{OTHER_ROWS}; there are more of them now")
            at += y.size
            heavy = weights > 0
            if not heavy.all():
                X, y, weights = X[heavy], y[heavy], weights[heavy]
            if not y.size:
                continue
            rows = Rows(X, y, weights, hash_rows(X), begin)
            held_out = None if self.held_out is None else rows.of(self.held_out)
            if held_out is not None and held_out.size < y.size:
                raise ValueError(f"{OTHER_ROWS}; there are more of them now")
            seen.add(y, weights, rows.hashes, held_out)
            if expected is not None:
                seen.compare(expected, ended=False)
            if keeps:
                self._hashes.append(rows.hashes)
                self._labels.append(y)
            yield rows
            begin += y.size
        if expected is not None:
            seen.compare(expected)
            return
        self._expected, self._n_rows = seen, at
        if not self.classes.size:
            self.classes = find_classes(np.concatenate(labels))

    def _weigh(self) -> None:
        """Read the labels and sample weights of all batches."""
        labels, weights = [], []
        for batch in self.source.read_weights():
            labels.append(np.asarray(batch.y))
            weights.append(np.zeros(0) if batch.sample_weight is None else batch.sample_weight)
        weighted = any(map(np.size, weights))
        for k, (own, of_labels) in enumerate(zip(weights, labels, strict=True)):
            if weighted and np.shape(own) != of_labels.shape:
                raise ValueError(
                    "all batches must have a sample weight for each label, or none; batch "
                    f"{k} has {np.size(own)} weights for {of_labels.size} labels"
                )
        y = np.concatenate(labels)
        self.classes = find_classes(y)
        if weighted:
            with float_errors("sample_weight"):
                self.sample_weight = check_weights(np.concatenate(weights), y, y, self.classes)
        weighed = weigh_classes(self.class_weight, y, self.classes, self.sample_weight)
        _, _, heavy = weigh_examples(y, y, weighed)
        integers = np.zeros(y.size, dtype=np.int64)
        integers[slice(None) if weighed is None else weighed > 0] = heavy.of_each
        self.weights = SampleWeights(integers, heavy.integer_weights)

    def _batches(self, task: str) -> Iterator[tuple[int, Batch, Any, Array, Any]]:
        """Yield each batch with its number and what the checks return of it."""
        batches, self._pending = self._pending or self.source.read(), None
        sparse = None
        with progress(task, self._n_rows or self.source.n_rows, show=self.show) as advance:
            for k, batch in enumerate(batches):
                if batch.sample_weight is not None and self.sample_weight is None:
                    self._weigh()  # it says which batch has none
                X, y, categories = self._checked(k, batch)
                if sparse not in (None, sp.issparse(X)):
                    raise ValueError(f"batches must be all dense or all sparse; batch {k} differs")
                sparse = sp.issparse(X)
                yield k, batch, X, y, categories
                advance(y.size)

    def _checked(self, k: int, batch: Batch, *, reset: bool = False) -> tuple[Any, Array, Any]:
        if np.ndim(batch.X) == 2 and batch.X.shape[0] == 0:
            raise ValueError(f"batch {k} must not be empty; it has no rows")
        try:
            X, y, categories = self.check(batch.X, batch.y, reset)
        except ValueError as error:
            raise ValueError(f"batch {k}: {error}") from error
        if not sp.issparse(X):
            return np.require(X, requirements=["C", "W"]), y, categories
        X.sum_duplicates()
        return X, y, categories

    def _recoded(self, k: int, X: Any, categories: tuple[Categories | None, ...]) -> Any:
        """Return codes among the categories of all batches."""
        assert self.categories is not None
        X = recode(X, categories, self.categories)
        for j, known in enumerate(self.categories):
            if known is not None and (X[:, j] == UNKNOWN).any():
                late = sorted(set(categories[j] or ()) - set(known), key=str)
                raise ValueError(
                    f"{OTHER_ROWS}; batch {k} holds the category {late[0]!r} in column {j} now"
                )
        return X
