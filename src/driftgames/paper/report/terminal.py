"""The report on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftgames.paper.reproduce import Report
from driftgames.tables import draw_table

if TYPE_CHECKING:
    from rich.console import Console


def print_report(report: Report, console: Console) -> None:
    """Print the tables of this run and the summary."""
    made = [section for section in report.sections if section.name not in report.kept]
    for section in made:
        for table in section.tables:
            console.print(draw_table(table))
            console.print()
    for sentence in report.summary:
        console.print(f"- {sentence}", markup=False, highlight=False)
