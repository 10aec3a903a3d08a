"""Tables as LaTeX, in the style of booktabs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from driftgames.tables.cells import cell_text
from driftgames.tables.table import Table

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "µ": r"\textmu{}",
    "ε": r"$\epsilon$",
}


def latex_text(text: str) -> str:
    r"""Return a text as LaTeX writes it.

    >>> latex_text("50 % of a_b & c")
    '50 \\% of a\\_b \\& c'
    """
    return "".join(_ESCAPES.get(each, each) for each in " ".join(text.split()))


def latex_table(table: Table) -> str:
    """Return a table as a ``tabular``; it needs the package booktabs."""
    sides = "".join(
        "r"
        if column.flush_right or any(isinstance(row[at], int | float) for row in table.rows)
        else "l"
        for at, column in enumerate(table.columns)
    )
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if any(column.group for column in table.columns):
        lines.append(_row(_group_cells(table)))
    lines += [_row(latex_text(column.name) for column in table.columns), r"\midrule"]
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        lines.append(_row(latex_text(cell_text(cell, column)) for cell, column in cells))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _group_cells(table: Table) -> list[str]:
    cells = []
    for group, members in groupby(table.columns, key=lambda column: column.group):
        width = len(list(members))
        if group:
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(group)}}}")
        else:
            cells += [""] * width
    return cells


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
