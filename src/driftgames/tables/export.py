"""Raw numbers for other programs: JSON, and rows for CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from driftgames.core.documents import atomic_write
from driftgames.core.typing import Path
from driftgames.tables.table import Cell, Table


def write_json(content: Any, path: Path) -> None:
    """Write plain data as JSON that a person can read, in one step."""
    with atomic_write(path) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode())


def as_rows(table: Table) -> Iterable[Sequence[Cell]]:
    """Yield the header and the rows; a column of a group is called ``group: name``."""
    yield [f"{c.group}: {c.name}" if c.group else c.name for c in table.columns]
    yield from table.rows
