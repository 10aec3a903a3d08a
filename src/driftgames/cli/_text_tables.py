"""Rows of cells from lines of text, and whether the first line is a header."""

from __future__ import annotations

import csv
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count, islice
from typing import Any

import typer

from driftgames.core.cells import DATE_TITLES, holds_dates, is_missing, is_number
from driftgames.core.text import listed, shown
from driftgames.datasets.files import LIMIT_VARIABLE, DataError, most_bytes

LOOK = 1000
"""How many rows tell what the first line and the columns hold."""

_DECIMAL = re.compile(r"\s*[-+]?\d*,\d+\s*")

Record = tuple[str, list[str]]
"""Where a row stands ("line 7"), and its cells."""


def read_lines(stream: Any, source: str) -> Iterator[bytes]:
    """Yield the lines of a stream; errors name the source.

    A compressed file may hold one line without an end, so that lines have a limit too.
    """
    limit = most_bytes() // 16
    source = "standard input" if source == "-" else source
    try:
        for number in count(1):
            line = stream.readline(limit + 1)
            if not line:
                return
            if len(line) > limit:
                raise DataError(
                    f"{source}: line {number} has more than {limit:,} bytes, a sixteenth of what "
                    f"{LIMIT_VARIABLE} sets"
                )
            yield line
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise DataError(f"{source}: cannot be read: {error}") from error


def complete_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the complete lines; the last number of an incomplete line may be cut."""
    for raw in lines:
        if raw.endswith(b"\n"):
            yield raw
        else:
            typer.echo("the last line has no end and was not counted", err=True)


def read_text(
    raw_lines: Iterator[bytes],
    name: str,
    sep: str | None,
    header: bool | None,
    encoding: str | None,
    rows: int | None,
) -> tuple[tuple[str, ...] | None, int, Iterator[Record]]:
    """Return the titles, or None without a header, the number of columns, and the rows.

    ``rows`` is how many of them are looked at. Default: `LOOK`.
    """
    lines = _text_lines(raw_lines, name, encoding)
    opening = []
    for line in lines:
        opening.append(line)
        if line.strip():
            break
    sep = sep or guess_separator(opening[-1] if opening else "")
    records = _records(chain(opening, lines), name, sep)
    first = next(records, None)
    if first is None:
        raise DataError(f"{name}: the input is empty")
    width = len(first[1])
    # whoever sends a line with a number may wait for the answer: then no other line is read
    ahead = LOOK if rows is None else rows
    answers = not header and any(map(is_number, first[1]))
    below = list(islice(records, ahead - answers))
    if header is None:
        header = _is_header(first[1], [cells for _, cells in below])
    titles = None
    if header:
        titles = tuple(cell.strip() for cell in first[1])
        again = [shown(title) for title, n in Counter(filter(None, titles)).items() if n > 1]
        if again:
            raise DataError(f"{name}: {first[0]}: the header names {listed(again)} twice")
        if not any(titles):
            raise DataError(f"{name}: {first[0]}: the header names no column")
    records = chain(below if header else [first, *below], records)
    return titles, width, records


def guess_separator(line: str) -> str:
    """Return the one of tab, semicolon and comma that stands most often outside quotes.

    A comma between semicolons may be that of a decimal number; then it does not count.

    >>> [guess_separator(line) for line in ("a,b;c,d", "1,5;2,5", 'x;"1,2,3"', "x")]
    [',', ';', ';', ',']
    """
    plain = re.sub(r'"[^"]*"', "", line)
    if ";" in plain:
        plain = ";".join(each for each in plain.split(";") if not _DECIMAL.fullmatch(each)) + ";"
    return max(",\t;", key=plain.count)


def check_encoding(encoding: str | None) -> None:
    """Raise ValueError unless lines of this encoding end in the byte of a line's end."""
    if encoding is None:
        return
    try:
        end = "\n".encode(encoding)
    except (LookupError, UnicodeError, ValueError):
        end = b""
    if end != b"\n":
        raise ValueError(
            "--encoding must be the name of an encoding that extends ASCII, such as utf-8, "
            f"latin-1 or cp1252; got {shown(encoding)}"
        )


def _text_lines(raw_lines: Iterator[bytes], name: str, encoding: str | None) -> Iterator[str]:
    for number, raw in enumerate(raw_lines, start=1):
        try:
            yield raw.decode(encoding or ("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            word = encoding or "UTF-8"
            advice = "" if encoding else "; if Excel or Windows wrote it, try --encoding cp1252"
            raise DataError(
                f"{name}: line {number}: is not {word} text ({error.reason}){advice}"
            ) from error


def _records(lines: Iterator[str], name: str, sep: str) -> Iterator[Record]:
    """Yield ("line 7", its cells) for every line with a cell that is not blank."""
    reader = csv.reader(lines, delimiter=sep)
    width, begin = None, 1
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                width = len(cells) if width is None else width
                if len(cells) != width:
                    raise DataError(
                        f"{name}: line {begin}: {len(cells)} cells, where {width} were expected"
                    )
                if sep == ";":
                    cells = [x.replace(",", ".") if _DECIMAL.fullmatch(x) else x for x in cells]
                yield f"line {begin}", cells
            begin = reader.line_num + 1  # a quoted cell may hold line breaks
    except csv.Error as error:
        raise DataError(f"{name}: line {begin}: {error}") from error


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the first line names the columns: it has words and no numbers.

    A line of missing values that ends in its label has words and no numbers too. So where a
    cell may be a missing value, a word must stand above a number. Names that are numbers need a
    title of dates above dates before them.
    """
    if any(map(_is_known, first)):
        title = first[0].strip()
        column = [cells[0] for cells in below]
        return title.lower() in DATE_TITLES and holds_dates(title, column, first=True)
    words = [j for j, cell in enumerate(first) if not is_missing(cell)]
    return len(words) == len(first) or any(_is_known(cells[j]) for cells in below for j in words)


def _is_known(cell: str) -> bool:
    return is_number(cell) and not is_missing(cell)
