"""How a cell reads, on every medium alike."""

from __future__ import annotations

import math

from driftgames.experiments.results import DIFFERENCE, Cell, Column

MISSING = "–"  # noqa: RUF001 - an en dash is what a table has where there is no number


def shown(cell: Cell, column: Column) -> str:
    """Return a cell as text: decimals as the column says, a sign on differences.

    >>> shown(15.4012, Column("ours", 2)), shown(0.0012, Column("difference", 2))
    ('15.40', '+0.00')
    >>> shown(32561, Column("rows")), shown(None, Column("published", 1))
    ('32,561', '–')
    """
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return MISSING
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,d}"
    text = (
        f"{cell:+.{column.digits}f}" if column.name == DIFFERENCE else f"{cell:,.{column.digits}f}"
    )
    negative_zero = text.startswith("-") and float(text.replace(",", "")) == 0
    return text.replace("-", "+" if column.name == DIFFERENCE else "", 1) if negative_zero else text
