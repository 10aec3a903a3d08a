"""The text of a cell, the same on every medium."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from driftgames.core.text import visible as visible
from driftgames.tables.table import Cell, Column

MISSING = "-"
"""The text of a number that is missing or infinite."""


def cell_text(cell: Cell, column: Column) -> str:
    """Return a cell as text, in the form of its column.

    >>> [cell_text(0.0123, Column("best", "s")), cell_text(6.04, Column("to ours", "x"))]
    ['12.3 ms', '6.0x']
    >>> [cell_text(0.221, Column("zeros", "%")), cell_text(2**21, Column("peak", "B"))]
    ['22.1 %', '2.1 MB']
    >>> cell_text(0.00123, Column("per day", "+.3%"))
    '+0.123 %'
    >>> [cell_text(32561, Column("rows")), cell_text(15.4012, Column("error", ",.2f"))]
    ['32,561', '15.40']
    """
    if isinstance(cell, str):
        return cell
    if cell is None or not math.isfinite(cell):
        return MISSING
    if column.form in _UNITS:
        return _UNITS[column.form](cell)
    if isinstance(cell, int):
        return f"{cell:,d}"
    return format(cell, column.form or ".4g").replace("%", " %")


def counted(number: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "round"), counted(1200, "round"), counted(2, "class"), counted(3, "strategy")
    ('1 round', '1,200 rounds', '2 classes', '3 strategies')
    """
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def as_plain(value: float) -> str:
    """Return a number to six digits, and a large one without an exponent.

    >>> as_plain(3059180.4), as_plain(20.7281)
    ('3,059,180', '20.7281')
    """
    return f"{value:,.0f}" if 1e5 <= abs(value) < 1e12 else f"{value:,.6g}"


def _scaled(*steps: tuple[float, str]) -> Callable[[float], str]:
    def text(value: float) -> str:
        size, name = next((step for step in steps if abs(value) >= step[0]), steps[-1])
        scaled = value / size
        return f"{scaled:.{0 if scaled >= 100 else 1}f} {name}".rstrip()

    return text


def _thousands(unit: str) -> Sequence[tuple[float, str]]:
    return [(1e9, f"G{unit}"), (1e6, f"M{unit}"), (1e3, f"k{unit}"), (1.0, unit)]


_UNITS: dict[str, Callable[[float], str]] = {
    "s": _scaled((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "/s": _scaled(*_thousands("")),
    "B": _scaled(*_thousands("B")),
    "x": lambda ratio: f"{ratio:.2f}x" if ratio < 2 else f"{ratio:.1f}x",
    "%": lambda share: f"{100 * share:.1f} %",
}
