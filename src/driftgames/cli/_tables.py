"""Tables from files and streams: the one reader of all commands.

The rules are in docs/tables.md. A table is CSV text (commas, tabs or semicolons; plain or
compressed), Parquet, Arrow or ``.npy``, or text from standard input. Its first line is a header if
it holds no number. A column without a title is an index, and columns of dates are known by their
titles and cells.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import io
import lzma
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import typer

from driftgames.cli._dates import readings
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import (
    LIMIT_VARIABLE,
    DataError,
    decompress,
    most_bytes,
    open_bytes,
    read_bytes,
)

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""The cells that mean a missing value, in upper or lower case."""

DATE_TITLES = frozenset(
    {"", "date", "day", "index", "month", "time", "datetime", "timestamp", "year"}
)
"""The titles of a column of dates, in lower case."""

ARROW = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc"}
"""The endings of tables that pyarrow reads, with its names of their formats."""

CELLS = 2_000_000
"""The most cells that a block holds; it holds one row at least."""

LOOK = 1000
"""How many rows tell what the first line and the columns hold."""

_UNTITLED = re.compile(r"(Unnamed: \d+|__index_level_\d+__)?")  # the last two are by pandas
_DECIMAL = re.compile(r"\s*[-+]?\d*,\d+\s*")
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


class Block(NamedTuple):
    """Some rows: the cells of each column, and where each row stands ("line 7" or "row 7")."""

    columns: list[Any]
    places: list[str]


@dataclass
class TableFile:
    """A table whose rows come in blocks, each as soon as it has been read.

    ``titles`` is None without a header. ``kept`` are the columns that are neither an index nor
    left out, and ``dates`` those of them that hold dates.
    """

    name: str
    titles: tuple[str, ...] | None
    width: int
    kept: list[int]
    dates: list[int]
    blocks: Iterator[Block] = field(repr=False)

    def column(self, option: str, text: str) -> int:
        """Return the column that an option names, by its title or its number from 1."""
        if self.titles and text in self.titles:
            return self.titles.index(text)
        if text.isdecimal() and 1 <= int(text) <= self.width:
            return int(text) - 1
        known = ", ".join(filter(None, self.titles or ())) or f"columns 1 to {self.width}"
        raise DataError(f"{self.name}: {option}: there is no column {text!r}; it has {known}")

    def place(self, row: str, column: int) -> str:
        """Return the words for a cell: "losses.csv: line 7, column 2 (cash)"."""
        title = f" ({self.titles[column]})" if self.titles and self.titles[column] else ""
        return f"{self.name}: {row}, column {column + 1}{title}"


@contextlib.contextmanager
def open_table(
    source: str,
    *,
    sep: str | None = None,
    header: bool | None = None,
    leave_out: str | None = None,
    rows: int | None = None,
    whole: bool = False,
    content: bytes | None = None,
    whole_lines: bool = False,
) -> Iterator[TableFile]:
    """Open a table, a pattern of names of tables with the same columns, or "-".

    ``rows`` is the size of a block. Default: as many as `CELLS` allows. ``whole`` says that all
    rows will be held at once: then compressed data has a limit. ``content`` is what `read_content`
    has read. With ``whole_lines`` a last line of standard input without an end of line is left
    out. ``leave_out`` names columns.
    """
    paths = _find(source)
    kind = ARROW.get(PurePath(paths[0]).suffix.lower())
    if sep is not None:
        sep = _SEPARATORS.get(sep, sep)
        if len(sep) != 1:
            raise ValueError(f"--sep must be one character, or tab; got {sep!r}")
    with contextlib.ExitStack() as held:
        if kind is not None:
            table = _open_arrow(source, paths, kind, rows, whole)
        elif PurePath(source).suffix.lower() == ".npy":
            table = _open_npy(source, rows)
        else:
            streams = (held.enter_context(_open_stream(path, whole, content)) for path in paths)
            lines = (_raw_lines(*each) for each in zip(streams, paths, strict=False))
            first = next(lines)
            if whole_lines and source == "-":
                first = _whole_lines(first)
            name = "standard input" if source == "-" else paths[0]
            table = _open_text(first, name, sep, header, rows)
            others = zip(lines, paths[1:], strict=True)
            table.blocks = chain(table.blocks, _more(others, table, sep, header, rows))
        yield _choose_columns(table, leave_out)


