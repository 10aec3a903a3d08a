"""Tables of numbers, in blocks of rows: losses, forecasts and prices. Errors name the cell."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from driftgames.cli._options import Reading
from driftgames.cli._output import say
from driftgames.cli._tables import RowBlock, TableFile, open_table
from driftgames.core.cells import as_numbers, counts_rows, is_missing, is_number, marked_number
from driftgames.core.checks import first_index
from driftgames.core.text import listed, shorten, shown
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError
from driftgames.tables import counted


class NumberBlock(NamedTuple):
    """Some rows of numbers, where each stands, and its date; there may be no dates.

    ``texts`` are the cells of each column of texts.
    """

    numbers: FloatArray
    places: list[str]
    dates: list[str]
    texts: Sequence[Sequence[Any]] = ()


@dataclass
class NumberFile:
    """The columns of numbers of a table, their names if it has a header, and its rows in blocks.

    ``noun`` is what a cell is called. If it may be missing, a missing one becomes NaN. ``columns``
    are the positions in the table: dates and an index are left out. The dates of a block are those
    of the first column of dates that has a title. ``texts`` are the columns that `read_as_text`
    sets aside.
    """

    table: TableFile
    noun: str
    may_be_missing: bool
    columns: list[int] = field(init=False)
    texts: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.columns = [j for j in self.table.kept if j not in self.table.dates]
        if not self.columns:
            raise DataError(f"{self.table.name}: has no column of numbers")

    @property
    def blocks(self) -> Iterator[NumberBlock]:
        """The blocks that are not read yet."""
        return map(self._convert, self.table.blocks)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The titles of the columns; None without a header."""
        titles = self.table.titles
        return None if titles is None else tuple(titles[j] for j in self.columns)

    def read_as_text(self, columns: list[int]) -> None:
        """Give the cells of these columns as they are, in this order; they are no numbers."""
        self.texts = columns
        self.columns = [j for j in self.columns if j not in columns]

    def checked(self, low: float, high: float) -> Iterator[NumberBlock]:
        """Yield the blocks; an error names the first loss outside ``[low, high]``."""
        for block in self.blocks:
            outside = ~((block.numbers >= low) & (block.numbers <= high))
            if outside.any():
                row, column = first_index(outside)
                place = self.table.place(block.places[row], self.columns[column])
                raise DataError(
                    f"{place}: losses must lie in [{low:g}, {high:g}] (see --loss-range); "
                    f"got {block.numbers[row, column]:g}"
                )
            yield block

    def _convert(self, block: RowBlock) -> NumberBlock:
        numbers = np.empty((len(block.places), len(self.columns)))
        for k, j in enumerate(self.columns):
            found = as_numbers(block.columns[j])
            if found is not None and (np.isfinite(found).all() or self.may_be_missing):
                numbers[:, k] = found
                if not np.isinf(found).any():
                    continue
            self._name_bad_cell(block, j)
        kept = self.table.kept
        at = min(self.table.dates, key=lambda j: (j not in kept, j), default=None)
        dates = [] if at is None else [str(cell).strip() for cell in block.columns[at]]
        texts = [block.columns[j] for j in self.texts]
        return NumberBlock(numbers, block.places, dates, texts)

    def _name_bad_cell(self, block: RowBlock, j: int) -> None:
        """Raise an error that names the first cell of a column that is not a finite number."""
        for place, cell in zip(block.places, block.columns[j], strict=True):
            if self.may_be_missing and is_missing(cell):
                continue
            text = shown(cell.strip() if isinstance(cell, str) else cell)
            if not is_number(cell):
                wanted = "a number" + " such as 1234.5" * (marked_number([cell]) is not None)
            elif not np.isfinite(float(cell)):
                wanted, text = "finite", shorten(str(cell).strip())
            else:
                continue
            place = self.table.place(place, j)
            raise DataError(f"{place}: {self.noun} must be {wanted}; got {text}")


@contextlib.contextmanager
def open_numbers(
    source: str,
    reading: Reading,
    noun: str = "a loss",
    *,
    may_be_missing: bool = False,
    **settings: Any,
) -> Iterator[NumberFile]:
    """Open a table of numbers with the settings of `open_table`."""
    with open_table(source, **reading._asdict(), **settings) as table:
        yield NumberFile(table, noun, may_be_missing)


def say_columns(
    source: NumberFile, noun: str, target: int | None = None, *, quiet: bool = False
) -> None:
    """Say on standard error what the columns of numbers were taken for, and which are dates.

    A ``quiet`` one says the latter alone.
    """
    table = source.table
    named = [table.title(j) for j in source.columns]
    read = "" if target is None else f"target {shorten(named.pop(target), 60)}; "
    if not quiet:
        say(f"{table.name}: {read}{counted(len(named), noun)}: {listed(named)}", err=True)
    left_out = [table.title(j) for j in table.kept if j in table.dates]
    if left_out:
        say(f"{table.name}: read as dates, and left out: {listed(left_out)}", err=True)


def say_indexes(source: NumberFile, names: Sequence[str], numbers: FloatArray) -> None:
    """Name the columns that count the rows: such a column forecasts nothing."""
    for name, column in zip(names, numbers.T, strict=True):
        if counts_rows(column):
            title = shorten(name, 60)
            words = f"leave it out with --leave-out {shlex.quote(title)}"
            say(f"{source.table.name}: column {title} counts the rows; {words}", err=True)
