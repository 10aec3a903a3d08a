"""What cuts are chosen from, in a form that merges: rows may come in parts, in any order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import (
    Cuts,
    common_weight,
    count_stored,
    cut_column,
    few_values,
    midpoints,
    missing_columns,
    quantile_cuts,
)
from driftgames.boosting.data.row_sample import SAMPLE, RowSample, last_of_equals
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class CutSummary:
    """The values of the columns that have few, and a sample of rows for the others.

    The cuts are those that `cut_dense` and `cut_sparse` choose from all rows at once. If all parts
    have ``n_expected`` rows together, a part keeps few of them. See `RowSample`.

    Examples
    --------
    >>> part, rest = CutSummary(255), CutSummary(255)
    >>> part.add(np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones(2, dtype=np.int64))
    >>> rest.add(sp.csr_matrix([[4.0, np.nan]]), np.ones(1, dtype=np.int64))
    >>> part.merge(rest)
    >>> part.cuts().thresholds
    array([1.5, 3. ])
    """

    def __init__(self, max_bins: int, n_expected: int | None = None) -> None:
        self.max_bins = max_bins
        self._sample = RowSample(SAMPLE, n_expected)
        self._missing: BoolArray = np.zeros(0, dtype=bool)
        # the distinct values of the columns, ascending, one column behind the other
        self._columns: IntArray = np.empty(0, dtype=np.int64)
        self._values: FloatArray = np.empty(0)

    def add(self, X: Any, sample_weights: IntArray, hashes: Array | None = None) -> None:
        """Add the rows of an array or of a CSR matrix; their hashes may be known already."""
        self._sample.add(X, sample_weights, hashes)
        if sp.issparse(X):
            self._take(*_stored_pairs(X))
        else:
            values, sizes = few_values(X, self.max_bins)
            columns = np.repeat(np.arange(X.shape[1]), sizes)
            filled = values[np.arange(values.shape[1]) < sizes[:, None]]
            self._take(missing_columns(X), columns, filled)

    def merge(self, other: CutSummary) -> None:
        """Add the rows of another summary."""
        self._sample.merge(other._sample)
        self._take(other._missing, other._columns, other._values)

    def _take(self, missing: BoolArray, columns: IntArray, values: FloatArray) -> None:
        """Add values of columns; of a column that has many, one more than the bins are kept."""
        self._missing = missing | self._missing if self._missing.size else missing
        columns = np.concatenate([self._columns, columns])
        values = np.concatenate([self._values, values + 0.0])  # -0.0 becomes 0.0
        order = np.lexsort((values, columns))
        order = order[last_of_equals(columns[order], values[order])]
        columns = columns[order]
        rank = np.arange(columns.size) - np.searchsorted(columns, columns)
        few = rank <= self.max_bins
        self._columns, self._values = columns[few], values[order[few]]

    @property
    def enough(self) -> bool:
        """Whether `cuts` are those of all rows; they are if ``n_expected`` was not given."""
        return self._sample.enough

    def cuts(self) -> Cuts:
        """Return the cuts for all rows added."""
        starts = np.searchsorted(self._columns, np.arange(self._missing.size + 1))
        between = midpoints(self._values)  # also across columns, where they are not used
        parts = [between[a : b - 1] for a, b in pairwise(starts.tolist())]
        many = np.flatnonzero(np.diff(starts) > self.max_bins)
        rows, weights = self._sample.rows, self._sample.weights
        if many.size and sp.issparse(rows):
            values, masses, spans = count_stored(rows[:, many], weights)
            for j, (a, b) in zip(many.tolist(), spans.tolist(), strict=True):
                parts[j] = quantile_cuts(values[a:b], masses[a:b], self.max_bins)
        elif many.size:
            weights = common_weight(weights)
            for j in many.tolist():
                parts[j] = cut_column(np.ascontiguousarray(rows[:, j]), weights, self.max_bins)
        return Cuts.gather(parts, self._missing)


def _stored_pairs(X: Any) -> tuple[BoolArray, IntArray, FloatArray]:
    """Return which columns of a CSR matrix have NaN, and their other values with the columns."""
    columns, values = X.indices.astype(np.int64), X.data.astype(np.float64)
    with_zeros = np.flatnonzero(np.bincount(columns, minlength=X.shape[1]) < X.shape[0])
    lost = np.isnan(values)
    missing = np.zeros(X.shape[1], dtype=bool)
    missing[columns[lost]] = True
    known = np.append(columns[~lost], with_zeros)
    return missing, known, np.append(values[~lost], np.zeros(with_zeros.size))
