"""The rows of a fit as its folds see them: binned once, or with categories coded for each fold.

The ranks of categories follow from labels. A fold must not see the labels of the rows that it holds
out, so its categories are ranked without them. Everything else is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData, bin_examples
from driftgames.boosting.data.frames import Categories
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.core.typing import BoolArray, IntArray

Coded = tuple[CategoryEncoder | None, BinnedData]
"""Binned rows, and the encoder that made their columns if there are categories."""


class FoldRows(Protocol):
    """Examples that folds can be made of."""

    @property
    def n_rows(self) -> int:
        """The number of examples."""

    @property
    def labels(self) -> IntArray | None:
        """The numbers of their classes; None if they are two, and the bins know them."""

    @property
    def masses(self) -> IntArray:
        """Their sample weights, in their order."""

    @property
    def n_columns(self) -> int:
        """The number of columns, one for each of categories."""

    def coded(self, held_out: BoolArray | None, *, ranked: bool) -> Coded:
        """Return all rows, coded without the labels of those ``held_out``."""

    def take(self, rows: IntArray) -> FoldRows:
        """Return some of the examples."""


@dataclass(frozen=True, eq=False)
class SharedBins:
    """Examples that are binned already; folds can be made of them if they have no categories."""

    binned: BinnedData
    encoder: CategoryEncoder | None = None
    labels: IntArray | None = None

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return self.binned.n_rows

    @property
    def masses(self) -> IntArray:
        """Their sample weights, in their order."""
        order, masses = self.binned.order, np.empty_like(self.binned.sample_weights)
        masses[slice(None) if order is None else order] = self.binned.sample_weights
        return masses

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.binned.implicit.size)

    def coded(self, held_out: BoolArray | None, *, ranked: bool) -> Coded:
        """Return all rows."""
        return self.encoder, self.binned

    def take(self, rows: IntArray) -> SharedBins:
        """Return some of the examples."""
        return SharedBins(self.binned.take(rows))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Examples in memory.

    ``X`` are columns of numbers, or codes among the ``categories``. ``labels`` number the classes.
    ``directions`` returns the monotonic constraints of columns.
    """

    X: Any
    labels: IntArray
    weights: SampleWeights
    categories: tuple[Categories | None, ...] | None
    n_classes: int
    max_bins: int
    directions: Callable[[CategoryEncoder | None], IntArray | None]
    pool: ThreadPoolExecutor | None = None
    n_threads: int = 1

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        return int(self.labels.size)

    @property
    def masses(self) -> IntArray:
        """Their sample weights, in their order."""
        return self.weights.of_each

    @property
    def n_columns(self) -> int:
        """The number of columns, one for each of categories."""
        return int(self.X.shape[1])

    @cached_property
    def _shared(self) -> BinnedData:
        return self._bin(self.X, None)

    def coded(self, held_out: BoolArray | None, *, ranked: bool) -> Coded:
        """Return all rows, coded without the labels of those ``held_out``."""
        if self.categories is None:
            return None, self._shared
        seen = np.ones(self.n_rows, dtype=bool) if held_out is None else ~held_out
        weights = self.weights._replace(of_each=self.weights.of_each[seen])
        seen_rows = self.X[seen], self.categories, self.labels[seen], weights
        encoder, _ = CategoryEncoder.learn(*seen_rows, ranked=ranked)
        columns = encoder.expand(encoder.recode(self.X, self.categories))
        return encoder, self._bin(columns, encoder)

    def take(self, rows: IntArray) -> Self:
        """Return some of the examples."""
        weights = self.weights._replace(of_each=self.weights.of_each[rows])
        return replace(self, X=self.X[rows], labels=self.labels[rows], weights=weights)

    def _bin(self, columns: Any, encoder: CategoryEncoder | None) -> BinnedData:
        two = self.n_classes == 2
        return bin_examples(
            columns,
            self.labels == 1 if two else np.zeros(self.n_rows, dtype=bool),
            self.weights.of_each,
            self.max_bins,
            integer_weights=self.weights.integer_weights,
            monotonic=self.directions(encoder),
            pool=self.pool,
            n_shares=self.n_threads,
        )
