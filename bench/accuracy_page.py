"""Tables and pictures in a page of Markdown, each between two comments, written by the command.

``<!-- table: TITLE -->`` begins a table and ``<!-- picture: FILE, TEXT -->`` a picture; each ends
with ``<!-- end -->``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from bench.accuracy_tables import COSTS, RANKS
from driftgames.core.documents import atomic_write
from driftgames.tables import Table, cell_text

_PLACE = re.compile(
    r"(<!-- (?P<kind>table|picture): (?P<title>.*?) -->\n).*?(?=<!-- end -->)", re.S
)
_BEST = {"AUC": max} | dict.fromkeys(
    ("error, %", "log-loss", "CRPS", "Winkler", "MAE", "RMSE"), min
)


def write_page(path: Path, tables: Sequence[Table]) -> None:
    """Write tables into the places of a page that bear their titles, and pictures that exist.

    Other places stay as they are. A page that does not exist is made, with a place for each table.
    """
    if not path.exists():
        places = [f"<!-- table: {table.title} -->\n<!-- end -->\n" for table in tables]
        path.write_text("\n".join(places))
    by_title = {table.title: table for table in tables}

    def renew(place: re.Match[str]) -> str:
        if place["kind"] == "picture":
            file, _, words = place["title"].partition(", ")
            exists = (path.parent / file).exists()
            return f"{place[1]}\n![{words}]({file})\n\n" if exists else place[0]
        table = by_title.get(place["title"])
        return place[0] if table is None else f"{place[1]}\n{markdown(table)}\n"

    text = _PLACE.sub(renew, path.read_text())
    with atomic_write(path) as stream:
        stream.write(text.encode())


def _least(table: Table, at: int) -> float | None:
    """Return the least number of a column; None if a cell is no number, or more may be better."""
    cells = [row[at] for row in table.rows]
    numbers = [cell for cell in cells if isinstance(cell, float)]
    if len(numbers) < len(cells) or "coverage" in table.columns[at].name:
        return None
    return min(numbers, default=None)


def markdown(table: Table) -> str:
    """Return a table as Markdown, its notes below.

    The best figure of each set is bold, and the best library of each rank, time and size.
    """
    best = next((take for head, take in _BEST.items() if table.title.startswith(head)), None)
    right = [any(isinstance(row[at], int | float) for row in table.rows) or column.flush_right
             for at, column in enumerate(table.columns)]  # fmt: skip
    lines = [
        "| " + " | ".join(column.name for column in table.columns) + " |",
        "|" + "|".join("--:" if each else "---" for each in right) + "|",
    ]
    tops = [_least(table, at) for at in range(len(table.columns))]
    for row in table.rows:
        cells = [cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        if best is not None:
            top = best(cell for cell in row if isinstance(cell, float))
            cells = [
                f"**{text}**" if cell == top else text
                for cell, text in zip(row, cells, strict=True)
            ]
        elif table.title.startswith((RANKS, COSTS)):
            cells = [
                f"**{text}**" if top is not None and cell == top else text
                for cell, text, top in zip(row, cells, tops, strict=True)
            ]
        lines.append("| " + " | ".join(cells) + " |")
    notes = "".join(f"\n{note[0].upper()}{note[1:]}.\n" for note in table.notes)
    return "\n".join(lines) + "\n" + notes
