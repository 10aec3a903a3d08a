"""Tables on a terminal, readable at eighty columns."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from driftgames.tables.cells import MISSING, cell_text, visible
from driftgames.tables.table import Column, Row, Table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult


class DrawnColumn(NamedTuple):
    """One column on a terminal."""

    header: str
    cells: list[str]
    flush_right: bool


def draw_table(table: Table) -> RenderableType:
    """Return what a console prints: the title, the columns and the notes."""
    from rich.console import Group
    from rich.text import Text

    group = _only_group(table)
    title = f"{table.title}: {group}" if group else table.title
    notes = [Text(visible(note), style="dim") for note in table.notes]
    return Group(Text(visible(title), style="bold"), _Grid(table), *notes)


class _Grid:
    """The columns; where the screen is narrow, without the room between them."""

    def __init__(self, table: Table) -> None:
        self._columns = drawn_columns(table)
        self._grouped = any(column.group for column in table.columns)  # which make a table wide

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.measure import Measurement

        grid = self._draw(tight=self._grouped)
        if (
            Measurement.get(console, options.update(max_width=10_000), grid).maximum
            > options.max_width
        ):
            grid = self._draw(tight=True)
        yield grid

    def _draw(self, *, tight: bool) -> RenderableType:
        from rich import box
        from rich.table import Table as Grid
        from rich.text import Text

        grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=0 if tight else (0, 1))
        for column in self._columns:
            no_wrap = self._grouped and not column.flush_right
            grid.add_column(
                Text(visible(column.header)),
                justify="right" if column.flush_right else "left",
                no_wrap=no_wrap,
                overflow="ellipsis" if no_wrap else "fold",
            )
        for row in zip(*(column.cells for column in self._columns), strict=True):
            grid.add_row(*(Text(visible(cell)) for cell in row))
        return grid


def drawn_columns(table: Table) -> list[DrawnColumn]:
    """Return the columns as a terminal shows them: a group in brackets becomes one column.

    >>> columns = (Column("set"), Column("ours", ".1f", "Error"),
    ...            Column("published", ".1f", "Error", in_brackets=True))
    >>> for column in drawn_columns(Table("Errors", columns, (("a9a", 15.4, 15.5),))):
    ...     print(column)
    DrawnColumn(header='set', cells=['a9a'], flush_right=False)
    DrawnColumn(header='Error', cells=['15.4 (15.5)'], flush_right=True)
    """
    result: list[DrawnColumn] = []
    shown = [(at, column) for at, column in enumerate(table.columns) if column.on_terminal]
    shared = _only_group(table)
    for group, members in groupby(shown, key=lambda each: each[1].group):
        own = list(members)
        if group and (len(own) == 1 or any(column.in_brackets for _, column in own)):
            result.append(DrawnColumn(group, [_merged(row, own) for row in table.rows], True))
            continue
        for at, column in own:
            cells = [cell_text(row[at], column) for row in table.rows]
            header = f"{group}: {column.name}" if group and group != shared else column.name
            numeric = any(isinstance(row[at], int | float) for row in table.rows)
            result.append(DrawnColumn(header, cells, numeric or column.flush_right))
    if any(column.group for column in table.columns):
        result[0] = result[0]._replace(cells=_once(result[0].cells))
    return result


def _only_group(table: Table) -> str:
    """Return the group of a table that has one only; it stands in the title then."""
    groups = {column.group for column in table.columns if column.group}
    return groups.pop() if len(groups) == 1 else ""


def _merged(row: Row, own: list[tuple[int, Column]]) -> str:
    first, *others = (cell_text(row[at], column) for at, column in own)
    beside = [other for other in others if other != MISSING]
    return f"{first} ({beside[0]})" if beside else first


def _once(cells: list[str]) -> list[str]:
    """Return the cells with a repeated one left empty.

    >>> _once(["a9a", "a9a", "w8a"])
    ['a9a', '', 'w8a']
    """
    return ["" if at and cells[at - 1] == cell else cell for at, cell in enumerate(cells)]
