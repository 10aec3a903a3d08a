"""Tables from files and streams: the one reader of all commands.

The rules are in docs/command_line.md. A table is CSV text (commas, tabs or semicolons; plain or
compressed), Parquet, Arrow or ``.npy``, or text from standard input. Its first line is a header if
it holds no number. A column without a title is an index, and columns of dates are known by their
titles and cells.
"""

from __future__ import annotations

import contextlib
import glob
import io
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.cli._text_tables import (
    LOOK,
    Record,
    check_encoding,
    complete_lines,
    read_lines,
    read_text,
)
from driftgames.core.cells import holds_dates
from driftgames.core.text import listed, shorten, shown
from driftgames.datasets.files import (
    LIMIT_VARIABLE,
    DataError,
    decompress,
    most_bytes,
    open_bytes,
    read_bytes,
)

ARROW = {".parquet": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc"}
"""The endings of tables that pyarrow reads, with its names of their formats."""

CELLS = 2_000_000
"""The most cells that a block holds; it holds one row at least."""


_UNTITLED = re.compile(r"(Unnamed: \d+|__index_level_\d+__)?")  # the last two are by pandas
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}


class RowBlock(NamedTuple):
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
    blocks: Iterator[RowBlock] = field(repr=False)

    def column(self, option: str, text: str) -> int:
        """Return the column that an option names, by its title or its number from 1."""
        if self.titles and text in self.titles:
            return self.titles.index(text)
        if text.isdecimal() and 1 <= int(text) <= self.width:
            return int(text) - 1
        known = listed(filter(None, self.titles or ())) or f"columns 1 to {self.width}"
        raise DataError(f"{self.name}: {option}: there is no column {shown(text)}; it has {known}")

    def title(self, column: int) -> str:
        """Return the title of a column, or its number from 1."""
        return self.titles[column] if self.titles else f"column {column + 1}"

    def place(self, row: str, column: int) -> str:
        """Return the words for a cell: "losses.csv: line 7, column 2 (cash)"."""
        name = self.titles[column] if self.titles else ""
        title = f" ({shorten(name, 100)})" if name else ""
        return f"{self.name}: {row}, column {column + 1}{title}"


@contextlib.contextmanager
def open_table(
    source: str,
    *,
    sep: str | None = None,
    header: bool | None = None,
    leave_out: str | None = None,
    encoding: str | None = None,
    rows: int | None = None,
    whole: bool = False,
    content: bytes | None = None,
    whole_lines: bool = False,
) -> Iterator[TableFile]:
    """Open a table, a pattern of names of tables with the same columns, or "-".

    ``rows`` is the size of a block. Default: as many as `CELLS` allows. ``whole`` says that all
    rows will be held at once: then compressed data has a limit. ``content`` is what `read_content`
    has read. With ``whole_lines`` a last line of standard input without an end of line is left
    out. ``leave_out`` names columns. ``encoding`` is that of text. Default: UTF-8.
    """
    paths = _find(source)
    kind = ARROW.get(PurePath(paths[0]).suffix.lower())
    if sep is not None:
        sep = _SEPARATORS.get(sep, sep)
        if len(sep) != 1:
            raise ValueError(f"--sep must be one character, or tab; got {shown(sep)}")
    check_encoding(encoding)
    with contextlib.ExitStack() as held:
        if kind is not None:
            table = _open_arrow(source, paths, kind, rows, whole)
        elif PurePath(source).suffix.lower() == ".npy":
            table = _open_npy(source, rows)
        else:
            streams = (held.enter_context(_open_stream(path, whole, content)) for path in paths)
            lines = (read_lines(*each) for each in zip(streams, paths, strict=False))
            first = next(lines)
            if whole_lines and source == "-":
                first = complete_lines(first)
            name = "standard input" if source == "-" else paths[0]
            table = _open_text(first, name, sep, header, encoding, rows)
            others = zip(lines, paths[1:], strict=True)
            table.blocks = chain(table.blocks, _more(others, table, sep, header, encoding, rows))
        yield _choose_columns(table, leave_out)


def _more(
    others: Iterator[tuple[Iterator[bytes], str]], first: TableFile, *settings: Any
) -> Iterator[RowBlock]:
    """Yield the blocks of the other files of a pattern; their columns must be the same."""
    for lines, path in others:
        table = _open_text(lines, path, *settings)
        if (table.titles, table.width) != (first.titles, first.width):
            raise DataError(f"{path}: must have the columns of {first.name}; it has others")
        for columns, places in table.blocks:
            yield RowBlock(columns, [f"{path}, {place}" for place in places])


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


def _open_text(
    lines: Iterator[bytes],
    name: str,
    sep: str | None,
    header: bool | None,
    encoding: str | None,
    rows: int | None,
) -> TableFile:
    titles, width, records = read_text(lines, name, sep, header, encoding, rows)
    return TableFile(name, titles, width, [], [], _text_blocks(records, _size(rows, width)))


def _text_blocks(records: Iterator[Record], size: int) -> Iterator[RowBlock]:
    while taken := list(islice(records, size)):
        places, cells = zip(*taken, strict=True)
        yield RowBlock(list(zip(*cells, strict=True)), list(places))


def _size(rows: int | None, width: int) -> int:
    return max(1, CELLS // width) if rows is None else rows


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


def _numbered(parts: Iterator[list[Any]]) -> Iterator[RowBlock]:
    begin = 1
    for columns in parts:
        n = len(columns[0])
        yield RowBlock(columns, [f"row {begin + i}" for i in range(n)])
        begin += n
