"""Pairs of columns: columns made of two numeric ones, which trees may ask about too.

A question about ``a - b``, ``a * b`` or ``a + b`` stands for many questions about ``a`` and ``b``.
Columns of pairs stand behind those of the examples. `fit.choosing` tells which pairs join.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.core.typing import FloatArray

_FUNCTIONS = {"-": np.subtract, "*": np.multiply, "+": np.add}

OPERATIONS = tuple(_FUNCTIONS)
"""What a pair can be: the signs between the names of its columns."""

_LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class ColumnPairs:
    """Columns made of two others: ``left[k] operation[k] right[k]``.

    Parameters
    ----------
    left, right : tuple of int
        The numbers of the columns of the examples.
    operation : tuple of {"-", "*", "+"}
        The signs between them.

    Examples
    --------
    >>> pairs = ColumnPairs.of_couples([0], [2])
    >>> pairs.make(np.array([[3.0, 1.0, 2.0], [np.nan, 1.0, 2.0]]))
    array([[ 1.,  6.,  5.],
           [nan, nan, nan]])
    >>> pairs.names(["height", "age", "width"])
    ['height - width', 'height * width', 'height + width']
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    operation: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        return zip(self.left, self.right, self.operation, strict=True)

    def __len__(self) -> int:
        return len(self.operation)

    @classmethod
    def of_couples(cls, left: Sequence[int], right: Sequence[int]) -> Self:
        """Return the differences, products and sums of couples of columns."""
        first, second = (tuple(np.repeat(s, len(OPERATIONS)).tolist()) for s in (left, right))
        return cls(first, second, OPERATIONS * len(left))

    def make(self, X: FloatArray) -> FloatArray:
        """Return the columns of the pairs.

        A pair with a missing value is missing. What is too large for a float64 becomes the largest
        one, so that no pair is infinite.
        """
        made = np.empty((X.shape[0], len(self)))
        with np.errstate(over="ignore"):
            for k, (left, right, operation) in enumerate(self):
                a, b = (X[:, j].astype(np.float64, copy=False) for j in (left, right))
                _FUNCTIONS[operation](a, b, out=made[:, k])
        return np.clip(made, -_LARGEST, _LARGEST, out=made)

    def append(self, columns: Matrix, X: FloatArray) -> Matrix:
        """Return columns, which are made of the examples ``X``, with the pairs behind them."""
        if scipy.sparse.issparse(columns):
            return scipy.sparse.hstack([columns, self.make(X)], format="csr")
        return np.column_stack([np.asarray(columns, dtype=np.float64), self.make(X)])

    def names(self, feature_names: Sequence[object] | Array | None = None) -> list[str]:
        """Return the names of the pairs. Default: those of columns are ``x0``, ``x1`` and so on."""

        def name(column: int) -> str:
            return f"x{column}" if feature_names is None else str(feature_names[column])

        return [f"{name(left)} {operation} {name(right)}" for left, right, operation in self]