def _more(
    others: Iterator[tuple[Iterator[bytes], str]], first: TableFile, *settings: Any
) -> Iterator[Block]:
    """Yield the blocks of the other files of a pattern; their columns must be the same."""
    for lines, path in others:
        table = _open_text(lines, path, *settings)
        if (table.titles, table.width) != (first.titles, first.width):
            raise DataError(f"{path}: must have the columns of {first.name}; it has others")
        for columns, places in table.blocks:
            yield Block(columns, [f"{path}, {place}" for place in places])


def _choose_columns(table: TableFile, leave_out: str | None) -> TableFile:
    """Find the index, the dates and the columns to leave out from the first rows."""
    titles = table.titles or (None,) * table.width
    out = {table.column("--leave-out", each) for each in leave_out.split(",")} if leave_out else ()
    first = next(table.blocks, None)
    if first is not None:
        table.blocks = chain([first], table.blocks)
        table.dates = [
            j
            for j, cells in enumerate(first.columns)
            if j not in out and holds_dates(titles[j], cells[:LOOK], first=j == 0)
        ]
    table.kept = [
        j
        for j, title in enumerate(titles)
        if j not in out and (title is None or not _UNTITLED.fullmatch(title))
    ]
    return table


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
    titled = title is not None and title.lower() in DATE_TITLES
    known = [cell for cell in cells if not is_missing(cell)]
    if not known or not any(map(is_number, known)):
        return bool(known) and (titled or bool(readings([str(cell) for cell in known])))
    if not first or len(known) < len(cells) or not all(map(is_number, known)):
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


def _find(source: str) -> list[str]:
    """Return the names of the files that a pattern stands for; a plain name as it is."""
    return [source] if Path(source).exists() else sorted(glob.glob(source)) or [source]


def read_content(source: str) -> bytes | None:
    """Return the bytes of one text, decompressed; None if the source is of another kind."""
    paths = _find(source)
    if len(paths) > 1 or PurePath(paths[0]).suffix.lower() in {".npy", *ARROW}:
        return None
    if paths[0] == "-":
        return decompress(_standard_input().read(), "standard input")
    return read_bytes(paths[0])


def _standard_input() -> Any:
    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed; name a file, or give it a stream")
    return sys.stdin.buffer


def _open_stream(
    path: str, whole: bool, content: bytes | None
) -> contextlib.AbstractContextManager[Any]:
    if whole:
        content = read_content(path) if content is None else content
        return io.BytesIO(content or b"")
    return contextlib.nullcontext(_standard_input()) if path == "-" else open_bytes(path)


