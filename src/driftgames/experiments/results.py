"""What an experiment returns: tables and figures as plain data, drawn elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from driftgames.core.typing import Content

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

    @classmethod
    def from_content(cls, content: Content) -> Table:
        """Return a table from its JSON members."""
        columns = tuple(Column(**column) for column in content["columns"])
        rows = tuple(tuple(row) for row in content["rows"])
        return cls(content["name"], content["title"], columns, rows, tuple(content["notes"]))


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

    @classmethod
    def from_content(cls, content: Content) -> Figure:
        """Return a figure from its JSON members."""
        panels = tuple(Panel(**panel) for panel in content["panels"])
        return cls(**{**content, "panels": panels, "notes": tuple(content["notes"])})


@dataclass(frozen=True)
class Section:
    """One experiment of the report: what it shows, and the command that makes it again.

    Parameters
    ----------
    sets : tuple of str
        The sets that it used.
    left_out : tuple of str
        Those of the chosen sets that it did not use, and ``why``.
    """

    name: str
    title: str
    text: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    command: str
    sets: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    why: str = ""

    @property
    def omission(self) -> str:
        """One sentence on what was left out; empty if nothing was."""
        return f"Left out: {listed(self.left_out)} ({self.why})." if self.left_out else ""

    @classmethod
    def from_content(cls, content: Content) -> Section:
        """Return a section from its JSON members."""
        pieces = {
            "tables": tuple(Table.from_content(table) for table in content["tables"]),
            "figures": tuple(Figure.from_content(figure) for figure in content["figures"]),
            "sets": tuple(content["sets"]),
            "left_out": tuple(content["left_out"]),
        }
        return cls(**{**content, **pieces})


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence has them.

    >>> listed(["a9a", "census", "w8a"])
    'a9a, census and w8a'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
