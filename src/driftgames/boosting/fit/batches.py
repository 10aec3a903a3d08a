"""Fits beyond memory: one pass over the batches for the cuts, one for the bins.

Cuts are chosen from a summary that merges, and weights are integers. So the model is that of a fit
on all rows at once, for any size and any order of the batches. Of each example only its weight and,
for folds, its label and its hash are kept. Sample weights, categories and examples that are held
out take passes of their own before the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cut_summary import CutSummary
from driftgames.boosting.data.cuts import Cuts
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
from driftgames.boosting.face.booster_input import BoosterInput, find_classes
from driftgames.boosting.fit.assembly import begin_assembly, join
from driftgames.boosting.fit.calibration import CrossFit, RowKeys, cross_fit, votes_after
from driftgames.boosting.fit.monitoring import Stopping
from driftgames.boosting.model.categories import CategoryCounts, CategoryEncoder
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
class BatchReader:
    """Reads a source as often as needed, with the checks of `fit` on every batch.

    ``check(X, y, first)`` returns the examples of a batch in the form that `fit` uses, and their
    categories: see `BoosterInput._check_examples`. ``keeps_keys`` tells whether `keys` will be
    asked for, and ``show`` whether there are progress bars.
    """

    source: Source
    check: Callable[[Any, Any, bool], tuple[Any, Array, tuple[Categories | None, ...] | None]]
    class_weight: Any
    keeps_keys: bool
    show: bool
    classes: Array = field(default_factory=lambda: np.empty(0))
    categories: tuple[Categories | None, ...] | None = None
    encoder: CategoryEncoder | None = None
    weights: SampleWeights | None = None  # of all examples; zero where they do not count
    held: BoolArray | None = None  # of the examples that count, those that are not trained on
    unseen: list[tuple[Any, Array, IntArray]] = field(default_factory=list)  # the held ones
    _given: FloatArray | None = None
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
            found, labels = [], []
            for k, batch, _, y, mine in self._batches("finding categories"):
                if mine is None:
                    raise ValueError(f"batch {k} must have categories as batch 0; it has none")
                found.append(FoundCategories.of(batch.X, mine))
                labels.append(np.unique(y))
            self.categories = reduce(add, found).held
            self.classes = find_classes(np.concatenate(labels))

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact."""
        return self.weights is None or self.weights.integer_weights

    def keys(self) -> RowKeys:
        """Return what folds are made of, for the examples that count."""
        self.count()  # reads them
        self._hashes, self._labels = [np.concatenate(self._hashes)], [np.concatenate(self._labels)]
        given = self._given
        kept = None if given is None else given[given > 0]
        return RowKeys(self._hashes[0], np.searchsorted(self.classes, self._labels[0]), kept)

    def training_keys(self) -> RowKeys:
        """Return the same for the examples that are trained on."""
        keys = self.keys()
        if self.held is None:
            return keys
        kept = ~self.held
        given = None if keys.sample_weight is None else keys.sample_weight[kept]
        return RowKeys(keys.hashes[kept], keys.labels[kept], given)

    def count(self) -> int:
        """Return the number of examples that count."""
        if self._expected is None:
            for _ in self._read("reading labels"):
                pass
        assert self._expected is not None
        return self._expected.n_rows

    def hold_out(self, stopping: Stopping) -> None:
        """Hold out examples from now on, and collect them in the pass for the cuts."""
        keys, masses = self.keys(), np.ones(self.count(), dtype=np.int64)
        if self.weights is not None:
            masses = self.weights.of_each[self.weights.of_each > 0]
        numbers = np.arange(self.classes.size)
        self.held = stopping.hold_out(keys.hashes, keys.labels, masses, numbers)
        # what was seen so far says nothing of the order of rows, which decides who is held
        self._expected = Fingerprint()
        self._expected.add(self.classes[keys.labels], masses, keys.hashes, self.held)

    def encode(self, *, ranked: bool) -> CategoryEncoder | None:
        """Read all batches if there are categories; return their encoder."""
        categories = self.categories
        if categories is None:
            return None
        counts = [
            CategoryCounts.of(X, categories, labels, weights, self.classes.size)
            for X, labels, weights in self._training("counting categories")
        ]
        self.encoder = CategoryEncoder.of_counts(
            categories, reduce(add, counts), integer_weights=self.integer_weights, ranked=ranked
        )
        return self.encoder

    def summarise(self, max_bins: int) -> Cuts:
        """Read all batches; return the cuts."""
        summary = CutSummary(max_bins)
        for rows in self._read("finding cuts"):
            X, y, weights = rows.X, rows.y, rows.weights
            hashes: Array | None = rows.hashes
            if self.held is not None:
                held = rows.of(self.held)
                if held.any():
                    self.unseen.append((self.expand(X[held]), y[held], weights[held]))
                X, y, weights, hashes = X[~held], y[~held], weights[~held], None
            if y.size:
                plain = hashes if self.encoder is None else None
                summary.add(self.expand(X), weights, plain)
        return summary.cuts()

    def bin(self, cuts: Cuts, **settings: Any) -> tuple[BinnedData, IntArray | None]:
        """Read all batches again; return them in bins, and their labels.

        The labels number the classes; there are none of two classes.
        """
        assembly = None
        for X, labels, weights in self._training("binning"):
            columns = self.expand(X)
            assembly = assembly or begin_assembly(columns, cuts, self.classes.size)
            assembly.add(columns, labels, weights)
        assert assembly is not None
        binned = assembly.finish(integer_weights=self.integer_weights, **settings)
        return binned, assembly.labels

    def take_unseen(self) -> tuple[Any, Array, IntArray] | None:
        """Return the examples held out, and forget them."""
        parts, self.unseen = self.unseen, []
        return join(parts)

    def expand(self, X: Any) -> Any:
        """Return the columns that stumps and trees ask about."""
        if self.encoder is None or self.categories is None:
            return X
        return self.encoder.expand(self.encoder.recode(X, self.categories))

    def cross_fit(self, booster: BoosterInput, stages: Sequence[int]) -> CrossFit:
        """Do the same as `calibration.cross_fit` for a booster fitted to these batches."""
        keys = self.keys()
        given = keys.sample_weight

        def select(taken: BoolArray) -> Iterator[tuple[Any, ...]]:
            for rows in self._read("calibrating"):
                mine = rows.of(taken)
                if mine.any():
                    weights = () if given is None else (rows.of(given)[mine],)
                    yield rows.X[mine], rows.y[mine], *weights

        def refit(fresh: BoosterInput, held: BoolArray, stages: Sequence[int]) -> FloatArray:
            columns = self.expand
            if fresh is not booster:
                fresh.fit_batches(lambda: select(~held))
                columns = fresh.model_.encode
            votes = [votes_after(fresh, columns(X), stages) for X, *_ in select(held)]
            return np.concatenate(votes, axis=1)

        return cross_fit(booster, keys, refit, stages)

    def _weigh(self) -> None:
        """Read the labels and sample weights of all batches."""
        labels, given = [], []
        for batch in self.source.read_weights():
            labels.append(np.asarray(batch.y))
            given.append(np.zeros(0) if batch.sample_weight is None else batch.sample_weight)
        weighted = any(map(np.size, given))
        for k, (mine, of_labels) in enumerate(zip(given, labels, strict=True)):
            if weighted and np.shape(mine) != of_labels.shape:
                raise ValueError(
                    "all batches must have a sample weight for each label, or none; batch "
                    f"{k} has {np.size(mine)} weights for {of_labels.size} labels"
                )
        y = np.concatenate(labels)
        self.classes = find_classes(y)
        if weighted:
            with float_errors("sample_weight"):
                self._given = check_weights(np.concatenate(given), y, y, self.classes)
        weighed = weigh_classes(self.class_weight, y, self.classes, self._given)
        _, _, heavy = weigh_examples(y, y, weighed)
        integers = np.zeros(y.size, dtype=np.int64)
        integers[slice(None) if weighed is None else weighed > 0] = heavy.of_each
        self.weights = SampleWeights(integers, heavy.integer_weights)

    def _training(self, task: str) -> Iterator[tuple[Any, IntArray, IntArray]]:
        """Yield the examples to train on: categories as codes, numbers of classes, weights."""
        for rows in self._read(task):
            X, labels, weights = rows.X, np.searchsorted(self.classes, rows.y), rows.weights
            if self.held is not None:
                mine = ~rows.of(self.held)
                X, labels, weights = X[mine], labels[mine], weights[mine]
            if labels.size:
                yield X, labels, weights

    def _read(self, task: str) -> Iterator[Rows]:
        """Yield the examples of positive weight of each batch; check that they are the same."""
        at = begin = 0
        expected, seen, labels = self._expected, Fingerprint(), []
        keeps = self.keeps_keys and not self._hashes
        for k, _, X, y, mine in self._batches(task):
            if self.categories is not None and mine is not None:
                X = self._recoded(k, X, mine)
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
            held = None if self.held is None else rows.of(self.held)
            if held is not None and held.size < y.size:
                raise ValueError(f"{OTHER_ROWS}; there are more of them now")
            seen.add(y, weights, rows.hashes, held)
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

    def _batches(self, task: str) -> Iterator[tuple[int, Batch, Any, Array, Any]]:
        """Yield each batch with its number and what the checks return of it."""
        batches, self._pending = self._pending or self.source.read(), None
        sparse = None
        with progress(task, self._n_rows or self.source.n_rows, show=self.show) as advance:
            for k, batch in enumerate(batches):
                if batch.sample_weight is not None and self._given is None:
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
        for j, mine in enumerate(self.categories):
            if mine is not None and (X[:, j] == UNKNOWN).any():
                late = sorted(set(categories[j] or ()) - set(mine), key=str)
                raise ValueError(
                    f"{OTHER_ROWS}; batch {k} holds the category {late[0]!r} in column {j} now"
                )
        return X
