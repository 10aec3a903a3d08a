"""Price relatives: each day's prices over those of the day before, and the checks on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames.core.checks import as_floats, check_finite, check_range, first_index
from driftgames.core.typing import FloatArray

LEAST, MOST = 1e-75, 1e75
"""The range of relatives. Strategies take ratios of a day's relatives, and squares of those; in
this range they are floats."""


_DOUBLED, _TENFOLD = 2.0, 10.0
"""No market more than doubles all assets, or multiplies one by ten, on each of several days."""


def price_relatives(prices: npt.ArrayLike, *, before: npt.ArrayLike | None = None) -> FloatArray:
    """Return each day's prices over those of the day before.

    The table has no day before its first one, so there is one row less than there are prices.
    With ``before``, the prices at which the first day began, there are as many rows as prices.
    The files of NYSE(O) and DJIA hold cumulative prices that began at 1: their first day is
    ``price_relatives(prices, before=1.0)[0]``, which is the first row itself.

    >>> price_relatives([[1.0, 2.0], [2.0, 1.0]])
    array([[2. , 0.5]])
    >>> price_relatives([[1.5, 2.0], [3.0, 1.0]], before=1.0)
    array([[1.5, 2. ],
           [2. , 0.5]])
    """
    table = check_prices("prices", prices)
    if before is not None:
        first = np.broadcast_to(as_floats("before", before), table.shape[1:])
        table = np.concatenate([check_prices("before", first[np.newaxis]), table])
    if table.shape[0] < 2:
        raise ValueError("prices must cover at least two days; got one")
    return table[1:] / table[:-1]


def check_relatives(relatives: npt.ArrayLike, n_assets: int | None = None) -> FloatArray:
    """Return price relatives as a matrix, one row per day, or say what is wrong with them."""
    matrix = check_prices("relatives", relatives)
    if n_assets is not None and matrix.shape[1] != n_assets:
        raise ValueError(f"relatives must have {n_assets} columns; got {matrix.shape[1]}")
    check_range("relatives", matrix, LEAST, MOST)
    _check_no_prices(matrix)
    return np.ascontiguousarray(matrix)


def _check_no_prices(matrix: FloatArray) -> None:
    """Raise ValueError for what must be prices: relatives are near 1."""
    if not matrix.size:
        return
    lowest, several = matrix.min(axis=0), matrix.shape[0] > 1
    every, one = lowest.min(), lowest.max()
    if every >= _TENFOLD or (several and (every > _DOUBLED or one >= _TENFOLD)):
        asset = int(np.argmax(lowest))
        raise ValueError(
            f"relatives must be prices over those of the day before; asset {asset} would be "
            f"multiplied by {lowest[asset]:g} or more every day; for a table of prices use "
            "run(price_relatives(prices))"
        )


def check_spread(relatives: FloatArray, span: float) -> None:
    """Name the first day whose highest relative is more than ``exp(span)`` times the lowest."""
    if math.isinf(span):
        return
    spread = log_all(relatives.max(axis=1) / relatives.min(axis=1))
    if (spread > span).any():
        (day,) = first_index(spread > span)
        raise ValueError(
            f"the relatives of a day must lie within exp(span) of each other; got a spread of "
            f"exp({spread[day]:.4g}) in row {day} for span={span:g}"
        )


def check_prices(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return a table of positive numbers, or say what is wrong with it."""
    table = as_floats(name, values)
    if table.ndim != 2:
        raise ValueError(
            f"{name} must have a row per day and a column per asset; got shape {table.shape}"
        )
    if table.shape[1] < 2:
        raise ValueError(f"{name} must be of at least two assets; got {table.shape[1]}")
    check_finite(name, table)
    if not (table > 0).all():
        day, asset = first_index(table <= 0)
        raise ValueError(
            f"{name} must be above 0; got {table[day, asset]:g} in row {day}, column {asset}"
        )
    return table


def missing_prices(values: FloatArray, names: Sequence[str], place: Callable[[int], str]) -> str:
    """Return which assets lack prices, and where those that are listed late begin.

    ``place`` names a row, given its number from 0. The text is empty if no price is missing.

    >>> missing_prices(np.array([[np.nan, 1.0], [2.0, 1.0]]), ["ant", "bee"], "row {}".format)
    'ant begins at row 1'
    """
    found = []
    for name, missing in zip(names, np.isnan(values).T, strict=True):
        first = int(np.argmin(missing))
        if missing.all():
            found.append(f"{name} has no price")
        elif missing[first:].any():
            found.append(f"{name} has none at {place(first + int(np.argmax(missing[first:])))}")
        elif first:
            found.append(f"{name} begins at {place(first)}")
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(found[:5]) + more
