"""The tables on a terminal, at most eighty columns wide."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from driftgames.experiments.report.cells import MISSING, shown
from driftgames.experiments.reproduce import Report
from driftgames.experiments.results import DIFFERENCE, PUBLISHED, Cell, Column, Table

if TYPE_CHECKING:
    from rich.console import Console, JustifyMethod


def print_report(report: Report, console: Console) -> None:
    """Print every table of this run and the summary; where nobody watches, the summary alone.

    A group of columns becomes ``ours (published)``.
    """
    made = [section for section in report.sections if section.name not in report.kept]
    for section in made if console.is_terminal else ():
        for table in section.tables:
            _print_table(table, console)
    for sentence in report.summary:
        console.print(f"- {sentence}", markup=False, highlight=False)


def _print_table(table: Table, console: Console) -> None:
    from rich import box
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD, padding=0)
    columns = merged(table)
    for column in columns:
        justify: JustifyMethod = "left" if column.is_text else "right"
        drawn.add_column(column.header, justify=justify, no_wrap=column.is_text)
    last = None
    for at, row in enumerate(table.rows):
        cells = [column.cells[at] for column in columns]
        if row[0] == last:
            cells[0] = ""
        last = row[0]
        drawn.add_row(*cells)
    shared = _only_group(table)
    title = f"{table.title}: {shared}" if shared else table.title
    console.print(title, style="italic", markup=False, highlight=False)
    console.print(drawn, markup=False)
    for note in table.notes:
        console.print(note, style="dim", markup=False, highlight=False)
    console.print()


class Printed(NamedTuple):
    """One column on a terminal."""

    header: str
    cells: list[str]
    is_text: bool


def merged(table: Table) -> list[Printed]:
    """Return the columns as a terminal shows them: ours with the published number in brackets.

    >>> columns = (Column("set"), Column("ours", 1, "Error"), Column("published", 1, "Error"),
    ...            Column("difference", 2, "Error"))
    >>> for column in merged(Table("t", "T", columns, (("a9a", 15.4, 15.5, -0.1),))):
    ...     print(column)
    Printed(header='set', cells=['a9a'], is_text=True)
    Printed(header='Error', cells=['15.4 (15.5)'], is_text=False)
    """
    result: list[Printed] = []
    shown_columns = [
        (at, column)
        for at, column in enumerate(table.columns)
        if column.on_terminal and column.name != DIFFERENCE
    ]
    shared = _only_group(table)
    for group, members in groupby(shown_columns, key=lambda place: place[1].group):
        own = list(members)
        if group and (len(own) == 1 or {PUBLISHED, "bound"} & {column.name for _, column in own}):
            result.append(Printed(group, [_pair(row, own) for row in table.rows], False))
            continue
        for at, column in own:
            cells = [shown(row[at], column) for row in table.rows]
            header = f"{group}: {column.name}" if group and group != shared else column.name
            is_text = any(isinstance(row[at], str) for row in table.rows)
            result.append(Printed(header, cells, is_text))
    return result


def _only_group(table: Table) -> str:
    """Return the group of a table that has one only; it stands in the title then."""
    groups = {column.group for column in table.columns if column.group}
    return groups.pop() if len(groups) == 1 else ""


def _pair(row: tuple[Cell, ...], own: list[tuple[int, Column]]) -> str:
    ours, *others = (shown(row[at], column) for at, column in own)
    beside = [other for other in others if other != MISSING]
    return f"{ours} ({beside[0]})" if beside else ours
