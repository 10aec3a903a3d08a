"""The step function of a feature as an ``<svg>`` element, with the density of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.display import text_of
from driftgames.core.typing import FloatArray

_WIDTH, _HEIGHT, _LEFT, _BASE = 560, 260, 74, 226
_TOP, _ZERO, _FLOOR = 12.0, 90.0, 168.0  # of the votes; the density is drawn below
_BINS = 30
_MOST_LABELS = 12


def draw_shape(
    name: str,
    thresholds: FloatArray,
    votes: FloatArray,
    reach: float,
    *,
    missing: float | None = None,
    categories: Sequence[str] | None = None,
    sample: FloatArray | None = None,
) -> str:
    """Return a feature's vote over its values; ``reach`` is the vote at the top of the drawing.

    >>> draw_shape("age", np.array([40.0]), np.array([-0.1, 0.2]), 0.2).count("<path")
    2
    """
    parts = [
        f'<path d="M{_LEFT} {_ZERO}H{_WIDTH}" stroke="var(--soft)" stroke-dasharray="4 3"/>',
        _text(_LEFT - 6, _ZERO + 4, "0", "end"),
        _text(_LEFT - 6, _TOP + 4, f"{reach:.3g}", "end"),
        _text(_LEFT - 6, _FLOOR, f"{-reach:.3g}", "end"),
    ]
    right = _WIDTH - (60.0 if missing is not None else 8.0)
    if categories is None:
        parts += _steps(thresholds, votes, sample, reach, right)
    else:
        parts += _bars(categories, votes, sample, reach, right)
    if missing is not None:
        parts.append(_bar(right + 14, 30.0, missing / reach))
        parts.append(_text(right + 29, _BASE + 16, "missing", "middle"))
    title = f"The vote of {name}, from {text_of(votes.min())} to {text_of(votes.max())}"
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def _steps(
    cuts: FloatArray, votes: FloatArray, sample: FloatArray | None, reach: float, right: float
) -> list[str]:
    seen = np.empty(0) if sample is None else sample[np.isfinite(sample)]
    both = np.concatenate([seen, cuts])
    low, high = (float(both.min()), float(both.max())) if both.size else (0.0, 1.0)
    if not seen.size or low == high:
        margin = 0.1 * (high - low) or 1.0
        low, high = low - margin, high + margin
    x = _scale(low, high, right)
    counts, edges = np.histogram(seen, bins=_BINS, range=(low, high))
    parts = _density(counts, [x(float(edge)) for edge in edges])
    path = [f"M{_LEFT} {_height(float(votes[0]) / reach):.1f}"]
    path += [
        f"H{x(cut):.1f}V{_height(vote / reach):.1f}"
        for cut, vote in zip(cuts.tolist(), votes[1:].tolist(), strict=True)
    ]
    line = "".join([*path, f"H{right:.1f}"])
    parts.append(f'<path d="{line}" fill="none" stroke="var(--for)" stroke-width="2"/>')
    parts += [_text(x(tick), _BASE + 16, f"{tick:,.6g}", "middle") for tick in _ticks(low, high)]
    return parts


def _ticks(low: float, high: float) -> list[float]:
    """Return some four round numbers within a range, none at its very ends.

    >>> _ticks(0.3, 9.9), _ticks(-0.013, 0.021)
    ([2.0, 4.0, 6.0, 8.0], [-0.01, 0.0, 0.01, 0.02])
    """
    rough = (high - low) / 5
    unit = 10.0 ** np.floor(np.log10(rough))
    step = next(unit * each for each in (1, 2, 5, 10) if unit * each >= rough)
    first, last = np.ceil((low + 0.02 * rough) / step), np.floor((high - 0.02 * rough) / step)
    return [float(f"{step * k:.6g}") + 0.0 for k in range(int(first), int(last) + 1)]


def _bars(
    categories: Sequence[str],
    votes: FloatArray,
    sample: FloatArray | None,
    reach: float,
    right: float,
) -> list[str]:
    step = (right - _LEFT) / max(len(categories), 1)
    edges = [_LEFT + step * k for k in range(len(categories) + 1)]
    numbers = np.empty(0) if sample is None else sample[np.isfinite(sample)]
    counts = np.bincount(numbers.astype(np.int64), minlength=len(categories))[: len(categories)]
    parts = _density(counts, edges)
    for k, (label, vote) in enumerate(zip(categories, votes.tolist(), strict=True)):
        hint = f"<title>{escape(label)}: {vote:.3g}</title>"
        parts.append(f"<g>{hint}{_bar(edges[k] + 0.15 * step, 0.7 * step, vote / reach)}</g>")
        if len(categories) <= _MOST_LABELS:
            shown = label if len(label) <= 10 else f"{label[:9]}…"
            parts.append(_text(edges[k] + step / 2, _BASE + 16, shown, "middle"))
    return parts


def _scale(low: float, high: float, right: float) -> Callable[[float], float]:
    return lambda value: _LEFT + (value - low) / (high - low) * (right - _LEFT)


def _height(share: float) -> float:
    return _ZERO - share * (_ZERO - _TOP)


def _bar(x: float, width: float, share: float) -> str:
    top, bottom = sorted((_height(share), _ZERO))
    colour = "var(--for)" if share >= 0 else "var(--against)"
    return (
        f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}" '
        f'fill="{colour}"/>'
    )


def _density(counts: npt.NDArray[Any], edges: Sequence[float]) -> list[str]:
    most = int(counts.max(initial=0))
    if most == 0:
        return []
    return [
        f'<rect x="{left:.1f}" y="{_BASE - 44 * count / most:.1f}" width="{right - left:.1f}" '
        f'height="{44 * count / most:.1f}" fill="var(--soft)" opacity=".35"/>'
        for left, right, count in zip(edges, edges[1:], counts.tolist(), strict=False)
    ]


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="var(--soft)" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
