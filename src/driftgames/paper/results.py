"""The results of an experiment: tables and figures as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from driftgames.core.typing import Content
from driftgames.tables import Column, Table

OURS, PUBLISHED, DIFFERENCE = "ours", "published", "difference"
"""The columns of a group that compares our numbers with the published ones."""


def compared_columns(group: str, form: str = "", printed: str = "") -> list[Column]:
    """Return ours and the published number as two columns of a group, in these forms."""
    return [Column(OURS, form, group), Column(PUBLISHED, printed, group, in_brackets=True)]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: curves over a common ``x``, some with a bound, or a band (low, high)."""

    title: str
    x: Sequence[float]
    curves: Mapping[str, Sequence[float]]
    bounds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    bands: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)


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
