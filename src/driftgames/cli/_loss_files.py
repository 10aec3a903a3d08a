"""Losses from CSV text, Parquet or .npy, in blocks of rounds; errors name line and column."""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from driftgames.cli._csv_lines import check_titles, is_missing, is_number
from driftgames.core.checks import first_index
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import LIMIT_VARIABLE, DataError, most_bytes

CELLS = 2_000_000
"""The most losses that a block holds; it holds one round at least."""

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}


class BadCellError(ValueError):
    """A cell that is not a loss; the message names its line and column."""


class CellRule(NamedTuple):
    """What a cell is called, whether it may be missing, and the columns that are left out.

    A missing cell becomes NaN. Columns are left out by their names.
    """

    noun: str
    plural: str
    may_be_missing: bool
    left_out: tuple[str, ...] = ()

    def kept(self, names: Sequence[str] | None, n_columns: int) -> list[int]:
        """Return the columns that are kept, or name one that is not there."""
        for name in self.left_out:
            if names is None or name not in names:
                raise DataError(f"there is no column {name!r} to leave out")
        return [j for j in range(n_columns) if names is None or names[j] not in self.left_out]


LOSS = CellRule("a loss", "losses", may_be_missing=False)


class Block(NamedTuple):
    """Some rounds, one per row, and where each stands: "line 7" or "row 7"."""

    losses: FloatArray
    places: list[str]


@dataclass
class LossFile:
    """The actions' names, if the source gives them, and its rounds as an iterator of blocks.

    A block is yielded as soon as its rounds have been read, so that a slow stream is answered
    line by line.
    """

    names: tuple[str, ...] | None
    n_actions: int
    blocks: Iterator[Block] = field(repr=False)

    def checked(self, low: float, high: float) -> Iterator[Block]:
        """Yield the blocks; an error names the first loss outside ``[low, high]``."""
        for block in self.blocks:
            outside = ~((block.losses >= low) & (block.losses <= high))
            if outside.any():
                row, column = first_index(outside)
                raise BadCellError(
                    f"{self.place(block.places[row], column)}: losses must lie in "
                    f"[{low:g}, {high:g}] (see --loss-range); got {block.losses[row, column]:g}"
                )
            yield block

    def place(self, row: str, column: int) -> str:
        """Return the words for a cell: "line 7, column 2 (cash)"."""
        return _place(row, column, self.names)


@contextlib.contextmanager
def open_losses(
    source: str,
    *,
    header: bool | None = None,
    rounds: int | None = None,
    whole_lines: bool = False,
    cell: CellRule = LOSS,
) -> Iterator[LossFile]:
    """Open a file by its ending (.npy, .parquet, else CSV text), or standard input for "-".

    ``header`` says whether the first line of a CSV names the actions. Default: it does if none of
    its cells is a number. ``rounds`` is the size of a block. Default: as many as `CELLS` allows.
    With ``whole_lines`` a last line of standard input without an end of line is left out.
    ``cell`` says what a cell may hold.
    """
    path = Path(source)
    if source == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise DataError("standard input is closed; name a file, or give it a stream")
        lines = _raw_lines(sys.stdin.buffer, "standard input")
        yield _open_csv(_whole_lines(lines) if whole_lines else lines, header, rounds, cell)
    elif path.suffix == ".npy":
        yield _open_npy(path, rounds)
    elif path.suffix in {".parquet", ".pq"}:
        yield _open_parquet(path, rounds, cell)
    else:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            yield _open_csv(_raw_lines(stream, source), header, rounds, cell)


