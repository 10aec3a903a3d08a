"""The order of a column of dates, in any of many formats."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt

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
    raise ValueError(f"dates must rise or fall from line to line; got {before!r} before {after!r}")


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
