"""Binned rows from parts: one training set, whatever the parts and their order are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.binned_training_set import (
    BinnedTrainingSet,
    bin_columns,
    code_stored,
    lay_out_dense,
    lay_out_stored,
)
from driftgames.boosting.bins import Array
from driftgames.boosting.cuts import Cuts
from driftgames.boosting.row_sample import stack_rows
from driftgames.core.typing import BoolArray, IntArray


class _Assembly:
    """The labels of the parts: of two classes they become the order of the rows."""

    def __init__(self, n_classes: int) -> None:
        self._two = n_classes == 2
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
    """Parts of an array, binned into their places: one byte a cell, and another in the end.

    ``sizes`` are the numbers of examples of each class in all parts.
    """

    def __init__(self, cuts: Cuts, sizes: Sequence[int]) -> None:
        super().__init__(len(sizes))
        self._cuts = cuts
        self._split = sizes[0] if self._two else sum(sizes)
        self._columns = np.empty((cuts.missing.size, sum(sizes)), dtype=np.uint8)
        self._weights = np.empty(sum(sizes), dtype=np.int64)
        self._next = [0, self._split]

    def add(self, X: Array, labels: IntArray, sample_weights: IntArray) -> None:
        """Bin the examples of one part, whose classes have these numbers."""
        positive = self._take(labels)
        order = np.argsort(positive, kind="stable")
        columns = bin_columns(X, order, self._cuts)
        begin = 0
        for c, size in enumerate([X.shape[0] - np.count_nonzero(positive), order.size]):
            to = slice(self._next[c], self._next[c] + size - begin)
            self._columns[:, to] = columns[:, begin:size]
            self._weights[to] = sample_weights[order[begin:size]]
            self._next[c], begin = to.stop, size

    def finish(self, **settings: Any) -> BinnedTrainingSet:
        """Return the training set; ``settings`` are its last parameters."""
        columns = self.__dict__.pop("_columns")
        order = None if self._two else np.arange(self._weights.size)
        layout = lay_out_dense(columns, order, self._split, self._weights, self._cuts)
        return BinnedTrainingSet(self._cuts, *layout, **settings)


class SparseAssembly(_Assembly):
    """Parts of a CSR matrix: the codes of their stored entries, laid out in the end."""

    def __init__(self, cuts: Cuts, n_classes: int) -> None:
        super().__init__(n_classes)
        self._cuts = cuts
        self._counts = np.zeros((2, cuts.offsets[-1]), dtype=np.int64)
        self._parts: list[tuple[Array, Array, Array, BoolArray, IntArray]] = []

    def add(self, X: Any, labels: IntArray, sample_weights: IntArray) -> None:
        """Code the examples of one part."""
        positive = self._take(labels)
        stored = code_stored(X, positive, sample_weights, self._cuts, self._counts)
        indices = X.indices.astype(np.int32, copy=False)
        self._parts.append((np.diff(X.indptr), indices, stored, positive, sample_weights))

    def finish(self, **settings: Any) -> BinnedTrainingSet:
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
        return BinnedTrainingSet(self._cuts, *layout, **settings)


def begin_assembly(X: Any, cuts: Cuts, sizes: Sequence[int]) -> DenseAssembly | SparseAssembly:
    """Return the assembly of parts like ``X``; ``sizes`` are the examples of each class."""
    return SparseAssembly(cuts, len(sizes)) if sp.issparse(X) else DenseAssembly(cuts, sizes)


def assemble(
    parts: list[tuple[Any, IntArray, IntArray]], cuts: Cuts, n_classes: int, **settings: Any
) -> list[tuple[BinnedTrainingSet, IntArray | None]]:
    """Return a training set of the dense parts, and one of the sparse parts, if there are any.

    Beside each of them are the ``labels`` of its assembly.
    """
    sets = []
    for sparse in (False, True):
        mine = [part for part in parts if sp.issparse(part[0]) == sparse and part[1].size]
        if not mine:
            continue
        sizes = sum(np.bincount(labels, minlength=n_classes) for _, labels, _ in mine)
        assembly = begin_assembly(mine[0][0], cuts, np.asarray(sizes).tolist())
        for part in mine:
            assembly.add(*part)
        sets.append((assembly.finish(**settings), assembly.labels))
    return sets


def join(parts: Sequence[tuple[Any, Array, IntArray]]) -> tuple[Any, Array, IntArray] | None:
    """Return the rows, labels and weights of all parts; None if there is none."""
    if not parts:
        return None
    X, y, weights = zip(*parts, strict=True)
    return stack_rows(X), np.concatenate(y), np.concatenate(weights)
