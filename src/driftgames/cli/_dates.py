"""The order of a column of dates, in any of many formats."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from driftgames.cli._csv_lines import is_number

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
    readings = _readings(dates)
    if not readings:
        return None
    for keys in readings:
        if all(a < b for a, b in pairwise(keys)):
            return True
    for keys in readings:
        if all(a > b for a, b in pairwise(keys)):
            return False
    keys = readings[0]
    falling = keys[0] > keys[-1]
    steps = zip(pairwise(dates), pairwise(keys), strict=True)
    before, after = next(pair for pair, (a, b) in steps if not (a > b if falling else a < b))
    raise ValueError(f"dates must rise or fall from line to line; got {before!r} before {after!r}")


def _readings(dates: Sequence[str]) -> list[list[float]]:
    """Return the dates as numbers, once for each format that fits all of them."""
    cells = [date.strip() for date in dates]
    if all(map(is_number, cells)):
        return [[float(cell) for cell in cells]]
    try:
        return [[_number(datetime.fromisoformat(cell)) for cell in cells]]
    except ValueError:
        pass
    readings = []
    for form in FORMATS:
        try:
            readings.append([_number(datetime.strptime(cell, form)) for cell in cells])
        except ValueError:
            continue
    return readings


def _number(moment: datetime) -> float:
    """Return a moment in seconds; one without a time zone is taken to be in UTC."""
    zone = moment.utcoffset()
    seconds = (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    return seconds if zone is None else seconds - zone.total_seconds()
