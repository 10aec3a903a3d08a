r"""Scorecards: the votes of stumps as points for each interval of each feature.

.. math:: \sum_t \alpha_t h_t(x) = \text{base} + \sum_j \text{points}_j(x_j)

All :math:`\alpha_t` of [LS14, Alg. 6] are 1, so its points are whole numbers, and a person can add
them up. The prediction is the class of the largest calibrated probability; the card has its
threshold in points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape as escape_html
from itertools import groupby
from typing import Any

import numpy as np

from driftgames.boosting.model.explanation import CategoryVotes
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
    places = tuple(map(Column, ("feature", "value", "above", "up to")))
    if len(labels) == 2:
        words = f"Add up the points of one line for each feature. {_decide(model, labels, whole)}"
        return _card(places, ["points"], _rows(shapes, total, whole), words)
    base: Row = (BASE, "", None, None, *(_points(each, whole) for each in model.bases))
    words = (
        "For each class, add up its base and the points of one line for each feature. The "
        "prediction is the class of most points."
    )
    calibration = model.deciding_calibration
    if calibration is not None and not calibration.slope:
        words = f"The prediction is always {labels[int(np.argmax(calibration.class_intercepts))]}."
    taken = {column.name for column in places}
    heads = [f"points for {label}" if label in taken else label for label in labels]
    return _card(places, heads, [base, *_rows(shapes, total, whole)], words)


def _card(
    places: tuple[Column, ...], heads: Sequence[str], rows: Sequence[Row], words: str
) -> Table:
    points = (Column(head, "+.4f") for head in heads)
    return Table("Scorecard", (*places, *points), tuple(rows), (words,), "scorecard")


def _decide(model: FittedModel, labels: list[str], whole: bool) -> str:
    """Return from how many points on the second of two classes is predicted."""
    calibration, above = model.deciding_calibration, 0.0
    if calibration is not None:
        if not calibration.slope:
            return f"The prediction is always {labels[int(calibration.intercept > 0)]}."
        above = -calibration.intercept / calibration.slope * float(model.vote_weights.sum())
    text = f"{math.floor(above):,}" if whole else f"{above:.4f}" if above else "0"
    return f"Above {text} the prediction is {labels[1]}, else {labels[0]}."


Line = tuple[str, float | None, float | None, Sequence[float]]
"""A value in words, its lower and upper end, and the vote for each class."""


def _rows(by_class: Sequence[Mapping[int, Any]], total: float, whole: bool) -> list[Row]:
    """Return the lines of all features: those with the widest spread first."""
    features = {j: [shapes[j] for shapes in by_class] for j in by_class[0]}

    def width(shapes: Sequence[Any]) -> float:
        return max(float(np.ptp([*shape.values, shape.missing])) for shape in shapes)

    rows: list[Row] = []
    for shapes in sorted(features.values(), key=lambda each: -width(each)):
        first = shapes[0]
        name = f"x{first.feature}" if first.name is None else first.name
        if isinstance(first, CategoryVotes):
            votes = zip(*(shape.values.tolist() for shape in shapes), strict=True)
            lines: list[Line] = [
                (str(each), None, None, vote)
                for each, vote in zip(first.categories, votes, strict=True)
            ]
            lines.append((OTHER, None, None, [shape.unknown for shape in shapes]))
        else:
            ends = np.unique(np.concatenate([shape.thresholds for shape in shapes]))
            lines = _intervals(ends, np.array([shape(_above(ends)) for shape in shapes]))
        lines.append((MISSING, None, None, [shape.missing for shape in shapes]))
        rows += [
            (name, *line[:3], *(_points(vote * total, whole) for vote in line[3])) for line in lines
        ]
    return rows


def _points(votes: float, whole: bool) -> Cell:
    return round(votes) if whole else votes


def _above(ends: FloatArray) -> FloatArray:
    """Return a value in each interval that ends there, and one beyond all of them."""
    return np.append(ends, np.inf)


def _intervals(thresholds: FloatArray, values: FloatArray) -> list[Line]:
    """Return text, lower end, upper end and votes of each interval; equal neighbours are one.

    ``values`` has a row for each class.

    >>> _intervals(np.array([1.0, 2.0, np.inf]), np.array([[-0.5, -0.5, 0.5, 0.0]]))
    [('up to 2', None, 2.0, [-0.5]), ('above 2', 2.0, None, [0.5])]
    """
    ends = thresholds[np.isfinite(thresholds)]
    votes = values[:, : ends.size + 1]  # what lies above infinity is missing
    steps = np.flatnonzero((votes[:, 1:] != votes[:, :-1]).any(axis=0))
    cuts = [None, *ends[steps].tolist(), None]
    kept = votes[:, np.append(0, steps + 1)].T.tolist()
    return [
        (_in_words(low, high), low, high, vote)
        for low, high, vote in zip(cuts, cuts[1:], kept, strict=False)
    ]


def _in_words(low: float | None, high: float | None) -> str:
    if low is None:
        return "any number" if high is None else f"up to {high:.6g}"
    return f"above {low:.6g}" if high is None else f"{low:.6g} to {high:.6g}"


_SHARES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def render_scorecard(model: FittedModel) -> str:
    """Return the points of every feature as HTML, in the classes of `ExplanationPage`."""
    card = make_scorecard(model)
    several = len(card.columns) > 5
    points = card.columns[4:]
    reach = max((abs(vote) for row in card.rows for vote in _votes(row)), default=0) or 1
    head = ""
    if several:
        names = "".join(f"<th class='number'>{escape(column.name)}</th>" for column in points)
        head = f"<thead><tr><th></th>{names}</tr></thead>"
    parts = []
    for feature, lines in groupby(card.rows, key=lambda row: row[0]):
        body = "\n".join(_line(row, reach, points[0]) for row in lines)
        table = f"<table>{head}<tbody>{body}</tbody></table>"
        if several:
            table = f"<div class='wide'>{table}</div>"
        kind = "card matrix" if several else "card"
        parts.append(f"<div class='{kind}'><h3>{escape(feature)}</h3>{table}</div>")
    sides = "A number on blue is for the class, one on orange against it."
    if not several:
        label = shorten(str(model.classes[1]))
        sides = f"A bar to the right is for {label}, a bar to the left against it."
    return (
        f"<h2>Scorecard</h2><p>{escape(' '.join(card.notes))}</p><p class='note'>{escape(sides)}"
        f"</p>{_probabilities(model)}{''.join(parts)}"
    )


def _votes(row: Row) -> tuple[Any, ...]:
    return row[4:]


def escape(text: object) -> str:
    """Return a text for HTML, short and without control characters: names come from files."""
    return escape_html(visible(shorten(str(text), MOST_OF_A_MESSAGE)))


def _line(row: Row, reach: float, column: Column) -> str:
    """Return a line with a bar, or of several classes with a shade behind each number."""
    votes = _votes(row)
    kinds = ["for" if points >= 0 else "against" for points in votes]
    texts = [
        "0" if not v else f"{v:+d}" if isinstance(v, int) else cell_text(v, column) for v in votes
    ]
    head = f'<tr><th scope="row">{escape(row[1])}</th>'
    if len(votes) > 1:
        cells = (
            f'<td class="number {kind}" style="--by:{100 * abs(vote) / reach:.0f}%">{text}</td>'
            for vote, kind, text in zip(votes, kinds, texts, strict=True)
        )
        return f"{head}{''.join(cells)}</tr>"
    width = 50 * abs(votes[0]) / reach
    start = 50 if votes[0] >= 0 else 50 - width
    return (
        f'{head}<td class="number">{escape(texts[0])}</td>'
        f'<td class="both"><span class="two"><i class="{kinds[0]}" '
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
