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
_UPRIGHT, _LETTERS, _SLANT = 6, 11, 30  # labels of more bars are slanted, and need more height
_MOST_BARS = 10
"""How many categories have a bar; the others share one."""


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
        unknown = 0 if sample is None else int(np.isnan(sample).sum())
        words = f"missing: {missing:.3g}" + f", {unknown:,} examples" * (unknown > 0)
        parts[-1] = f"<g><title>{words}</title>{parts[-1]}</g>"
        parts.append(_text(right + 29, _BASE + 16, "missing", "middle"))
        if unknown:  # a sample may leave them out
            parts.append(_text(right + 29, _BASE + 30, f"{unknown:,}", "middle"))
    height = _HEIGHT + _SLANT * (categories is not None and len(categories) > _UPRIGHT)
    title = f"The vote of {name}, from {text_of(votes.min())} to {text_of(votes.max())}"
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {height}"><title>{escape(title)}</title>'
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
    ends = [float(_LEFT), *(x(cut) for cut in cuts.tolist()), right]
    for k, vote in enumerate(votes.tolist()):  # what a pointer shows
        place = f'x="{ends[k]:.1f}" y="{_TOP}" width="{ends[k + 1] - ends[k]:.1f}"'
        hint = f"{_range_text(cuts, k)}: {vote:.3g}"
        shade = f'<rect {place} height="{_FLOOR - _TOP}" opacity="0"/>'
        parts.append(f"<g><title>{hint}</title>{shade}</g>")
    parts += [_text(x(tick), _BASE + 16, f"{tick:,.6g}", "middle") for tick in _ticks(low, high)]
    return parts


def _range_text(cuts: FloatArray, k: int) -> str:
    """Return the values of step k in words.

    >>> [_range_text(np.array([1.0, 2.5]), k) for k in range(3)]
    ['up to 1', '1 to 2.5', 'above 2.5']
    """
    if not cuts.size:
        return "all values"
    if k == 0:
        return f"up to {cuts[0]:,.6g}"
    if k == cuts.size:
        return f"above {cuts[-1]:,.6g}"
    return f"{cuts[k - 1]:,.6g} to {cuts[k]:,.6g}"


def _ticks(low: float, high: float) -> list[float]:
    """Return four to eight round numbers within a range.

    >>> _ticks(0.3, 9.9), _ticks(0.0, 53_000.0)
    ([2.0, 4.0, 6.0, 8.0], [0.0, 10000.0, 20000.0, 30000.0, 40000.0, 50000.0])
    """
    unit = 10.0 ** np.floor(np.log10(high - low))
    for step in (5 * unit, 2 * unit, unit, 0.5 * unit, 0.2 * unit):
        first, last = int(np.ceil(low / step)), int(np.floor(high / step))
        if last - first >= 3:
            break
    return [float(f"{step * k:.6g}") + 0.0 for k in range(first, last + 1)]


def _bars(
    categories: Sequence[str],
    votes: FloatArray,
    sample: FloatArray | None,
    reach: float,
    right: float,
) -> list[str]:
    numbers = np.empty(0) if sample is None else sample[np.isfinite(sample)]
    counts = np.bincount(numbers.astype(np.int64), minlength=len(categories))[: len(categories)]
    if len(categories) > _MOST_BARS + 1:
        categories, votes, counts = _with_rest(categories, votes, counts)
    step = (right - _LEFT) / max(len(categories), 1)
    edges = [_LEFT + step * k for k in range(len(categories) + 1)]
    parts = _density(counts, edges)
    for k, (label, vote) in enumerate(zip(categories, votes.tolist(), strict=True)):
        hint = f"<title>{escape(label)}: {vote:.3g}</title>"
        parts.append(f"<g>{hint}{_bar(edges[k] + 0.15 * step, 0.7 * step, vote / reach)}</g>")
        shown = label if len(label) <= _LETTERS else f"{label[: _LETTERS - 1]}…"
        if len(categories) <= _UPRIGHT:
            parts.append(_text(edges[k] + step / 2, _BASE + 16, shown, "middle"))
        else:
            parts.append(_text(edges[k] + step / 2, _BASE + 14, shown, "end", slanted=True))
    return parts


def _with_rest(
    categories: Sequence[str], votes: FloatArray, counts: npt.NDArray[Any]
) -> tuple[list[str], FloatArray, npt.NDArray[Any]]:
    """Return the categories of the most examples, then of the largest votes, and the rest as one.

    >>> names, votes, _ = _with_rest(list("abcdefghijkl"), np.arange(12.0), np.zeros(12, int))
    >>> names, votes.tolist()[-2:]
    (['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', '2 others'], [11.0, 0.5])
    """
    order = np.lexsort((-np.abs(votes), -counts))
    kept, rest = np.sort(order[:_MOST_BARS]), order[_MOST_BARS:]
    share = counts[rest] if counts[rest].sum() else np.ones(rest.size)
    mean = float(np.average(votes[rest], weights=share))
    names = [*(categories[k] for k in kept), f"{rest.size} others"]
    return names, np.append(votes[kept], mean), np.append(counts[kept], counts[rest].sum())


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


def _text(x: float, y: float, words: str, anchor: str, *, slanted: bool = False) -> str:
    turn = f' transform="rotate(-35 {x:.1f} {y:.1f})"' if slanted else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="var(--soft)" '
        f'text-anchor="{anchor}"{turn}>{escape(words)}</text>'
    )
