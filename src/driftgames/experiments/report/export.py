"""The results as JSON and CSV, with the versions, the seed and the machine."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from driftgames.core.documents import atomic_write
from driftgames.experiments.reproduce import Report
from driftgames.experiments.results import Cell, Figure, Table


def write_json(report: Report, path: Path) -> None:
    """Write everything as one JSON object."""
    with atomic_write(path) as stream:
        stream.write(json.dumps(asdict(report), indent=1, ensure_ascii=False).encode())


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write one CSV per table and figure, each with what it depends on in lines of ``#``."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for section in report.sections:
        contents = {table.name: table_rows(table) for table in section.tables}
        contents |= {figure.name: figure_rows(figure) for figure in section.figures}
        for name, rows in contents.items():
            path = folder / f"{name}.csv"
            with atomic_write(path) as stream:
                stream.write(_csv(report, section.command, rows).encode())
            written.append(path)
    return written


def table_rows(table: Table) -> Iterable[Sequence[Cell]]:
    """Yield the header and the rows of a table; a grouped column is called ``group: name``."""
    yield [f"{c.group}: {c.name}" if c.group else c.name for c in table.columns]
    yield from table.rows


def figure_rows(figure: Figure) -> Iterable[Sequence[Cell]]:
    """Yield the points of a figure: panel, curve, x, y and the bound where there is one."""
    yield ["panel", "curve", "x", "y", "bound"]
    for panel in figure.panels:
        for name, curve in panel.curves.items():
            bounds = panel.bounds.get(name, [None] * len(curve))
            for x, y, bound in zip(panel.x, curve, bounds, strict=True):
                yield [panel.title, name, x, y, bound]


def _csv(report: Report, command: str, rows: Iterable[Sequence[Cell]]) -> str:
    text = io.StringIO()
    facts = ", ".join(f"{name} {value}" for name, value in report.environment.items())
    text.write(f"# {command}\n# seed {report.seed}, {facts}\n")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
