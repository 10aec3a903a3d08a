"""Where examples are: what `fit_booster` asks of a source, and the source of examples in memory.

A `Source` holds all examples, checked, and `Rows` are those to train on. `batches` has the source
of examples that come in batches, and `dask.cluster_source` that of a cluster. They differ in what
they can do: folds need rows in memory, and from a cluster a sample of rows is taken for the race.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse

from driftgames.boosting.data.binned_data import BinnedData, bin_examples
from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import directions
from driftgames.boosting.data.frames import Categories
from driftgames.boosting.data.pairs import ColumnPairs
from driftgames.boosting.data.row_sample import hash_rows, mix_hashes
from driftgames.boosting.data.sample_weights import (
    PAIR_BITS,
    WEIGHT_BITS,
    SampleWeights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.engine.game import Game
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import RowKeys
from driftgames.boosting.fit.job import Columns, Job, Plan
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import BoolArray, FloatArray, IntArray

_FEW_CODES = 100_000  # from this number of bins that rows list on, a second thread helps
_FEW_PAIR_CODES = 4_000_000  # the same for several classes, whose sums are read from memory


class Threads(NamedTuple):
    """The threads of a fit; the pool is None if there is one."""

    pool: ThreadPoolExecutor | None
    n_threads: int


ONE_THREAD = Threads(None, 1)


@dataclass(frozen=True)
class Unseen:
    """Examples that are not trained on, as the columns that hypotheses ask about."""

    X: Matrix
    y: Array
    masses: IntArray


class Opened(NamedTuple):
    """A game before its first round, and a model of no rounds for its examples."""

    game: Game
    model: FittedModel


class Rows(ABC):
    """The examples to train on."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Their number."""

    @abstractmethod
    def take(self, rows: IntArray) -> LocalRows:
        """Return some of the examples, in memory."""

    @abstractmethod
    def open(
        self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads
    ) -> AbstractContextManager[Opened]:
        """Begin a game of these examples."""


class LocalRows(Rows):
    """Examples in memory, which folds can be made of."""

    columns: Columns
    labels: IntArray | None
    """The numbers of their classes; None if they are two, and the bins know them."""

    @abstractmethod
    def coded(
        self, held_out: BoolArray | None, *, ranked: bool
    ) -> tuple[CategoryEncoder | None, BinnedData]:
        """Return all rows in bins, coded without the labels of those ``held_out``.

        With ``ranked`` features of categories have columns of ranks too, which trees ask about.
        """

    def pairable(self) -> IntArray:
        """Return the numbers of the columns that pairs can be made of. Default: none."""
        return np.empty(0, dtype=np.int64)

    def with_pairs(self, pairs: ColumnPairs) -> LocalRows:
        """Return the same examples with pairs of `pairable` columns behind the others."""
        raise AssertionError("no column of these examples is pairable")

    @contextmanager
    def open(self, job: Job, shape: TreeShape, n_rounds: int, threads: Threads) -> Iterator[Opened]:
        """Begin a game of these examples."""
        encoder, binned = self.coded(None, ranked=not shape.is_stump)
        two_classes = self.columns.classes.size == 2
        few = binned.bins.codes.size < (_FEW_CODES if two_classes else _FEW_PAIR_CODES)
        n_threads = 1 if few else threads.n_threads
        learner = self.columns.learner(binned, shape, self.labels, n_threads)
        yield Opened(job.rule.begin(learner, n_rounds), self.columns.empty_model(encoder))


class Source(ABC):
    """All examples of a fit, checked."""

    columns: Columns
    races: bool = True
    """Whether sizes can race on folds of these examples, or of a sample."""
    race_on_sample: bool = False
    """Whether a sample races, because the rows are not in memory."""
    no_means: str = ""
    """Why the model cannot be a mean of fold boosters; empty if it can."""
    folds_share_bins: bool = True
    """Whether folds can be fits on the same bins; see `Plan`."""
    in_memory: bool = False
    """Whether the training examples can be scored in every round."""

    @abstractmethod
    def count(self) -> int:
        """Return the number of examples of positive weight."""

    @abstractmethod
    def keys(self) -> RowKeys:
        """Return what folds are made of, for all examples of positive weight."""

    @abstractmethod
    def masses(self) -> IntArray:
        """Return the sample weights of these examples as integers, times class weights."""

    @abstractmethod
    def rows(self, job: Job, plan: Plan, held_out: BoolArray | None, threads: Threads) -> Rows:
        """Return the examples to train on: all but those ``held_out``."""

    @abstractmethod
    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples ``held_out``, or all."""

    @abstractmethod
    def select(self, taken: BoolArray) -> Source:
        """Return some of the examples, for a fold that is a fit of its own."""

    @abstractmethod
    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples, in their order."""


CodedCategories = tuple[Categories | None, ...] | None


