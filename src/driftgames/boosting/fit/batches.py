"""Examples in batches: the source of `fit_batches`, which need not fit in memory.

There is one pass over the batches for the cuts, and one for the bins. Cuts are chosen from a
summary that merges, and weights are integers. So the model is that of a fit on all rows at once,
for any size and any order of the batches. Sample weights, categories and examples that are held out
take passes of their own before the first. Of each example only its weight and, for folds, its label
and its hash are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.data.batch_readers import OTHER_ROWS, Batch, BatchReader, Fingerprint
from driftgames.boosting.data.binned_data import BinnedData, begin_assembly, join
from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import ExampleChecks, find_classes, warn_of_identifiers
from driftgames.boosting.data.cuts import CutSummary
from driftgames.boosting.data.frames import UNKNOWN, Categories, FoundCategories, recode
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.data.sample_weights import (
    SampleWeights,
    check_weights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.job import Columns, Job, Plan
from driftgames.boosting.fit.source import (
    CodedCategories,
    LocalRows,
    Source,
    Threads,
    Unseen,
)
from driftgames.boosting.model.categories import CategoryCounts, CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.checks import float_errors
from driftgames.core.progress import progress
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class BatchSource(Source):
    """Examples in batches."""

    def __init__(self, passes: BatchPasses) -> None:
        self._passes = passes
        self._encoder: CategoryEncoder | None = None
        self._unseen: list[tuple[Matrix, Array, IntArray]] = []
        passes.begin()
        # folds of batches share bins, and a fold must not see categories ranked by all labels
        self.races = self.folds_share_bins = passes.categories is None
        if not self.races:
            self.no_means = "batches with categories have none that share bins"

    @property
    def columns(self) -> Columns:  # type: ignore[override]  # a pass finds the classes
        """What is known of the columns and labels."""
        if not self._passes.classes.size:
            self._passes.count()
        return Columns.of(self._passes.classes, self._passes.checks)

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return self._passes.count()

    def keys(self) -> RowKeys:
        """Return what folds are made of."""
        return self._passes.keys()

    def masses(self) -> IntArray:
        """Return the sample weights as integers, times class weights."""
        return self._passes.masses()

    def rows(self, job: Job, plan: Plan, held_out: BoolArray | None, threads: Threads) -> BatchRows:
        """Read all batches for the encoder, if there are categories, for the cuts and the bins."""
        passes = self._passes
        if held_out is not None:
            passes.hold_out(held_out)
        if passes.categories is not None:
            self._encoder = self._learn_categories(ranked=not job.shape.is_stump)
        summary = CutSummary(plan.bins_for(passes.count_training))
        for batch in passes.read("finding cuts"):
            X, y, weights = batch.X, batch.y, batch.weights
            hashes: Array | None = batch.hashes
            if passes.held_out is not None:
                out = batch.part_of(passes.held_out)
                if out.any():
                    self._unseen.append((self._expand(X[out]), y[out], weights[out]))
                X, y, weights, hashes = X[~out], y[~out], weights[~out], None
            if y.size:  # the hashes are those of rows before they are encoded
                known = hashes if self._encoder is None else None
                summary.add(self._expand(X), weights, known)
        columns, assembly = self.columns, None
        cuts, constraints = summary.cuts(), columns.constraints(job.monotonic_cst, self._encoder)
        for X, labels, weights in self._training("binning"):
            expanded = self._expand(X)
            assembly = assembly or begin_assembly(expanded, cuts, columns.classes.size)
            assembly.add(expanded, labels, weights)
        assert assembly is not None
        integer_weights = passes.integer_weights
        binned = assembly.finish(integer_weights=integer_weights, monotonic=constraints)
        return BatchRows(columns, binned, self._encoder, assembly.labels)

    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples held out, and forget them."""
        parts, self._unseen = self._unseen, []
        joined = join(parts)
        assert joined is not None
        return Unseen(*joined)

    def select(self, taken: BoolArray) -> BatchSource:
        """Return some of the examples, in batches of what is left."""
        sample_weight = self._passes.keys().sample_weight

        def read() -> Iterator[Batch]:
            for batch in self._passes.read("calibrating"):
                some = batch.part_of(taken)
                if some.any():
                    weights = None
                    if sample_weight is not None:
                        weights = batch.part_of(sample_weight)[some]
                    yield Batch(batch.X[some], batch.y[some], weights)

        passes = BatchPasses(
            BatchReader(read, read),
            self._passes.checks,
            self._passes.class_weight,
            keeps_keys=False,
            show=False,
            categories=self._passes.categories,
            is_checked=True,
        )
        return BatchSource(passes)

    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples."""
        votes = []
        for batch in self._passes.read("calibrating"):
            some = batch.part_of(taken)
            if some.any():
                columns = model.expand(batch.X[some], self._passes.categories)
                votes.append(model.votes(columns, n_threads=n_threads))
        return np.concatenate(votes)

    def _learn_categories(self, *, ranked: bool) -> CategoryEncoder:
        categories = self._passes.categories
        assert categories is not None
        counts = [
            CategoryCounts.of(X, categories, labels, weights, self.columns.classes.size)
            for X, labels, weights in self._training("counting categories")
        ]
        integer_weights = self._passes.integer_weights
        return CategoryEncoder.of_counts(
            categories, reduce(add, counts), integer_weights=integer_weights, ranked=ranked
        )

    def _training(self, task: str) -> Iterator[tuple[Matrix, IntArray, IntArray]]:
        """Yield the examples to train on: categories as codes, numbers of classes, weights."""
        held_out = self._passes.held_out
        for batch in self._passes.read(task):
            X, weights = batch.X, batch.weights
            labels = np.searchsorted(self._passes.classes, batch.y)
            if held_out is not None:
                kept = ~batch.part_of(held_out)
                X, labels, weights = X[kept], labels[kept], weights[kept]
            if labels.size:
                yield X, labels, weights

    def _expand(self, X: Matrix) -> Matrix:
        """Return the columns that stumps and trees ask about."""
        categories = self._passes.categories
        if self._encoder is None or categories is None:
            return X
        return self._encoder.expand(self._encoder.recode(X, categories))


@dataclass(frozen=True, eq=False)
class BatchRows(LocalRows):
    """Rows that are binned already; folds can be made of them if they have no categories."""

    columns: Columns
    binned: BinnedData
    encoder: CategoryEncoder | None
    labels: IntArray | None

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return self.binned.n_rows

    def coded(
        self, held_out: BoolArray | None, *, ranked: bool
    ) -> tuple[CategoryEncoder | None, BinnedData]:
        """Return all rows in bins."""
        return self.encoder, self.binned

    def take(self, rows: IntArray) -> BatchRows:
        """Return some of the examples."""
        return BatchRows(self.columns, self.binned.take(rows), None, None)


class _CheckedBatch(NamedTuple):
    """The examples of positive weight of a batch; ``begin`` is the number of those before it."""

    X: Matrix
    y: Array
    weights: IntArray
    hashes: Array
    begin: int

    def part_of(self, of_all: Array) -> Array:
        """Return the entries of these examples from an array over all."""
        return of_all[self.begin : self.begin + self.y.size]


@dataclass
class BatchPasses:
    """Reads a source as often as needed.

    ``keeps_keys`` tells whether `keys` will be asked for, and ``show`` whether there are progress
    bars. What ``is_checked`` has codes among ``categories`` already.
    """

    source: BatchReader
    checks: ExampleChecks
    class_weight: object
    keeps_keys: bool
    show: bool
    classes: Array = field(default_factory=lambda: np.empty(0))
    categories: CodedCategories = None
    is_checked: bool = False
    weights: SampleWeights | None = None  # of all examples, zero included, times class weights
    sample_weight: FloatArray | None = None  # of all examples, as the batches have them
    held_out: BoolArray | None = None  # of those of positive weight, which are not trained on
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
        if categories is not None and self.categories is None:
            seen, labels, n_values = [], [], np.zeros(1, dtype=np.int64)
            for k, batch, X, y, some in self._batches("finding categories"):
                if some is None:
                    raise ValueError(f"batch {k} must have categories as batch 0; it has none")
                seen.append(FoundCategories.of(batch.X, some))
                labels.append(np.unique(y))
                n_values = n_values + np.count_nonzero(~np.isnan(X), axis=0)
            self.categories = reduce(add, seen).categories
            warn_of_identifiers(self.categories, n_values.tolist(), self.source.names)
            self.classes = find_classes(np.concatenate(labels))

    @property
    def integer_weights(self) -> bool:
        """Whether the sample weights are exact."""
        return self.weights is None or self.weights.integer_weights

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        if self._expected is None:
            for _ in self.read("reading labels"):
                pass
        assert self._expected is not None
        return self._expected.n_rows

    def keys(self) -> RowKeys:
        """Return what folds are made of, for the examples of positive weight."""
        self.count()  # reads them
        self._hashes, self._labels = [np.concatenate(self._hashes)], [np.concatenate(self._labels)]
        positive = self.sample_weight
        if positive is not None:
            positive = positive[positive > 0]
        labels = np.searchsorted(self.classes, self._labels[0])
        return RowKeys(self._hashes[0], labels, positive, self.class_weight is not None)

    def masses(self) -> IntArray:
        """Return the integer weights of the examples of positive weight."""
        if self.weights is None:
            return np.ones(self.count(), dtype=np.int64)
        return np.asarray(self.weights.of_each[self.weights.of_each > 0])

    def count_training(self) -> int:
        """Return the number of examples to train on."""
        n_held_out = 0 if self.held_out is None else int(np.count_nonzero(self.held_out))
        return self.count() - n_held_out

    def hold_out(self, held_out: BoolArray) -> None:
        """Hold out examples from now on."""
        keys, masses, self.held_out = self.keys(), self.masses(), held_out
        # what was seen so far says nothing of the order of rows, which decides who is held out
        self._expected = Fingerprint()
        self._expected.add(self.classes[keys.labels], masses, keys.hashes, held_out)

    def read(self, task: str) -> Iterator[_CheckedBatch]:
        """Yield the examples of positive weight of each batch; check that they are the same."""
        expected, seen, labels = self._expected, Fingerprint(), []
        keeps = self.keeps_keys and not self._hashes
        for batch in self._positive(task):
            held_out = None if self.held_out is None else batch.part_of(self.held_out)
            if held_out is not None and held_out.size < batch.y.size:
                raise ValueError(f"{OTHER_ROWS}; there are more of them now")
            seen.add(batch.y, batch.weights, batch.hashes, held_out)
            if expected is not None:
                seen.compare(expected, ended=False)
            if keeps:
                self._hashes.append(batch.hashes)
                self._labels.append(batch.y)
            labels.append(np.unique(batch.y))
            yield batch
        if expected is not None:
            seen.compare(expected)
            return
        self._expected = seen
        if not self.classes.size:
            self.classes = find_classes(np.concatenate(labels))

    def _positive(self, task: str) -> Iterator[_CheckedBatch]:
        """Yield the examples of positive weight of each batch that has any."""
        n_rows = begin = 0
        for k, _, X, y, categories in self._batches(task):
            if self.categories is not None and categories is not None:
                X = self._recoded(k, X, categories)
            weights: IntArray = np.ones(y.size, dtype=np.int64)
            if self.weights is not None:
                weights = self.weights.of_each[n_rows : n_rows + y.size]
                if weights.size < y.size:
                    raise ValueError(f"{OTHER_ROWS}; there are more of them now")
            n_rows += y.size
            heavy = weights > 0
            if not heavy.all():
                X, y, weights = X[heavy], y[heavy], weights[heavy]
            if y.size:
                yield _CheckedBatch(X, y, weights, hash_rows(X), begin)
                begin += y.size
        self._n_rows = n_rows

    def _weigh(self) -> None:
        """Read the labels and sample weights of all batches."""
        labels, weights = [], []
        for batch in self.source.read_weights():
            labels.append(np.asarray(batch.y))
            weights.append(np.zeros(0) if batch.sample_weight is None else batch.sample_weight)
        weighted = any(map(np.size, weights))
        for k, (of_batch, y) in enumerate(zip(weights, labels, strict=True)):
            if weighted and np.shape(of_batch) != y.shape:
                raise ValueError(
                    "all batches must have a sample weight for each label, or none; batch "
                    f"{k} has {np.size(of_batch)} weights for {y.size} labels"
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
        with progress(task, self._n_rows or self.source.n_rows, "rows", show=self.show) as advance:
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
        X, y, categories = batch.X, batch.y, self.categories
        if not self.is_checked:
            try:
                X, y, categories = self.checks.check_examples(X, y, first=reset)
            except ValueError as error:
                raise ValueError(f"batch {k}: {error}") from error
        if not sp.issparse(X):
            return np.require(X, requirements=["C", "W"]), y, categories
        X.sum_duplicates()
        return X, y, categories

    def _recoded(self, k: int, X: Matrix, categories: tuple[Categories | None, ...]) -> Matrix:
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
