"""What the cells of a table mean: numbers, truth values, dates in many formats, missing values.

The command line reads files by these rules, and boosters read columns of data frames.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.text import shown
from driftgames.core.typing import FloatArray

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""The cells that mean a missing value, in upper or lower case."""

DATE_TITLES = frozenset(
    {"", "date", "day", "index", "month", "time", "datetime", "timestamp", "year"}
)
"""The titles of a column of dates, in lower case."""

FORMATS = (
    "%Y-%m",
    "%Y/%m",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%m/%Y",
    "%b %d, %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%b %Y",
    "%b-%y",
)
"""Formats of a date beside ISO 8601 and plain numbers; 01/02/2020 fits two of them."""


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
    except (OverflowError, TypeError, ValueError):
        return False
    return True


_MARKED = re.compile(r"\s*[-+]?(\d{1,3}([.,' \u00a0]\d{3})+|\d+)([.,]\d+)?\s*")


def marked_number(cells: Any) -> str | None:
    """Return a cell such as ``1.234,5`` of a column of numbers; None if the column is no such one.

    Its numbers have marks for thousands or a decimal comma, which Python does not read.

    >>> marked_number(["1.234,5", "7"]), marked_number(["3,5", ""]), marked_number(["3,5", "red"])
    ('1.234,5', '3,5', None)
    """
    known = [cell for cell in cells if not is_missing(cell)]
    odd = [cell for cell in known if not is_number(cell)]
    if odd and all(isinstance(cell, str) and _MARKED.fullmatch(cell) for cell in odd):
        return str(odd[0]).strip()
    return None


_TRUTH = {"true": 1.0, "false": 0.0}


def is_truth_value(cell: Any) -> bool:
    """Whether a cell says true or false, as a value or as a word."""
    if isinstance(cell, str):
        return cell.strip().lower() in _TRUTH
    return isinstance(cell, bool | np.bool_)


def as_numbers(cells: Any) -> FloatArray | None:
    """Return a column as numbers, with NaN for missing values; None if it holds another cell.

    Of truth values true is 1 and false is 0. Durations are days.

    >>> as_numbers(["True", "", "false"])
    array([ 1., nan,  0.])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "m":
        return _in_days(cells, "timedelta64[us]")
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return None
    try:
        numbers = np.array(cells, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        pass
    else:
        if not any("_" in cell for cell in cells if isinstance(cell, str)):
            return numbers
    known = [cell for cell in cells if not is_missing(cell)]
    if known and all(map(is_truth_value, known)):
        words = [str(cell).strip().lower() for cell in cells]
        return np.array([_TRUTH.get(word, np.nan) for word in words])
    if not all(map(is_number, known)):
        return None
    return np.array([np.nan if is_missing(cell) else float(cell) for cell in cells])


def as_days(cells: Any) -> FloatArray | None:
    """Return a column of dates as days since 1970, with NaN for missing ones; None if it is none.

    Dates such as 01/02/2020, which have two meanings, are refused.
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "M":
        return _in_days(cells, "datetime64[us]")
    known = [i for i, cell in enumerate(cells) if not is_missing(cell)]
    if not known or any(is_number(cells[i]) for i in known):
        return None
    found = readings([str(cells[i]) for i in known])
    if not found:
        return None
    if any(other != found[0] for other in found):
        raise ValueError(
            f"a date such as {shown(str(cells[known[0]]))} has two meanings; write 2020-01-31"
        )
    days = np.full(len(cells), np.nan)
    days[known] = np.array(found[0]) / 86400
    return days


def day_text(days: float) -> str:
    """Return days since 1970 as a date, with the time of the day if there is one.

    >>> day_text(16500.0), day_text(16500.5)
    ('2015-03-06', '2015-03-06T12:00')
    """
    date = str(np.datetime64(math.floor(days), "D"))
    minutes = round(days % 1 * 1440)
    return date if minutes in (0, 1440) else f"{date}T{minutes // 60:02}:{minutes % 60:02}"


def _in_days(moments: npt.NDArray[Any], unit: str) -> FloatArray:
    seconds = moments.astype(unit).astype(np.float64) / 1e6
    return np.where(np.isnat(moments), np.nan, seconds / 86400)


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


def counts_rows(numbers: FloatArray) -> bool:
    """Return whether a column of ten values or more counts up or down by 1: an index.

    >>> counts_rows(np.arange(1.0, 12.0)), counts_rows(np.array([1.0, 2.0, 4.0] * 4))
    (True, False)
    """
    steps = np.diff(numbers)
    return bool(numbers.size >= 10 and abs(steps[0]) == 1 and (steps == steps[0]).all())


def rises(dates: Sequence[str]) -> bool | None:
    """Return whether dates rise; False if they fall, None if their format is unknown.

    Other orders are refused.

    >>> rises(["2020-01-31", "2020-02-28"]), rises(["31/01/2020", "30/01/2020"])
    (True, False)
    >>> rises(["first", "second"]) is None
    True
    >>> rises(["2020-01-02", "2020-01-01", "2020-01-03"])
    Traceback (most recent call last):
    ...
    ValueError: dates must rise or fall from line to line; got '2020-01-02' before '2020-01-01'
    """
    found = readings(dates)
    if not found:
        return None
    for keys in found:
        if all(a < b for a, b in pairwise(keys)):
            return True
    for keys in found:
        if all(a > b for a, b in pairwise(keys)):
            return False
    keys = found[0]
    falling = keys[0] > keys[-1]
    steps = zip(pairwise(dates), pairwise(keys), strict=True)
    before, after = next(pair for pair, (a, b) in steps if not (a > b if falling else a < b))
    raise ValueError(
        f"dates must rise or fall from line to line; got {shown(before)} before {shown(after)}"
    )


def readings(dates: Sequence[str], *, iso: bool = False) -> list[list[float]]:
    """Return the dates in seconds, or as plain numbers, once for each format that fits all.

    With ``iso`` the format is ISO 8601.
    """
    cells = [date.strip() for date in dates]
    if any("_" in cell for cell in cells):  # Python reads 1_000 as a number
        return []
    if not iso:
        with suppress(ValueError):
            return [[float(cell) for cell in cells]]
    try:
        return [[_number(datetime.fromisoformat(cell)) for cell in cells]]
    except ValueError:
        pass
    found = []
    for form in () if iso else FORMATS:
        try:
            found.append([_number(datetime.strptime(cell, form)) for cell in cells])
        except ValueError:
            continue
    return found


def moments(dates: Sequence[str]) -> npt.NDArray[np.datetime64] | None:
    """Return rising dates as moments for an axis; None without dates, or if they are numbers.

    >>> moments(["31/01/2020", "01/02/2020"]).astype(str).tolist()
    ['2020-01-31T00:00:00', '2020-02-01T00:00:00']
    >>> moments(["2001", "2002"]) is None
    True
    """
    with suppress(ValueError):
        [float(date) for date in dates]
        return None
    for keys in readings(dates):
        if all(a < b for a, b in pairwise(keys)):
            return np.array(keys).astype("datetime64[s]")
    return None


def _number(moment: datetime) -> float:
    """Return a moment in seconds; one without a time zone is taken to be in UTC."""
    zone = moment.utcoffset()
    seconds = (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    return seconds if zone is None else seconds - zone.total_seconds()
