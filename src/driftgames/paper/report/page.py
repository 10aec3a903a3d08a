"""``index.html``: one self-contained file for any browser and for print."""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path

from driftgames.core.documents import atomic_write
from driftgames.paper.claims import CONFIRMED, ERRATA, NOT, PARTLY, UNEXPLAINED
from driftgames.paper.report.drawing import draw_legend, draw_panels
from driftgames.paper.reproduce import Report
from driftgames.paper.results import DIFFERENCE, PUBLISHED, Figure, Section
from driftgames.paper.tables import agrees
from driftgames.plots.style import dark_rules
from driftgames.tables import Cell, Column, Row, Table, cell_text

TITLE = "A drifting-games analysis, run again"

_SHORT = {PUBLISHED: "paper", DIFFERENCE: "diff."}  # a wide table must fit a page

# The class of a verdict in the style sheet. Bold means that something differs, everywhere.
_VERDICTS = {CONFIRMED: "confirmed", PARTLY: "partly", NOT: "differs", UNEXPLAINED: "differs"}


def write_page(report: Report, path: Path) -> None:
    """Write the page, in one step."""
    with atomic_write(path) as stream:
        stream.write(render_page(report).encode())


def render_page(report: Report) -> str:
    """Return the whole page; it refers to nothing outside itself."""
    css = resources.files("driftgames.paper.report").joinpath("page.css").read_text("utf-8")
    sections = "\n".join(_section(section) for section in report.sections)
    links = "".join(
        f'<a href="#{section.name}">{escape(section.title)}</a> ' for section in report.sections
    )
    findings = "".join(f"<li>{_prose(sentence)}</li>" for sentence in report.summary)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{TITLE}</title>
<style>
{css}{dark_rules()}</style>
</head>
<body>
<h1>{TITLE}</h1>
<p class="lead">The experiments of Luo and Schapire, “A Drifting-Games Analysis for Online
Learning and Applications to Boosting” (2014), ours beside the published numbers.</p>
{_verdict(report)}{_claims(report)}
<nav>{links}</nav>
<ul class="summary">{findings}</ul>
{sections}
{_errata(report)}
{_footer(report)}
</body>
</html>
"""


def _verdict(report: Report) -> str:
    return f'<p class="verdict">{escape(report.verdict)}</p>\n' if report.verdict else ""


def _claims(report: Report) -> str:
    """Return the table that a referee reads first; its errata are links."""
    if report.claims is None:
        return ""
    drawn = _table(report.claims)
    for entry in ERRATA:
        drawn = re.sub(rf"\b{entry}\b", f'<a href="#{entry}">{entry}</a>', drawn)
    for verdict, name in _VERDICTS.items():
        cell = f'<td class="text">{verdict}</td>'
        drawn = drawn.replace(cell, cell.replace("text", f"text {name}"))
    return f'<section id="claims">{drawn}</section>'


def _errata(report: Report) -> str:
    if report.claims is None:
        return ""
    items = "".join(
        f'<dt id="{entry}">{entry}</dt><dd>{escape(text)}</dd>' for entry, text in ERRATA.items()
    )
    return f"""<section id="errata"><h2>Errata that the verdicts name</h2>
<p>In a sentence each; docs/errata.md has all entries with their evidence.</p>
<dl class="errata">{items}</dl></section>"""


def _section(section: Section) -> str:
    tables = "\n".join(_table(table) for table in section.tables)
    figures = "\n".join(_figure(figure) for figure in section.figures)
    note = f'<p class="note">{_prose(section.omission)}</p>\n' if section.omission else ""
    return f"""<section id="{section.name}">
