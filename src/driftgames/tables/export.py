"""Raw numbers for other programs: JSON, and rows for CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from driftgames.core.documents import atomic_write
from driftgames.core.typing import Path
from driftgames.tables.table import Cell, Table


def write_json(content: Any, path: Path) -> None:
    """Write plain data as JSON that a person can read, in one step; what is not finite is null."""
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
    yield [f"{c.group}: {c.name}" if c.group else c.name for c in table.columns]
    yield from table.rows


def _finite(content: Any) -> Any:
    """Return the content with None for NaN and infinity, which JSON does not have."""
    if isinstance(content, dict):
        return {name: _finite(each) for name, each in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(each) for each in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