def _whole_lines(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the complete lines; the last number of an incomplete line may be cut."""
    for raw in lines:
        if raw.endswith(b"\n"):
            yield raw
        else:
            typer.echo("the last line has no end and was not counted", err=True)


def _raw_lines(stream: Any, source: str) -> Iterator[bytes]:
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


def _open_text(
    raw_lines: Iterator[bytes], name: str, sep: str | None, header: bool | None, rows: int | None
) -> TableFile:
    lines = _text_lines(raw_lines, name)
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
        again = [repr(title) for title, n in Counter(filter(None, titles)).items() if n > 1]
        if again:
            raise DataError(f"{name}: {first[0]}: the header names {', '.join(again)} twice")
        if not any(titles):
            raise DataError(f"{name}: {first[0]}: the header names no column")
    records = chain(below if header else [first, *below], records)
    return TableFile(name, titles, width, [], [], _text_blocks(records, _size(rows, width)))


def _text_blocks(records: Iterator[tuple[str, list[str]]], size: int) -> Iterator[Block]:
    while taken := list(islice(records, size)):
        places, cells = zip(*taken, strict=True)
        yield Block(list(zip(*cells, strict=True)), list(places))


def _size(rows: int | None, width: int) -> int:
    return max(1, CELLS // width) if rows is None else rows


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


def _text_lines(raw_lines: Iterator[bytes], name: str) -> Iterator[str]:
    for number, raw in enumerate(raw_lines, start=1):
        try:
            yield raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}: line {number}: is not UTF-8 text ({error.reason})") from error


def _records(lines: Iterator[str], name: str, sep: str) -> Iterator[tuple[str, list[str]]]:
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
                    cells = [_point(cell) for cell in cells]
                yield f"line {begin}", cells
            begin = reader.line_num + 1  # a quoted cell may hold line breaks
    except csv.Error as error:
        raise DataError(f"{name}: line {begin}: {error}") from error


def _point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL.fullmatch(cell) else cell


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


def _open_npy(source: str, rows: int | None) -> TableFile:
    try:
        matrix = np.lib.format.open_memmap(source, mode="r")
    except OSError:
        raise
    except Exception as error:  # a broken header makes NumPy raise errors of any kind
        raise DataError(f"{source}: cannot be read: {error}") from error
    real = np.issubdtype(matrix.dtype, np.floating) or np.issubdtype(matrix.dtype, np.integer)
    if matrix.ndim != 2 or 0 in matrix.shape or not real:
        raise DataError(
            f"{source}: a table must be numbers, in rows and columns; "
            f"got {matrix.dtype} of shape {matrix.shape}"
        )
    size = _size(rows, matrix.shape[1])
    parts = (np.array(matrix[i : i + size]) for i in range(0, len(matrix), size))
    return TableFile(source, None, matrix.shape[1], [], [], _numbered(list(x.T) for x in parts))


def _open_arrow(
    source: str, paths: list[str], kind: str, rows: int | None, whole: bool
) -> TableFile:
    try:
        import pyarrow.dataset
        from pyarrow.types import is_dictionary
    except ImportError as error:
        raise DataError(
            f"{source}: Parquet and Arrow need pyarrow: pip install 'driftgames[parquet]'"
        ) from error
    with _refuse_broken(source, kind):
        data = pyarrow.dataset.dataset(paths, format=kind)
        if whole:
            _check_size(source, data.count_rows() * len(data.schema.names), paths)

    def columns() -> Iterator[list[npt.NDArray[Any]]]:
        with _refuse_broken(source, kind):
            for batch in data.to_batches(batch_size=_size(rows, len(data.schema.names))):
                if batch.num_rows:
                    batch.validate(full=True)  # an Arrow file may point outside itself
                    plain = [x.dictionary_decode() if is_dictionary(x.type) else x for x in batch]
                    yield [x.to_numpy(zero_copy_only=False) for x in plain]

    titles = tuple(map(str, data.schema.names))
    return TableFile(source, titles, len(titles), [], [], _numbered(columns()))


@contextlib.contextmanager
def _refuse_broken(source: str, kind: str) -> Iterator[None]:
    """Raise a DataError for what pyarrow says of a broken file; its errors are of many kinds."""
    from pyarrow import ArrowException

    try:
        yield
    except (DataError, FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except (ArrowException, MemoryError, OSError, OverflowError, ValueError) as error:
        word = "Parquet" if kind == "parquet" else "Arrow"
        raise DataError(f"{source}: not a {word} file, or cut short ({error})") from error


def _check_size(source: str, cells: int, paths: list[str]) -> None:
    """Refuse files whose cells take more than the limit and more than 64 times their bytes."""
    limit = max(most_bytes(), 64 * sum(Path(path).stat().st_size for path in paths))
    if 8 * cells > limit:
        raise DataError(
            f"{source}: its {cells:,} cells need {8 * cells:,} bytes, where {limit:,} are allowed; "
            f"{LIMIT_VARIABLE} sets another limit"
        )


def _numbered(parts: Iterator[list[Any]]) -> Iterator[Block]:
    begin = 1
    for columns in parts:
        n = len(columns[0])
        yield Block(columns, [f"row {begin + i}" for i in range(n)])
        begin += n