class MemorySource(Source):
    """Examples in memory: ``X`` are columns of numbers, or codes among the ``categories``.

    ``sample_weight`` are the weights that the caller has given. Examples of weight zero count as
    absent.
    """

    in_memory = True

    def __init__(
        self,
        columns: Columns,
        X: Matrix,
        y: Array,
        categories: CodedCategories = None,
        sample_weight: FloatArray | None = None,
        class_weight: object = None,
    ) -> None:
        self.columns = columns
        self._categories = categories
        self._class_weight = class_weight
        weighed = weigh_classes(class_weight, y, columns.classes, sample_weight)
        bits = WEIGHT_BITS if columns.gaps is None else PAIR_BITS
        self._X, self._y, self._weights = weigh_examples(X, y, weighed, bits)
        self._sample_weight = None if sample_weight is None else sample_weight[sample_weight > 0]
        self._labels: IntArray = np.searchsorted(columns.classes, self._y)
        self.folds_share_bins = categories is None
        self._keys: RowKeys | None = None

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return int(self._y.size)

    def keys(self) -> RowKeys:
        """Return what folds are made of."""
        if self._keys is None:
            weighted, gaps = self._class_weight is not None, self.columns.gaps
            hashes = hash_rows(self._X)
            if gaps is not None:  # copies of a row may have different outcomes of one label
                hashes = mix_hashes(hashes, np.unique(self._y, return_inverse=True)[1])
            self._keys = RowKeys(hashes, self._labels, self._sample_weight, weighted, gaps)
        return self._keys

    def masses(self) -> IntArray:
        """Return the sample weights as integers, times class weights."""
        return self._weights.of_each

    def rows(
        self, job: Job, plan: Plan, held_out: BoolArray | None, threads: Threads
    ) -> MemoryRows:
        """Return the examples to train on; they are put into bins when these are read."""
        kept = slice(None) if held_out is None else ~held_out
        weights = self._weights._replace(of_each=self._weights.of_each[kept])
        X, labels = self._X[kept], self._labels[kept]
        max_bins = plan.bins_for(lambda: int(labels.size))
        return MemoryRows(
            self.columns, X, labels, weights, self._categories, max_bins, job.monotonic_cst, threads
        )

    def unseen(self, held_out: BoolArray | None, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples ``held_out``, or all."""
        chosen = slice(None) if held_out is None else held_out
        X = self._X[chosen]
        if encoder is not None and self._categories is not None:
            X = encoder.expand(encoder.recode(X, self._categories))
        return Unseen(X, self._y[chosen], self._weights.of_each[chosen])

    def select(self, taken: BoolArray) -> MemorySource:
        """Return some of the examples."""
        sample_weight = None if self._sample_weight is None else self._sample_weight[taken]
        X, y = self._X[taken], self._y[taken]
        return MemorySource(self.columns, X, y, self._categories, sample_weight, self._class_weight)

    def votes(self, model: FittedModel, taken: BoolArray, n_threads: int) -> FloatArray:
        """Return the votes of a model on some of the examples."""
        columns = model.expand(self._X[taken], self._categories)
        return model.votes(columns, n_threads=n_threads)


@dataclass(eq=False)
class MemoryRows(LocalRows):
    """Rows in memory, binned once, or with categories coded for each fold.

    The ranks of categories follow from labels. A fold must not see the labels of the rows that it
    holds out, so its categories are ranked without them. Everything else is shared.
    """

    columns: Columns
    X: Matrix
    labels: IntArray
    weights: SampleWeights
    categories: CodedCategories
    max_bins: int
    monotonic_cst: object
    threads: Threads = ONE_THREAD
    _binned: BinnedData | None = None

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return int(self.labels.size)

    def coded(
        self, held_out: BoolArray | None, *, ranked: bool
    ) -> tuple[CategoryEncoder | None, BinnedData]:
        """Return all rows in bins, coded without the labels of those ``held_out``."""
        if self.categories is None:
            if self._binned is None:
                self._binned = self._bin(self.X, self.X, None)
            return None, self._binned
        seen = np.ones(self.n_rows, dtype=bool) if held_out is None else ~held_out
        weights = self.weights._replace(of_each=self.weights.of_each[seen])
        encoder = CategoryEncoder.learn(
            self.X[seen],
            self.categories,
            self.labels[seen],
            weights,
            ranked=ranked,
            gaps=self.columns.gaps,
        )
        codes = encoder.recode(self.X, self.categories)
        return encoder, self._bin(encoder.expand(codes), codes, encoder)

    def take(self, rows: IntArray) -> Self:
        """Return some of the examples."""
        weights = self.weights._replace(of_each=self.weights.of_each[rows])
        X, labels = self.X[rows], self.labels[rows]
        return replace(self, X=X, labels=labels, weights=weights, _binned=None)

    def pairable(self) -> IntArray:
        """Return the columns of numbers, unless the examples are sparse."""
        if scipy.sparse.issparse(self.X):
            return super().pairable()
        known = self.categories or (None,) * self.X.shape[1]
        numeric = np.array([each is None for each in known])
        if self.monotonic_cst is not None:  # a pair may fall where its column rises
            numeric &= directions(self.monotonic_cst, numeric.size, self.columns.names) == 0
        return np.flatnonzero(numeric)

    def with_pairs(self, pairs: ColumnPairs) -> Self:
        """Return the same examples with pairs of columns behind the others."""
        return replace(self, columns=replace(self.columns, pairs=pairs), _binned=None)

    def _bin(self, columns: Matrix, X: Matrix, encoder: CategoryEncoder | None) -> BinnedData:
        two, pairs = self.columns.classes.size == 2, self.columns.pairs
        if pairs is not None:
            columns = pairs.append(columns, X)
        return bin_examples(
            columns,
            self.labels == 1 if two else np.zeros(self.n_rows, dtype=bool),
            self.weights.of_each,
            self.max_bins,
            integer_weights=self.weights.integer_weights,
            monotonic=self.columns.constraints(self.monotonic_cst, encoder),
            pool=self.threads.pool,
            n_parts=self.threads.n_threads,
        )
