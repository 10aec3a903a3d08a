"""Binned rows from parts: one training set, whatever the parts and their order are."""

from __future__ import annotations

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
from driftgames.core.typing import BoolArray, IntArray


class DenseAssembly:
    """Parts of an array, binned into their places: one byte a cell, and another in the end.

    Parameters
    ----------
    cuts : Cuts
        The thresholds between the bins.
    sizes : tuple of two int
        The numbers of rows of class 0 and of class 1 in all parts.
    """

    def __init__(self, cuts: Cuts, sizes: tuple[int, int]) -> None:
        self._cuts = cuts
        self._split = sizes[0]
        self._columns = np.empty((cuts.missing.size, sum(sizes)), dtype=np.uint8)
        self._weights = np.empty(sum(sizes), dtype=np.int64)
        self._next = [0, sizes[0]]

    def add(self, X: Array, positive: BoolArray, sample_weights: IntArray) -> None:
        """Bin the rows of one part."""
        order = np.argsort(positive, kind="stable")
        columns = bin_columns(X, order, self._cuts)
        begin = 0
        for c, size in enumerate([X.shape[0] - np.count_nonzero(positive), order.size]):
            to = slice(self._next[c], self._next[c] + size - begin)
            self._columns[:, to] = columns[:, begin:size]
            self._weights[to] = sample_weights[order[begin:size]]
            self._next[c], begin = to.stop, size

    def finish(self, **settings: Any) -> BinnedTrainingSet:
        """Return the training set; ``settings`` are its last three parameters."""
        columns = self.__dict__.pop("_columns")
        layout = lay_out_dense(columns, None, self._split, self._weights, self._cuts)
        return BinnedTrainingSet(self._cuts, *layout, **settings)


class SparseAssembly:
    """Parts of a CSR matrix: the codes of their stored entries, laid out in the end."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._counts = np.zeros((2, cuts.offsets[-1]), dtype=np.int64)
        self._parts: list[tuple[Array, Array, Array, BoolArray, IntArray]] = []

    def add(self, X: Any, positive: BoolArray, sample_weights: IntArray) -> None:
        """Code the rows of one part."""
        stored = code_stored(X, positive, sample_weights, self._cuts, self._counts)
        indices = X.indices.astype(np.int32, copy=False)
        self._parts.append((np.diff(X.indptr), indices, stored, positive, sample_weights))

    def finish(self, **settings: Any) -> BinnedTrainingSet:
        """Return the training set; ``settings`` are its last three parameters."""
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


def assemble(
    parts: list[tuple[Any, BoolArray, IntArray]], cuts: Cuts, **settings: Any
) -> list[BinnedTrainingSet]:
    """Return a training set of the dense parts, and one of the sparse parts, if there are any."""
    sets = []
    for sparse in (False, True):
        mine = [part for part in parts if sp.issparse(part[0]) == sparse and part[1].size]
        if not mine:
            continue
        n_upper = sum(int(np.count_nonzero(positive)) for _, positive, _ in mine)
        n_rows = sum(positive.size for _, positive, _ in mine)
        assembly: DenseAssembly | SparseAssembly = (
            SparseAssembly(cuts) if sparse else DenseAssembly(cuts, (n_rows - n_upper, n_upper))
        )
        for part in mine:
            assembly.add(*part)
        sets.append(assembly.finish(**settings))
    return sets
