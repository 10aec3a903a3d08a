"""The scorecard of a model as a tab of its page."""

from __future__ import annotations

from html import escape as escape_html
from itertools import groupby
from typing import Any

import numpy as np

from driftgames.boosting.export.scorecard import make_scorecard
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, visible
from driftgames.tables import Cell, Column, cell_text

_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def render_scorecard(model: FittedModel) -> str:
    """Return the points of every feature as HTML, in the classes of `ExplanationPage`."""
    card = make_scorecard(model)
    at = [column.name for column in card.columns].index("feature")
    rows: list[Any] = [(row[0] if at else None, *row[at:]) for row in card.rows]
    reach = max((abs(row[-1]) for row in rows), default=0) or 1
    points = card.columns[-1]
    parts = []
    for label, of_class in groupby(rows, key=lambda row: row[0]):
        if at:
            parts.append(f"<h2>Points for {escape(label)}</h2>")
        for feature, lines in groupby(of_class, key=lambda row: row[1]):
            body = "\n".join(_line(line[2], line[-1], reach, points) for line in lines)
            parts.append(f"<div class='card'><h3>{escape(feature)}</h3><table>{body}</table></div>")
    label = "the class" if at else shorten(str(model.classes[1]))
    sides = f"A bar to the right is for {label}, a bar to the left against it."
    return (
        f"<h2>Scorecard</h2><p>{escape(' '.join(card.notes))}</p><p class='note'>{escape(sides)}"
        f"</p>{_probabilities(model)}{''.join(parts)}"
    )


def escape(text: object) -> str:
    """Return a text for HTML, short and without control characters: names come from files."""
    return escape_html(visible(shorten(str(text), MOST_OF_A_MESSAGE)))


def _line(value: Cell, points: Any, reach: float, column: Column) -> str:
    width = 50 * abs(points) / reach
    start = 50 if points >= 0 else 50 - width
    kind = "for" if points >= 0 else "against"
    text = f"{points:+d}" if isinstance(points, int) else cell_text(points, column)
    text = text if points else "0"
    return (
        f'<tr><th scope="row">{escape(value)}</th><td class="number">{escape(text)}</td>'
        f'<td class="both"><span class="two"><i class="{kind}" '
        f'style="left:{start:.2f}%;width:{width:.2f}%"></i></span></td></tr>'
    )


def _probabilities(model: FittedModel) -> str:
    """Return how many points make a class how probable; of two classes with a calibration."""
    calibration = model.calibration
    if model.classes.size > 2 or calibration is None or not calibration.slope:
        return ""
    total = model.vote_weights.sum()
    shares = np.array(_SHARES)
    votes = (np.log(shares / (1 - shares)) - calibration.intercept) / calibration.slope
    rows = "".join(
        f'<tr><th scope="row">{share:.0%}</th><td class="number">{vote * total:+,.1f}</td></tr>'
        for share, vote in zip(_SHARES, votes.tolist(), strict=True)
        if abs(vote) <= 1
    )
    label = escape(model.classes[1])
    return (
        f"<div class='card'><h3>How probable is {label}?</h3><table><thead><tr><th>probability of "
        f"{label}</th><th class='number'>points in all</th></tr></thead><tbody>{rows}</tbody>"
        "</table></div>"
    )
