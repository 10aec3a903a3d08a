"""What the cells of a table mean: numbers, dates and missing values."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.cli._dates import readings
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""The cells that mean a missing value, in upper or lower case."""

DATE_TITLES = frozenset(
    {"", "date", "day", "index", "month", "time", "datetime", "timestamp", "year"}
)
"""The titles of a column of dates, in lower case."""


def is_missing(cell: Any) -> bool:
    """Whether a cell means a missing value."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or cell != cell


def is_number(cell: Any) -> bool:
    """Whether a cell holds a number, finite or not."""
    if isinstance(cell, str) and "_" in cell:  # Python reads 1_000 as a number; tables do not
        return False
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(cells: Any) -> FloatArray | None:
    """Return a column as numbers, with NaN for missing values; None if it holds another cell."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return None
    try:
        numbers = np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    else:
        if not any("_" in cell for cell in cells if isinstance(cell, str)):
            return numbers
    if not all(is_missing(cell) or is_number(cell) for cell in cells):
        return None
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])


def as_days(cells: Any) -> FloatArray | None:
    """Return a column of dates as days since 1970, with NaN for missing ones; None if it is none.

    Dates such as 01/02/2020, which have two meanings, are refused.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        seconds = cells.astype("datetime64[us]").astype(np.float64) / 1e6
        return np.where(np.isnat(cells), np.nan, seconds / 86400)
    known = [i for i, cell in enumerate(cells) if not is_missing(cell)]
    if not known or any(is_number(cells[i]) for i in known):
        return None
    found = readings([str(cells[i]) for i in known])
    if not found:
        return None
    if any(other != found[0] for other in found):
        raise DataError(
            f"a date such as {str(cells[known[0]])!r} has two meanings; write 2020-01-31"
        )
    days = np.full(len(cells), np.nan)
    days[known] = np.array(found[0]) / 86400
    return days


def holds_dates(title: str | None, cells: Any, *, first: bool) -> bool:
    """Whether a column holds dates; in a first column, 20200131 and counts may be dates too.

    A count needs a title of dates. Such a title alone is not enough: an asset may be called DAY.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return True
    if not first and any(is_number(cell) and not is_missing(cell) for cell in cells):
        return False  # at the first cell of most columns
    titled = title is not None and title.lower() in DATE_TITLES
    known = [cell for cell in cells if not is_missing(cell)]
    if not known or not any(map(is_number, known)):
        return bool(known) and (titled or bool(readings([str(cell) for cell in known])))
    if len(known) < len(cells) or not all(map(is_number, known)):
        return False
    if all(
        isinstance(cell, str) and len(cell.strip()) == 8 and readings([cell], iso=True)
        for cell in known
    ):
        return True
    numbers = np.array(known, dtype=np.float64)
    steps = np.diff(numbers)
    whole = bool((numbers == np.rint(numbers)).all())
    return titled and whole and bool((steps > 0).all() or (steps < 0).all())
