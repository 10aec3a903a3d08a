"""The lines of a CSV file with their numbers, and the titles of its columns."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from driftgames.datasets.files import DataError, read_bytes

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""The cells of a CSV file that mean a missing value, in upper or lower case."""


class Line(NamedTuple):
    """The cells of a line, and the number in the file, from 1, of the line they begin in."""

    number: int
    cells: list[str]


def read_table(path: str | os.PathLike[str]) -> list[Line]:
    """Return the lines of a CSV file, plain or compressed, without blank ones; all as wide."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text ({error})") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    lines: list[Line] = []
    number = 1
    try:
        for cells in reader:
            if cells:
                lines.append(Line(number, cells))
            number = reader.line_num + 1  # a quoted cell may hold line breaks
    except csv.Error as error:
        raise DataError(f"{path}: line {number}: {error}") from error
    if not lines:
        raise DataError(f"{path}: is empty")
    width = len(lines[0].cells)
    for number, cells in lines:
        if len(cells) != width:
            raise DataError(f"{path}: line {number}: has {len(cells)} cells, the first {width}")
    return lines


def check_titles(place: str, titles: Iterable[str]) -> None:
    """Raise an error that names the titles of more than one column.

    >>> check_titles("line 1", ["a", "b", "a"])
    Traceback (most recent call last):
    ...
    driftgames.datasets.files.DataError: line 1: the header names 'a' twice
    """
    again = [repr(title) for title, times in Counter(titles).items() if times > 1]
    if again:
        raise DataError(f"{place}: the header names {', '.join(again)} twice")


def is_missing(cell: str) -> bool:
    """Whether a cell means a missing value."""
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, finite or not."""
    if "_" in cell:  # Python reads 1_000 as a number; tables do not mean it
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True
