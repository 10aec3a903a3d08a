"""Binned rows from parts: one training set, whatever the parts and their order are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.data.binned_data import (
    BinnedData,
    bin_columns,
    code_stored,
    lay_out_dense,
    lay_out_stored,
)
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.data.row_sample import stack_rows
from driftgames.core.typing import BoolArray, IntArray


class _Assembly:
    """The labels of the parts: of two classes they become the order of the rows."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        self._cuts, self._two = cuts, n_classes == 2
        self._labels: list[IntArray] = []

    @property
    def labels(self) -> IntArray | None:
        """The class of each example, in the order of the parts; None of two classes."""
        return None if self._two else np.concatenate(self._labels)

    def _take(self, labels: IntArray) -> BoolArray:
        """Keep the labels; return which examples are of class 1 of two."""
        if self._two:
            return np.asarray(labels == 1)
        self._labels.append(labels)
        return np.zeros(labels.size, dtype=bool)


class DenseAssembly(_Assembly):
    """Parts of an array, binned: one byte a cell, and another in the end."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        super().__init__(cuts, n_classes)
        self._columns: list[Array] = []
        self._weights: list[Array] = []
        self._orders: list[Array] = []
        self._splits: list[int] = []
        self._n_rows = 0

    def add(self, X: Array, labels: IntArray, sample_weights: IntArray) -> None:
        """Bin the examples of one part, whose classes have these numbers."""
        positive = self._take(labels)
        order = np.argsort(positive, kind="stable")
        self._columns.append(bin_columns(X, order, self._cuts))
        self._weights.append(sample_weights[order])
        self._orders.append((self._n_rows + order).astype(np.uint32))
        self._n_rows += order.size
        self._splits.append(int(np.count_nonzero(~positive)))

    def finish(self, **settings: Any) -> BinnedData:
        """Return the training set; ``settings`` are its last parameters."""
        weights, columns = self._join(self._weights), self._join(self._columns)
        layout = lay_out_dense(
            columns, self._join(self._orders), sum(self._splits), weights, self._cuts
        )
        return BinnedData(self._cuts, *layout, **settings)

    def _join(self, parts: list[Array]) -> Array:
        """Return the rows before the split of each part, then the others; forget the parts."""
        halves = [np.split(part, [k], axis=-1) for part, k in zip(parts, self._splits, strict=True)]
        parts.clear()
        return np.concatenate([each[c] for c in (0, 1) for each in halves], axis=-1)


class SparseAssembly(_Assembly):
    """Parts of a CSR matrix: the codes of their stored entries, laid out in the end."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        super().__init__(cuts, n_classes)
        self._counts = np.zeros((2, cuts.offsets[-1]), dtype=np.int64)
        self._parts: list[tuple[Array, Array, Array, BoolArray, IntArray]] = []

    def add(self, X: Any, labels: IntArray, sample_weights: IntArray) -> None:
        """Code the examples of one part."""
        positive = self._take(labels)
        stored = code_stored(X, positive, sample_weights, self._cuts, self._counts)
        indices = X.indices.astype(np.int32, copy=False)
        self._parts.append((np.diff(X.indptr), indices, stored, positive, sample_weights))

    def finish(self, **settings: Any) -> BinnedData:
        """Return the training set; ``settings`` are its last parameters."""
        sizes, indices, stored, positive, weights = map(
            np.concatenate, zip(*self._parts, strict=True)
        )
        self._parts.clear()
        indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(
            np.int32 if indices.size < 2**31 else np.int64  # as SciPy has them
        )
        layout = lay_out_stored(
            indptr, indices, stored, positive, weights, self._cuts, self._counts
        )
        return BinnedData(self._cuts, *layout, **settings)


def begin_assembly(X: Any, cuts: Cuts, n_classes: int) -> DenseAssembly | SparseAssembly:
    """Return the assembly of parts like ``X``."""
    return (SparseAssembly if sp.issparse(X) else DenseAssembly)(cuts, n_classes)


def assemble(
    parts: list[tuple[Any, IntArray, IntArray]], cuts: Cuts, n_classes: int, **settings: Any
) -> list[tuple[BinnedData, IntArray | None]]:
    """Return a training set of the dense parts, and one of the sparse parts, if there are any.

    Beside each of them are the ``labels`` of its assembly.
    """
    sets = []
    for sparse in (False, True):
        alike = [part for part in parts if sp.issparse(part[0]) == sparse and part[1].size]
        if not alike:
            continue
        assembly = begin_assembly(alike[0][0], cuts, n_classes)
        for part in alike:
            assembly.add(*part)
        sets.append((assembly.finish(**settings), assembly.labels))
    return sets


def join(parts: Sequence[tuple[Any, Array, IntArray]]) -> tuple[Any, Array, IntArray] | None:
    """Return the rows, labels and weights of all parts; None if there is none."""
    if not parts:
        return None
    X, y, weights = zip(*parts, strict=True)
    return stack_rows(X), np.concatenate(y), np.concatenate(weights)
