"""Tables of numbers, in blocks of rows: losses, forecasts and prices. Errors name the cell."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from driftgames.cli._cells import as_numbers, is_missing, is_number
from driftgames.cli._options import Reading
from driftgames.cli._output import say
from driftgames.cli._tables import Block, TableFile, open_table
from driftgames.core.checks import first_index
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError


class CellRule(NamedTuple):
    """What a cell is called, and whether it may be missing; a missing one becomes NaN."""

    noun: str
    may_be_missing: bool = False


LOSS = CellRule("a loss")


class NumberBlock(NamedTuple):
    """Some rows of numbers, where each stands, and its date; there may be no dates."""

    numbers: FloatArray
    places: list[str]
    dates: list[str]


@dataclass
class NumberFile:
    """The columns of numbers of a table, their names if it has a header, and its rows in blocks.

    ``columns`` are their positions in the table.
    """

    table: TableFile
    columns: list[int]
    blocks: Iterator[NumberBlock] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The titles of the columns; None without a header."""
        titles = self.table.titles
        return None if titles is None else tuple(titles[j] for j in self.columns)

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


@contextlib.contextmanager
def open_numbers(
    source: str, reading: Reading, rule: CellRule = LOSS, **settings: Any
) -> Iterator[NumberFile]:
    """Open a table of numbers with the settings of `open_table`; dates and an index are left out.

    The dates are those of the first column of dates that has a title.
    """
    with open_table(source, **reading._asdict(), **settings) as table:
        columns = [j for j in table.kept if j not in table.dates]
        if not columns:
            raise DataError(f"{table.name}: has no column of numbers")
        dates = min(table.dates, key=lambda j: (j not in table.kept, j), default=None)
        blocks = (_convert(block, table, columns, dates, rule) for block in table.blocks)
        yield NumberFile(table, columns, blocks)


def say_left_out(source: NumberFile) -> None:
    """Say on standard error which columns are dates."""
    table = source.table
    titles = table.titles or [f"column {j + 1}" for j in range(table.width)]
    left_out = [titles[j] for j in table.kept if j in table.dates]
    if left_out:
        say(f"{table.name}: read as dates, and left out: {', '.join(left_out)}", err=True)


def _convert(
    block: Block, table: TableFile, columns: list[int], dates: int | None, rule: CellRule
) -> NumberBlock:
    numbers = np.empty((len(block.places), len(columns)))
    for k, j in enumerate(columns):
        found = as_numbers(block.columns[j])
        if found is not None and (np.isfinite(found).all() or rule.may_be_missing):
            numbers[:, k] = found
            if not np.isinf(found).any():
                continue
        _name_bad_cell(block, table, j, rule)
    days = [] if dates is None else [str(cell).strip() for cell in block.columns[dates]]
    return NumberBlock(numbers, block.places, days)


def _name_bad_cell(block: Block, table: TableFile, j: int, rule: CellRule) -> None:
    """Raise an error that names the first cell of a column that is not a finite number."""
    for place, cell in zip(block.places, block.columns[j], strict=True):
        if rule.may_be_missing and is_missing(cell):
            continue
        shown = repr(cell.strip()) if isinstance(cell, str) else str(cell)
        if not is_number(cell):
            wanted = "a number"
        elif not np.isfinite(float(cell)):
            wanted, shown = "finite", str(cell).strip()
        else:
            continue
        raise DataError(f"{table.place(place, j)}: {rule.noun} must be {wanted}; got {shown}")
