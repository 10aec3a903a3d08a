"""Prices from a CSV table: which line names the assets, and which column holds the dates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftgames._support.checks import FloatArray
from driftgames.cli._tables import Line, check_titles, is_number, read_table
from driftgames.oco import price_relatives
from driftgames.oco.trading import check_relatives

DATE_TITLES = frozenset(
    {"", "date", "day", "index", "month", "time", "datetime", "timestamp", "year"}
)
"""What stands above a column of dates, in any case."""


class Market(NamedTuple):
    """Relatives with a row per day, and what the assets are called."""

    relatives: FloatArray
    assets: list[str]


def read_market(path: Path, *, header: bool | None, from_one: bool, relatives: bool) -> Market:
    """Read a table of prices, or of ``relatives``, one line per day and one column per asset.

    ``header`` says whether its first line names the assets; unless given, it does when none of
    its cells is a number, or when it begins with a title above dates. A first column of dates is
    skipped. ``from_one`` says that prices began at 1 before the first line.
    """
    lines = [line for line in read_table(path) if any(line.cells)]
    if header is None:
        header = _is_header(lines)
    titles = [cell.strip() for cell in lines[0].cells] if header else None
    days = lines[1:] if header else lines
    if not days:
        raise ValueError(f"{path}: has no line of prices")
    first = int(_are_dates(titles[0] if titles else None, days))
    if titles is None:
        assets = [f"column {j + 1}" for j in range(first, len(days[0].cells))]
    else:
        assets = titles[first:]
        check_titles(f"{path}: line {lines[0].number}", assets)
    table = _numbers(path, days, first)
    if relatives:
        return Market(check_relatives(table), assets)
    return Market(price_relatives(table, before=1.0 if from_one else None), assets)


def _is_header(lines: Sequence[Line]) -> bool:
    cells = lines[0].cells
    if not any(map(is_number, cells)):
        return True
    # the assets' names may be numbers, and then the title of the dates tells
    title = cells[0].strip()
    return title.lower() in DATE_TITLES and _are_dates(title, lines[1:])


def _are_dates(title: str | None, days: Sequence[Line]) -> bool:
    """Whether the first column holds dates: words, 20200131, or a count below a title of dates.

    Such a title alone does not make it one, for an asset may be called DAY.
    """
    cells = [day.cells[0] for day in days]
    if not any(map(is_number, cells)) or all(map(_is_date, cells)):
        return True
    if title is None or title.lower() not in DATE_TITLES or not all(map(is_number, cells)):
        return False
    numbers = np.array(cells, dtype=np.float64)
    steps = np.diff(numbers)
    return bool((numbers == np.rint(numbers)).all() and ((steps > 0).all() or (steps < 0).all()))


def _is_date(cell: str) -> bool:
    try:
        date.fromisoformat(cell.strip())
    except ValueError:
        return False
    return True


def _numbers(path: Path, lines: Sequence[Line], first: int) -> FloatArray:
    """Return the cells from column ``first`` on as numbers, or name the first that is none."""
    for number, cells in lines:
        for cell in cells[first:]:
            if not is_number(cell):
                raise ValueError(f"{path}: line {number}: {cell!r} is not a number")
    return np.array([line.cells[first:] for line in lines], dtype=np.float64)