<h2>{escape(section.title)}</h2>
<p>{_prose(section.text)}</p>
{tables}{figures}
{note}<p class="command">Made by <code>{_command(section.command)}</code></p>
</section>"""


def _prose(text: str) -> str:
    """Return escaped text in which no line begins with a percent sign."""
    return escape(text).replace(" %", "\u00a0%")


def _command(words: str) -> str:
    """Return an escaped command whose lines do not break within ``--option``."""
    return re.sub(r"--\w+", r"<span>\g<0></span>", escape(words))


def _figure(figure: Figure) -> str:
    words = " ".join([f"{figure.title}.", *figure.notes])
    panels = "\n".join(draw_panels(figure))
    return f"""<figure><div class="panels">
{panels}
</div>{draw_legend(figure)}
<figcaption>{_prose(words)}</figcaption></figure>"""


def _table(table: Table) -> str:
    opens = _opening(table.columns)
    body = []
    last: Cell = None
    for row in table.rows:
        first = ' class="first"' if row[0] != last else ""
        cells = "".join(
            _cell(
                "" if at == 0 and row[0] == last else cell,
                column,
                at in opens,
                differs=_differs(row, table.columns, at),
            )
            for at, (cell, column) in enumerate(zip(row, table.columns, strict=True))
        )
        body.append(f"<tr{first}>{cells}</tr>")
        last = row[0]
    notes = "".join(f'<p class="note">{_prose(note)}</p>' for note in table.notes)
    rows = "\n".join(body)
    return f"""<h3>{escape(table.title)}</h3>
<div class="wide" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>
<thead>{_header(table, opens)}</thead>
<tbody>
{rows}
</tbody></table></div>
{notes}"""


def _header(table: Table, opens: set[int]) -> str:
    columns = table.columns
    if not any(column.group for column in columns):
        cells = [
            f'<th class="text">{escape(column.name)}</th>'
            if any(isinstance(row[at], str) for row in table.rows)
            else f"<th>{escape(column.name)}</th>"
            for at, column in enumerate(columns)
        ]
        return f"<tr>{''.join(cells)}</tr>"
    upper, lower, at = [], [], 0
    for group, members in groupby(columns, key=lambda column: column.group):
        own = list(members)
        if group and len(own) == 1:
            upper.append(f'<th rowspan="2" class="opens">{escape(group)}</th>')
            at += 1
            continue
        for column in own:
            edge = " opens" if at in opens else ""
            if group:
                name = escape(_SHORT.get(column.name, column.name))
                lower.append(f'<th class="{edge.strip()}">{name}</th>')
            else:
                upper.append(f'<th rowspan="2" class="text{edge}">{escape(column.name)}</th>')
            at += 1
        if group:
            span = f'colspan="{len(own)}" class="group opens" scope="colgroup"'
            upper.append(f"<th {span}>{escape(group)}</th>")
    return f"<tr>{''.join(upper)}</tr><tr>{''.join(lower)}</tr>"


def _opening(columns: tuple[Column, ...]) -> set[int]:
    """Return the columns with a line to their left: those at which a group begins or ends."""
    groups = [column.group for column in columns]
    return {at for at in range(1, len(groups)) if groups[at] != groups[at - 1]}


def _differs(row: Row, columns: tuple[Column, ...], at: int) -> bool:
    """Whether this cell is the difference of numbers that do not agree to the printed digit."""
    if columns[at].name != DIFFERENCE:
        return False
    ours, printed = row[at - 2 : at]  # the order of the columns in every group
    return isinstance(ours, float) and isinstance(printed, float) and not agrees(ours, printed)


def _cell(cell: Cell, column: Column, opens: bool, *, differs: bool) -> str:
    classes = ["opens"] if opens else []
    if isinstance(cell, str):
        classes.append("text")
    if column.name == PUBLISHED:
        classes.append("published")
    if differs:
        classes.append("differs")
    names = f' class="{" ".join(classes)}"' if classes else ""
    return f"<td{names}>{escape(cell_text(cell, column))}</td>"


def _footer(report: Report) -> str:
    facts = {**report.environment, "seed": str(report.seed)}
    lines = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f"""<footer><p>The same seed gives the same numbers; times are of this machine. The data
behind every table and figure is in <code>results.json</code> and in <code>csv/</code>.</p>
<dl>{lines}</dl></footer>"""
