"""What an experiment returns: tables and figures as plain data, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | float | int | None

OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
"""The columns that stand together in one group of a table that is compared."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        What stands over it.
    digits : int
        Decimals that are shown; the data keeps them all.
    group : str
        What stands over it and its neighbours; empty for a column on its own.
    on_terminal : bool
        Whether there is room for it on a terminal too.
    """

    name: str
    digits: int = 0
    group: str = ""
    on_terminal: bool = True


@dataclass(frozen=True)
class Table:
    """A table as plain data: raw numbers, with how many decimals to show."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def column(self, name: str, group: str = "") -> list[Cell]:
        """Return the cells of one column.

        >>> Table("t", "T", (Column("set"), Column("rows")), (("a9a", 5),)).column("rows")
        [5]
        """
        at = [(column.name, column.group) for column in self.columns].index((name, group))
        return [row[at] for row in self.rows]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: curves over a common ``x``, each with its bound where it has one."""

    title: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]
    bounds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure as plain data; ``kind`` says which function of `driftgames.plots` draws it."""

    name: str
    kind: str
    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """One experiment of the report: what it shows, and the command that makes it again."""

    name: str
    title: str
    text: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    command: str
