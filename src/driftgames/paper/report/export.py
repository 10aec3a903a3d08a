"""The results on a terminal, and as CSV with the versions, the seed and the machine."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from driftgames.core.documents import atomic_write
from driftgames.core.typing import Console
from driftgames.paper.reproduce import Report
from driftgames.paper.results import Figure
from driftgames.tables import Cell, as_rows, draw_table


def write_csv(report: Report, folder: Path) -> list[Path]:
    """Write one CSV per table and figure, each with its command, seed and versions in comments."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for section in report.sections:
        contents = {table.name: as_rows(table) for table in section.tables}
        contents |= {figure.name: figure_rows(figure) for figure in section.figures}
        for name, rows in contents.items():
            path = folder / f"{name}.csv"
            with atomic_write(path) as stream:
                stream.write(_csv(report, section.command, rows).encode())
            written.append(path)
    return written


def figure_rows(figure: Figure) -> Iterable[Sequence[Cell]]:
    """Yield the points of a figure: panel, curve, x, y and the bound if there is one."""
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


def print_report(report: Report, console: Console) -> None:
    """Print the verdict, the tables of this run and the summary."""
    if report.verdict:
        console.print(report.verdict)
        console.print()
    if report.claims is not None:
        console.print(draw_table(report.claims))
        console.print()
    made = [section for section in report.sections if section.name not in report.kept]
    for section in made:
        for table in section.tables:
            console.print(draw_table(table))
            console.print()
    for sentence in report.summary:
        console.print(f"- {sentence}", markup=False, highlight=False)
