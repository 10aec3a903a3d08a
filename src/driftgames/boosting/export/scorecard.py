r"""Scorecards: the votes of stumps as points for each interval of each feature.

.. math:: \sum_t \alpha_t h_t(x) = \text{base} + \sum_j \text{points}_j(x_j)

All :math:`\alpha_t` of [LS14, Alg. 6] are 1, so its points are whole numbers, and a person can add
them up. The prediction is the class of the largest calibrated probability; the card has its
threshold in points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape as escape_html
from itertools import groupby
from typing import Any

import numpy as np

from driftgames.boosting.model.explanation import CategoryVotes, ShapeFunction
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import exact_weights
from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, visible
from driftgames.core.typing import FloatArray
from driftgames.tables import Cell, Column, Row, Table, cell_text

MISSING, OTHER, BASE = "missing", "any other", "(base)"
"""The rows of a scorecard for a missing value, for a new category and for the base of a class."""


def make_scorecard(model: FittedModel) -> Table:
    """Return the points of every feature, those of the widest spread first."""
    shapes = model.shape_functions()
    weights, whole = exact_weights(model.vote_weights, model.n_rounds)
    total = float(np.abs(weights).sum())
    labels = [str(label) for label in model.classes.tolist()]
    columns = (*map(Column, ("feature", "value", "above", "up to")), Column("points", "+.4f"))
    if len(labels) == 2:
        words = f"Add up the points of one line for each feature. {_decide(model, labels, whole)}"
        rows = _rows(shapes[0].values(), total, whole)
        return Table("Scorecard", columns, tuple(rows), (words,), "scorecard")
    lines: list[Row] = []
    for label, of_class, base in zip(labels, shapes, model.bases, strict=True):
        first: Row = (BASE, "", None, None, _points(base, whole))
        lines += [(label, *row) for row in [first, *_rows(of_class.values(), total, whole)]]
    words = (
        "For each class, add up its base and the points of one line for each feature. The "
        "prediction is the class of most points."
    )
    calibration = model.deciding_calibration
    if calibration is not None and not calibration.slope:
        words = f"The prediction is always {labels[int(np.argmax(calibration.class_intercepts))]}."
    return Table("Scorecard", (Column("class"), *columns), tuple(lines), (words,), "scorecard")


def _decide(model: FittedModel, labels: list[str], whole: bool) -> str:
    """Return from how many points on the second of two classes is predicted."""
    calibration, above = model.deciding_calibration, 0.0
    if calibration is not None:
        if not calibration.slope:
            return f"The prediction is always {labels[int(calibration.intercept > 0)]}."
        above = -calibration.intercept / calibration.slope * float(model.vote_weights.sum())
    text = f"{math.floor(above):,}" if whole else f"{above:.4f}" if above else "0"
    return f"Above {text} the prediction is {labels[1]}, else {labels[0]}."


def _rows(shapes: Iterable[ShapeFunction | CategoryVotes], total: float, whole: bool) -> list[Row]:
    rows: list[Row] = []
    for shape in sorted(shapes, key=lambda each: -float(np.ptp([*each.values, each.missing]))):
        name = f"x{shape.feature}" if shape.name is None else shape.name
        lines: list[tuple[str, float | None, float | None, float]] = []
        if isinstance(shape, CategoryVotes):
            votes = zip(shape.categories, shape.values.tolist(), strict=True)
            lines += [(str(each), None, None, vote) for each, vote in votes]
            lines.append((OTHER, None, None, shape.unknown))
        else:
            lines += _intervals(shape.thresholds, shape.values)
        lines.append((MISSING, None, None, shape.missing))
        rows += [(name, *line[:3], _points(line[3] * total, whole)) for line in lines]
    return rows


def _points(votes: float, whole: bool) -> Cell:
    return round(votes) if whole else votes


def _intervals(
    thresholds: FloatArray, values: FloatArray
) -> list[tuple[str, float | None, float | None, float]]:
    """Return text, lower end, upper end and vote of each interval; equal neighbours are one.

    >>> _intervals(np.array([1.0, 2.0, np.inf]), np.array([-0.5, -0.5, 0.5, 0.0]))
    [('up to 2', None, 2.0, -0.5), ('above 2', 2.0, None, 0.5)]
    """
    ends = thresholds[np.isfinite(thresholds)]
    votes = values[: ends.size + 1]  # what lies above infinity is missing
    steps = np.flatnonzero(votes[1:] != votes[:-1])
    cuts = [None, *ends[steps].tolist(), None]
    rows = []
    for low, high, vote in zip(
        cuts, cuts[1:], votes[np.append(0, steps + 1)].tolist(), strict=False
    ):
        if low is None:
            text = "any number" if high is None else f"up to {high:.6g}"
        else:
            text = f"above {low:.6g}" if high is None else f"{low:.6g} to {high:.6g}"
        rows.append((text, low, high, vote))
    return rows


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