def _block_size(rounds: int | None, n_actions: int) -> int:
    return max(1, CELLS // n_actions) if rounds is None else rounds


def _place(row: str, column: int, names: tuple[str, ...] | None) -> str:
    name = f" ({names[column]})" if names is not None and column < len(names) else ""
    return f"{row}, column {column + 1}{name}"


def _open_csv(
    raw_lines: Iterator[bytes], header: bool | None, rounds: int | None, cell: CellRule
) -> LossFile:
    lines = _text_lines(raw_lines)
    first = next(lines, None)
    if first is None:
        raise ValueError(f"no {cell.plural} came: the input is empty")
    row, text = first
    cells = _cells(row, text)
    if header is None:
        # one number among words is a bad cell rather than a name
        header = not any(map(is_number, cells))
    names = tuple(map(str.strip, cells)) if header else None
    if names is None:
        lines = chain([first], lines)
    else:
        check_titles(row, names)
        if "" in names:
            raise DataError(
                f"{row}: column {names.index('') + 1} has no name: give it one, or leave it out "
                "if it is an index (pandas: index=False)"
            )
    kept = cell.kept(names, len(cells))
    blocks = _csv_blocks(lines, names, len(cells), _block_size(rounds, len(cells)), kept, cell)
    return LossFile(None if names is None else tuple(names[j] for j in kept), len(kept), blocks)


def _whole_lines(lines: Iterable[bytes]) -> Iterator[bytes]:
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


def _text_lines(raw_lines: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """Yield ("line 7", its text) for every line that is not blank."""
    for number, raw in enumerate(raw_lines, start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise BadCellError(f"line {number}: not UTF-8 text ({error.reason})") from error
        if text.strip():
            yield f"line {number}", text


def _csv_blocks(
    lines: Iterator[tuple[str, str]],
    names: tuple[str, ...] | None,
    width: int,
    size: int,
    kept: list[int],
    rule: CellRule,
) -> Iterator[Block]:
    while taken := list(islice(lines, size)):
        places, texts = [row for row, _ in taken], [text for _, text in taken]
        try:
            losses = np.loadtxt(
                texts,
                delimiter=",",
                comments=None,
                quotechar='"',
                ndmin=2,
                dtype=np.float64,
                usecols=kept if len(kept) < width else None,
            )
        except ValueError:
            losses = _cell_by_cell(taken, names, width, kept, rule)
        if losses.shape != (len(taken), len(kept)) or not np.isfinite(losses).all():
            losses = _cell_by_cell(taken, names, width, kept, rule)
        yield Block(losses, places)


def _cell_by_cell(
    lines: list[tuple[str, str]],
    names: tuple[str, ...] | None,
    width: int,
    kept: list[int],
    rule: CellRule,
) -> FloatArray:
    """Return the numbers of lines with missing cells, or name the first bad cell."""
    found = np.empty((len(lines), width))
    for line, (row, text) in enumerate(lines):
        cells = _cells(row, text)
        for column, cell in enumerate(cells):
            if column < width and column not in kept:
                continue
            place = _place(row, column, names)
            if rule.may_be_missing and is_missing(cell):
                number = np.nan
            elif not is_number(cell):
                raise BadCellError(f"{place}: {rule.noun} must be a number; got {cell.strip()!r}")
            elif not np.isfinite(float(cell)):
                raise BadCellError(f"{place}: {rule.noun} must be finite; got {cell.strip()}")
            else:
                number = float(cell)
            if column < width:
                found[line, column] = number
        if len(cells) != width:
            raise BadCellError(f"{row}: {len(cells)} cells, where {width} were expected")
    return found[:, kept]


def _cells(row: str, text: str) -> list[str]:
    try:
        return next(csv.reader([text]))
    except csv.Error as error:
        raise BadCellError(f"{row}: {error}") from error


def _open_npy(path: Path, rounds: int | None) -> LossFile:
    try:
        matrix = np.lib.format.open_memmap(path, mode="r")
    except OSError:
        raise
    except Exception as error:  # a broken header makes NumPy raise errors of any kind
        raise DataError(f"{path}: cannot be read: {error}") from error
    real = np.issubdtype(matrix.dtype, np.floating) or np.issubdtype(matrix.dtype, np.integer)
    if matrix.ndim != 2 or 0 in matrix.shape or not real:
        raise ValueError(
            f"{path}: losses must be numbers, one row per round and one column per action; "
            f"got {matrix.dtype} of shape {matrix.shape}"
        )
    n_rounds, n_actions = matrix.shape

    def blocks() -> Iterator[Block]:
        size = _block_size(rounds, n_actions)
        for begin in range(0, n_rounds, size):
            losses = np.array(matrix[begin : begin + size], dtype=np.float64)
            yield Block(losses, [f"row {begin + 1 + i}" for i in range(len(losses))])

    return LossFile(None, n_actions, blocks())


def _open_parquet(path: Path, rounds: int | None, rule: CellRule) -> LossFile:
    try:
        from pyarrow import ArrowInvalid, parquet, types
    except ImportError as error:
        raise ValueError(
            f"{path}: Parquet needs pyarrow: pip install 'driftgames[parquet]'"
        ) from error
    try:
        table = parquet.ParquetFile(path)
    except ArrowInvalid as error:
        raise ValueError(f"{path}: not a Parquet file, or cut short ({error})") from error
    schema = table.schema_arrow
    names = tuple(str(name) for name in schema.names)
    kept = rule.kept(names, len(names))
    for column in kept:
        kind = schema.types[column]
        if not (types.is_floating(kind) or types.is_integer(kind)):
            place = f"{path}: column {column + 1} ({names[column]})"
            raise BadCellError(f"{place}: {rule.plural} must be numbers; got {kind}")

    def blocks() -> Iterator[Block]:
        begin = 0
        for batch in table.iter_batches(batch_size=_block_size(rounds, len(names))):
            columns = [batch.column(i).to_numpy(zero_copy_only=False) for i in kept]
            losses = np.column_stack(columns).astype(np.float64)
            yield Block(losses, [f"row {begin + 1 + i}" for i in range(len(losses))])
            begin += len(losses)

    return LossFile(tuple(names[j] for j in kept), len(kept), blocks())
