"""Sparse input whose arrays contradict its shape: compiled code would write beyond them."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array


def check_sparse(X: Any) -> None:
    """Raise ValueError if the numbers of rows and columns that a sparse matrix stores are invalid.

    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1.0, 0.0], [0.0, 2.0]])
    >>> X.indices[1] = 7
    >>> check_sparse(X)
    Traceback (most recent call last):
    ...
    ValueError: the column numbers of a sparse X must lie in [0, 2); got 7
    """
    if X.format == "coo":
        for what, stored, size in zip(("row", "column"), (X.row, X.col), X.shape, strict=True):
            _check_numbers(what, stored, size)
    elif X.format in {"csr", "csc", "bsr"}:
        blocks = X.blocksize if X.format == "bsr" else (1, 1)
        n_rows, n_columns = (size // block for size, block in zip(X.shape, blocks, strict=True))
        by_columns = X.format == "csc"
        n_lists, size = (n_columns, n_rows) if by_columns else (n_rows, n_columns)
        indptr, indices = X.indptr, X.indices
        stored = min(indices.size, X.data.shape[0])
        if (
            indptr.shape != (n_lists + 1,)
            or indptr[0] != 0
            or indptr[-1] > stored
            or (np.diff(indptr) < 0).any()
        ):
            raise ValueError(
                f"indptr of a sparse X must be {n_lists + 1} numbers that rise from 0 to at most "
                f"the {stored} entries stored; got {indptr}"
            )
        _check_numbers("row" if by_columns else "column", indices[: indptr[-1]], size)


def _check_numbers(what: str, stored: Array, size: int) -> None:
    if stored.size and (stored.min() < 0 or stored.max() >= size):
        bad = stored[(stored < 0) | (stored >= size)][0]
        raise ValueError(f"the {what} numbers of a sparse X must lie in [0, {size}); got {bad}")
