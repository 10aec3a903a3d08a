"""The scorecard of a model as one self-contained page, for a screen, a phone and print."""

from __future__ import annotations

from html import escape as escape_html
from itertools import groupby
from typing import Any

import numpy as np

from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, visible
from driftgames.tables import Cell, Column, cell_text

_CSS = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5d5d5d; --line: #d8d8d8; --page: #fff;
  --for: #0072b2; --against: #b85000; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #a4a4a4; --line: #3d3d3d; --page: #161616;
    --for: #56b4e9; --against: #f0924a; } }
body { margin: 0 auto; max-width: 46rem; padding: 1rem; color: var(--ink); background: var(--page);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin: 2rem 0 0; }
h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; }
p.note, figcaption { color: var(--soft); font-size: .9rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .2rem .4rem; text-align: left; border-top: 1px solid var(--line); }
th { font-weight: normal; } thead th { color: var(--soft); border: 0; font-size: .85rem; }
th:first-child { width: 45%; padding-left: 0; } td.points { width: 5rem; }
.points { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { position: relative; height: 1rem; }
.bar i { position: absolute; top: .15rem; bottom: .15rem; background: var(--for); }
.bar i.against { background: var(--against); }
.bar::after { content: ""; position: absolute; left: 50%; top: 0; bottom: 0;
  border-left: 1px solid var(--soft); }
section { break-inside: avoid; }
"""

_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def render_scorecard(name: str, booster: Any) -> str:
    """Return the page; it refers to nothing outside itself."""
    card = booster.scorecard()
    at = [column.name for column in card.columns].index("feature")
    rows = [(row[0] if at else None, *row[at:]) for row in card.rows]
    reach = max((abs(row[-1]) for row in rows), default=0) or 1
    points = card.columns[-1]
    parts = []
    for label, of_class in groupby(rows, key=lambda row: row[0]):
        if at:
            parts.append(f"<h2>Points for {escape(label)}</h2>")
        for feature, lines in groupby(of_class, key=lambda row: row[1]):
            body = "\n".join(_line(line[2], line[-1], reach, points) for line in lines)
            parts.append(f"<section><h3>{escape(feature)}</h3><table>\n{body}\n</table></section>")
    title = f"Scorecard of {escape(name)}"
    label = "the class" if at else shorten(str(booster.classes_[1]))
    facts = (
        f"{type(booster).__name__}, {booster.n_iter_:,} rounds. A bar to the right is for {label}, "
        "a bar to the left against it."
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{_CSS}</style>
</head>
<body>
<h1>{title}</h1>
<p>{escape(" ".join(card.notes))}</p>
<p class="note">{escape(facts)}</p>
{_probabilities(booster)}
{"".join(parts)}
</body>
</html>
"""


def escape(text: object) -> str:
    """Return a text for HTML, short and without control characters: names come from files."""
    return escape_html(visible(shorten(str(text), MOST_OF_A_MESSAGE)))


def _line(value: Cell, points: Any, reach: float, column: Column) -> str:
    width = 50 * abs(points) / reach
    start = 50 if points >= 0 else 50 - width
    kind = "" if points >= 0 else ' class="against"'
    text = f"{points:+d}" if isinstance(points, int) else cell_text(points, column)
    text = text if points else "0"
    return (
        f'<tr><th scope="row">{escape(value)}</th><td class="points">{escape(text)}</td>'
        f'<td><div class="bar"><i{kind} style="left:{start:.2f}%;width:{width:.2f}%"></i></div>'
        "</td></tr>"
    )


def _probabilities(booster: Any) -> str:
    """Return how many points make a class how probable; of two classes with a calibration."""
    calibration = booster.calibration_
    if booster.classes_.size > 2 or calibration is None or not calibration.slope:
        return ""
    total = booster.estimator_weights_.sum()
    shares = np.array(_SHARES)
    votes = (np.log(shares / (1 - shares)) - calibration.intercept) / calibration.slope
    rows = "".join(
        f'<tr><th scope="row">{share:.0%}</th><td class="points">{vote * total:+,.1f}</td></tr>'
        for share, vote in zip(_SHARES, votes.tolist(), strict=True)
        if abs(vote) <= 1
    )
    label = escape(booster.classes_[1])
    return f"""<section><h3>How probable is {label}?</h3><table>
<thead><tr><th>probability of {label}</th><th class="points">points in all</th></tr></thead>
<tbody>{rows}</tbody></table></section>"""
