"""The HTML of a result in a notebook: a line, a table, a small picture; no script, no style sheet.

Text and the first curve take the colour of the page around them, and the other colours are
readable on white and on black. So the same page fits light and dark themes. All text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from driftgames.core.display import Fields, Sketch, is_number, one_line, text_of, texts_of

_COLOURS = ("currentColor", "#d55e00", "#1e88c7", "#0a9a72", "#b565a7", "#9a7b00")
_DASHES = ("", "5 3", "2 2", "7 2 2 2", "1 3", "9 3")

_WIDTH, _HEIGHT, _BOTTOM = 300, 110, 16
_DIGIT = 6.4  # the width of a digit, at most
_BAR = 140
_POINTS = 150
_MOST_CURVES = 6

_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_CELL = f"padding:2px 10px 2px 0;{_LINE};background:transparent"


def page_of(kind: str, headline: str, facts: Fields, preview: Fields, sketch: Sketch | None) -> str:
    """Return a result as HTML: its kind and headline, its facts, some rows, and a picture."""
    parts = [f"<div><strong>{escape(kind)}</strong> {escape(one_line(headline))}</div>"]
    if facts:
        rows = "".join(
            f'<tr><th scope="row" style="{_CELL};text-align:left;font-weight:normal;opacity:.75">'
            f'{escape(str(name))}</th><td style="{_CELL};text-align:right">'
            f"{escape(text_of(value))}</td></tr>"
            for name, value in facts.items()
        )
        parts.append(_table(rows))
    if preview:
        parts.append(_table(_rows_of(preview)))
    drawn = "" if sketch is None else svg_of(sketch)
    if drawn:
        parts.append(drawn)
    head, *rest = parts
    body = "".join(f'<div style="overflow-x:auto">{part}</div>' for part in rest)
    return (
        '<div class="driftgames" style="color:inherit;max-width:100%">'
        f'{head}<div style="display:flex;flex-wrap:wrap;gap:6px 28px;align-items:flex-start">'
        f"{body}</div></div>"
    )


def _table(rows: str) -> str:
    return f'<table style="border-collapse:collapse;margin:4px 0;color:inherit">{rows}</table>'


def _rows_of(columns: Fields) -> str:
    sides = {
        name: "right" if all(map(is_number, values)) else "left" for name, values in columns.items()
    }
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side}">{escape(str(name))}</th>'
        for name, side in sides.items()
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL};text-align:{side}">{escape(cell)}</td>'
            for cell, side in zip(row, sides.values(), strict=True)
        )
        + "</tr>"
        for row in zip(*map(texts_of, columns.values()), strict=True)
    )
    return f"<tr>{head}</tr>{body}"


def svg_of(sketch: Sketch) -> str:
    """Return a picture as an ``<svg>`` element; empty if there is nothing finite to draw.

    >>> svg_of(Sketch(bars={"regret": 1.5, "bound": 4.0})).count("<rect")
    2
    >>> svg_of(Sketch(intervals={"mean": (0.1, 0.2, 0.4)})).count("<circle")
    1
    >>> svg_of(Sketch([1.0, 2.0], {"loss": [math.nan, math.inf]}))
    ''
    """
    if sketch.bars:
        return _bars(sketch.bars)
    if sketch.intervals:
        return _whiskers(sketch.intervals)
    x = np.asarray(sketch.x, dtype=np.float64)
    curves = {
        name: np.asarray(values, dtype=np.float64)
        for name, values in list(sketch.curves.items())[:_MOST_CURVES]
    }
    seen = [values[np.isfinite(values) & np.isfinite(x)] for values in curves.values()]
    if not any(values.size for values in seen):
        return ""
    low = min(float(values.min()) for values in seen if values.size)
    high = max(float(values.max()) for values in seen if values.size)
    first, last = float(x[np.isfinite(x)].min()), float(x[np.isfinite(x)].max())
    bottom, top = texts_of([low, high])
    left = 8 + round(_DIGIT * max(len(top), len(bottom), 4))
    across = (_WIDTH - left - 4) / (last - first or 1.0)
    up = (_HEIGHT - _BOTTOM - 8) / (high - low or 1.0)
    kept = np.unique(np.linspace(0, x.size - 1, min(x.size, _POINTS)).round().astype(np.int64))
    lines = []
    for at, values in enumerate(curves.values()):
        points = [
            f"{left + (x[i] - first) * across:.1f},"
            f"{_HEIGHT - _BOTTOM - 2 - (values[i] - low) * up:.1f}"
            for i in kept
            if math.isfinite(values[i]) and math.isfinite(x[i])
        ]
        dash = f' stroke-dasharray="{_DASHES[at]}"' if _DASHES[at] else ""
        lines.append(
            f'<polyline fill="none" stroke="{_COLOURS[at]}" stroke-width="1.5"{dash} '
            f'points="{" ".join(points)}"/>'
        )
    base = _HEIGHT - _BOTTOM
    frame = (
        f'<path d="M{left} 4V{base}H{_WIDTH}" fill="none" stroke="currentColor" opacity=".4"/>'
        + _text(left - 4, 12, top, "end")
        + _text(left - 4, base, bottom, "end")
        + _text(left, _HEIGHT - 3, text_of(_whole(first)), "start")
        + _text(_WIDTH - 2, _HEIGHT - 3, text_of(_whole(last)), "end")
        + _text((left + _WIDTH) / 2, _HEIGHT - 3, sketch.label, "middle")
    )
    names = ", ".join(curves)
    title = f"{names} over {sketch.label}" if sketch.label else names
    return _svg(_HEIGHT, title, frame + "".join(lines)) + _legend(curves)


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) else value


def _bars(bars: Mapping[str, float]) -> str:
    finite = {name: value for name, value in bars.items() if math.isfinite(value)}
    if not finite:
        return ""
    reach = max(max(finite.values()), 0.0) - min(min(finite.values()), 0.0) or 1.0
    zero = 96 - min(min(finite.values()), 0.0) / reach * _BAR
    drawn = []
    for at, (name, value) in enumerate(list(finite.items())[:12]):
        y, length = 4 + 20 * at, abs(value) / reach * _BAR
        drawn.append(
            _text(90, y + 11, _short(name), "end")
            + f'<rect x="{zero - (length if value < 0 else 0):.1f}" y="{y}" width="{length:.1f}" '
            f'height="14" fill="{_COLOURS[2]}"/>'
            + _text(zero + (length if value > 0 else 0) + 4, y + 11, text_of(value), "start")
        )
    return _svg(8 + 20 * len(drawn), ", ".join(finite), "".join(drawn))


def _short(name: str) -> str:
    return name if len(name) <= 15 else f"{name[:13]}…"


def _whiskers(intervals: Mapping[str, tuple[float, float, float]]) -> str:
    """Return a dot for each estimate, with whiskers to the ends of its interval, on one scale.

    A whisker without a cap goes on: that end is infinite.
    """
    finite = [end for ends in intervals.values() for end in ends if math.isfinite(end)]
    if not finite:
        return ""
    low, high = min(finite), max(finite)
    start, width = 100, _WIDTH - 116

    def x(value: float) -> float:
        share = (value - low) / ((high - low) or 1.0)
        return start + width * min(max(share, -0.02), 1.02)

    drawn = []
    known = [each for each in intervals.items() if not any(map(math.isnan, each[1]))]
    shown = known[:12]
    for at, (name, (bottom, estimate, top)) in enumerate(shown):
        y = 11 + 20 * at
        caps = "".join(f"M{x(end):.1f} {y - 4}v8" for end in (bottom, top) if math.isfinite(end))
        line = f"M{x(bottom):.1f} {y}H{x(top):.1f}"
        drawn.append(
            _text(90, y + 4, _short(name), "end")
            + f'<path d="{line}{caps}" fill="none" stroke="{_COLOURS[2]}" stroke-width="1.5"/>'
        )
        if math.isfinite(estimate):
            drawn.append(f'<circle cx="{x(estimate):.1f}" cy="{y}" r="4" fill="{_COLOURS[2]}"/>')
    base = 14 + 20 * len(shown)
    drawn += [
        f'<path d="M{start} {base}H{start + width}" stroke="currentColor" opacity=".4"/>',
        _text(start, base + 12, text_of(low), "start"),
        _text(start + width, base + 12, text_of(high), "end"),
    ]
    title = ", ".join(f"{name} {text_of(mid)}" for name, (_, mid, _) in shown)
    return _svg(base + 16, title, "".join(drawn))


def _svg(height: int, title: str, body: str) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'style="max-width:100%;color:inherit"><title>{escape(title)}</title>{body}</svg>'
    )


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="10" fill="currentColor" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def _legend(curves: Mapping[str, Any]) -> str:
    items = "".join(
        '<span style="white-space:nowrap;margin-right:12px">'
        f'<svg width="22" height="8" aria-hidden="true"><path d="M0 4H22" stroke="{_COLOURS[at]}" '
        f'stroke-width="1.5" stroke-dasharray="{_DASHES[at] or "none"}"/></svg> '
        f"{escape(str(name))}</span>"
        for at, name in enumerate(curves)
    )
    return f'<div style="font-size:85%">{items}</div>'
