"""Scores of many rows, a block at a time: what the models of stumps and of trees share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from driftgames.boosting.data.bins import Array
from driftgames.core.checks import check_integer
from driftgames.core.threads import run_in_threads
from driftgames.core.typing import FloatArray

CHUNK = 8192
"""Rows per task; the same for any number of threads."""


def score_rows(
    X: Any,
    shape: tuple[int, ...],
    dense: Callable[[Array, FloatArray], None],
    sparse: Callable[[Array, Array, Array, FloatArray], None],
    *,
    n_threads: int,
    divisor: float | None,
) -> FloatArray:
    """Return the scores of rows; ``shape`` is the number of features and the shape of a score.

    ``dense(rows, out)`` adds the scores of some rows of an array to ``out``, which is zero, and
    ``sparse(data, indices, pointers, out)`` those of a CSR matrix. With a ``divisor`` the scores
    are divided by it.
    """
    n_features, *width = shape
    rows: Any = X if issparse(X) else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X must have shape (n_rows, {n_features}); got {tuple(rows.shape)}")
    if n_threads != 1:
        check_integer("n_threads", n_threads, least=1)
    if issparse(rows):
        rows = rows.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    out = np.zeros((rows.shape[0], *width))

    def score(start: int) -> None:
        part = out[start : start + CHUNK]
        if issparse(rows):
            pointers = rows.indptr[start : start + len(part) + 1].astype(np.int64)
            stored = slice(pointers[0], pointers[-1])
            data = rows.data[stored].astype(np.float64, copy=False)
            indices = rows.indices[stored].astype(np.int32, copy=False)
            sparse(data, indices, pointers - pointers[0], part)
        else:
            some = rows[start : start + len(part)]
            if some.dtype not in (np.float32, np.float64):
                some = some.astype(np.float64)
            some.flags.writeable = False  # of this view: kernels are compiled for such rows
            dense(some, part)
        if divisor is not None:
            part /= divisor

    if 0 < len(out) <= CHUNK:
        score(0)
    else:
        run_in_threads(score, range(0, len(out), CHUNK), n_threads)
    return out


def check_example(x: Any, n_features: int) -> FloatArray:
    """Return one example, a vector or a single row, as a vector of floats."""
    row = np.asarray(x.toarray() if issparse(x) else x, dtype=np.float64)
    row = row[0] if row.ndim == 2 and row.shape[0] == 1 else row
    if row.shape != (n_features,):
        raise ValueError(f"x must be one example of {n_features} features; got shape {row.shape}")
    return row
