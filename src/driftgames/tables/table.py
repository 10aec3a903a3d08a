"""The model of a table: raw numbers, a form for each column, and the same as JSON or records."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from driftgames.core.display import Displayed, Fields, Number, frame_of_columns
from driftgames.core.text import listed, shown

if TYPE_CHECKING:
    from driftgames.core.typing import Content, Path

Cell = str | float | int | None
"""None if there is no number."""

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        The header.
    form : str
        How numbers are written: a unit (``s``, ``/s``, ``B``, ``x`` for a ratio, ``%`` for a
        share) or a format of Python such as ``,.2f``. Default: four significant digits.
    group : str
        The header above this column and its neighbours. Default: none.
    on_terminal : bool
        Whether a terminal has room for it.
    in_brackets : bool
        Whether a terminal shows it in brackets after the first column of its group.
    flush_right : bool
        Whether texts are flush right, as numbers are.
    """

    name: str
    form: str = ""
    group: str = ""
    on_terminal: bool = True
    in_brackets: bool = False
    flush_right: bool = False


@dataclass(frozen=True)
class Table(Displayed):
    r"""A table as plain data; ``name`` is what a file of it is called.

    >>> table = Table("Sets", (Column("set"), Column("error", "%")), (("a9a", 0.154),))
    >>> table
    <Table: Sets, 1 x 2>
    >>> print(table.to_latex())
    \begin{tabular}{lr}
    \toprule
    set & error \\
    \midrule
    a9a & 15.4 \% \\
    \bottomrule
    \end{tabular}
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    name: str = ""

    def column(self, name: str, group: str = "") -> list[Cell]:
        """Return the cells of one column.

        >>> Table("Sets", (Column("set"), Column("rows")), (("a9a", 5),)).column("rows")
        [5]
        """
        from driftgames.core.checks import check_text  # it loads NumPy, and `--help` must not

        check_text("name", name)
        check_text("group", group)
        known = [(column.name, column.group) for column in self.columns]
        if (name, group) not in known:
            names = listed(f"{name} of {group}" if group else name for name, group in known)
            raise ValueError(
                f"name and group must be a column ({names}); got {shown(name)}, {shown(group)}"
            )
        at = known.index((name, group))
        return [row[at] for row in self.rows]

    def without(self, names: Collection[str]) -> Table:
        """Return the table without the columns of these names."""
        kept = [at for at, column in enumerate(self.columns) if column.name not in names]
        return replace(
            self,
            columns=tuple(self.columns[at] for at in kept),
            rows=tuple(tuple(row[at] for at in kept) for row in self.rows),
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the rows as a data frame of pandas, polars or pyarrow, which must be installed.

        >>> Table("Sets", (Column("set"), Column("rows")), (("a9a", 5),)).to_frame()
           set  rows
        0  a9a     5
        """
        return frame_of_columns(self._columns(), backend)

    def to_latex(self) -> str:
        """Return the table for LaTeX with the package ``booktabs``: cells as they read elsewhere.

        Groups stand above their columns, and a name that LaTeX would read as a command is escaped.
        """
        from driftgames.tables.latex import latex_table

        return latex_table(self)

    def _headline(self) -> str:
        return f"{self.title}, {len(self.rows):,} x {len(self.columns)}"

    def _facts(self) -> Fields:
        return {}

    def _columns(self) -> Fields:
        names = column_names(self)
        return {name: [row[at] for row in self.rows] for at, name in enumerate(names)}

    def _preview(self) -> Fields:
        from driftgames.tables.cells import cell_text

        cells = [
            [cell if isinstance(cell, str) else Number(cell_text(cell, column)) for cell in cells]
            for column, cells in zip(self.columns, zip(*self.rows, strict=True), strict=False)
        ]
        return dict(zip(column_names(self), cells or [[] for _ in self.columns], strict=True))

    def _sketch(self) -> None:
        return None

    @classmethod
    def from_content(cls, content: Content) -> Table:
        """Return a table from its JSON members."""
        columns = tuple(Column(**column) for column in content["columns"])
        rows = tuple(tuple(row) for row in content["rows"])
        return cls(content["title"], columns, rows, tuple(content["notes"]), content["name"])


def column_names(table: Table) -> list[str]:
    """Return the names of the columns; one of a group is called ``group: name``."""
    return [f"{c.group}: {c.name}" if c.group else c.name for c in table.columns]


def write_json(content: Any, path: Path) -> None:
    """Write plain data as JSON that a person can read, in one step; what is not finite is null."""
    from driftgames.core.documents import atomic_write  # which needs NumPy

    text = json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as stream:
        stream.write(text.encode())


def as_records(table: Table) -> list[dict[str, Cell]]:
    """Return the rows as one mapping each, by the names of the columns.

    >>> from driftgames.tables import Column
    >>> as_records(Table("Sets", (Column("set"), Column("rows")), (("a9a", 5),)))
    [{'set': 'a9a', 'rows': 5}]
    """
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def as_rows(table: Table) -> Iterable[Sequence[Cell]]:
    """Yield the header and the rows; a column of a group is called ``group: name``."""
    yield column_names(table)
    yield from table.rows


def _finite(content: Any) -> Any:
    """Return the content with None for NaN and infinity, which JSON does not have."""
    if isinstance(content, dict):
        return {name: _finite(each) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
