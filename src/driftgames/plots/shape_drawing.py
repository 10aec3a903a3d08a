"""The step function of a feature as an ``<svg>`` element, with the density of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.cells import day_text
from driftgames.core.display import text_of
from driftgames.core.typing import FloatArray

_WIDTH, _HEIGHT, _LEFT, _BASE = 460, 264, 56, 226
_TOP, _ZERO, _FLOOR = 12.0, 90.0, 168.0  # of the votes; the density is drawn below
_BINS = 30
_DENSITY_BARS = 40
_FOOT = 120.0  # of the density of one example
_LETTER, _WIDE_LETTER = 7.5, 12.0  # widths
_SLANTED, _SLANT = 72.0, 30  # slanted labels have this room, and need this height
_MISSING = "missing"
_MOST_BARS = 10
"""How many categories have a bar; the others share one."""

_MOST_DAYS = 4e6  # of an axis of dates: the years of datetime
_DATE_STEPS = {
    "Y": (365, (500, 200, 100, 50, 20, 10, 5, 2, 1)),
    "M": (30, (6, 3, 2, 1)),
    "D": (1, (14, 7, 2, 1)),
}
"""Years, months and days: how many days they have, and distances of ticks."""

_STEPS = (1.0, 2.0, 5.0, 0.5, 0.2, 2.5, 0.25, 1.5, 0.15, 3.0, 0.3, 4.0, 0.4, 0.6, 0.8)
"""Distances of ticks in powers of ten, the rounder ones first."""


def draw_shape(
    name: str,
    thresholds: FloatArray,
    votes: FloatArray,
    reach: float,
    *,
    spread: FloatArray | None = None,
    missing: float | None = None,
    categories: Sequence[str] | None = None,
    sample: FloatArray | None = None,
    are_dates: bool = False,
) -> str:
    """Return a feature's vote over its values; ``reach`` is the vote at the top of the drawing.

    The band around a vote is as high as its ``spread`` to both sides. Dates are days since 1970.

    >>> draw_shape("age", np.array([40.0]), np.array([-0.1, 0.2]), 0.2).count("<path")
    2
    """
    reach = max(reach, 1e-300)
    parts = [
        _text(_LEFT - 6, _height(t / reach) + 4, _label(t), "end") for t in _ticks(-reach, reach)
    ]
    parts.append(
        f'<path d="M{_LEFT} {_ZERO}H{_WIDTH}" stroke="var(--soft)" stroke-dasharray="4 3"/>'
    )
    right = _WIDTH - (60.0 if missing is not None else 8.0)
    spread = np.zeros(votes.size) if spread is None else spread
    if categories is None:
        parts += _steps(thresholds, votes, spread, sample, reach, right, are_dates)
    else:
        parts += _bars(categories, votes, spread, sample, reach, right)
    if missing is not None:
        parts.append(_bar(right + 14, 30.0, missing / reach))
        unknown = 0 if sample is None else int(np.isnan(sample).sum())
        words = f"missing: {missing:.3g}" + f", {unknown:,} examples" * (unknown > 0)
        parts[-1] = f"<g><title>{words}</title>{parts[-1]}</g>"
        parts.append(_text(right + 29, _BASE + 16, _MISSING, "middle"))
        if unknown:  # a sample may leave them out
            parts.append(_text(right + 29, _BASE + 30, f"{unknown:,}", "middle"))
    height = _HEIGHT + _SLANT * any("rotate" in part for part in parts)
    title = f"{name}: from {text_of(votes.min())} to {text_of(votes.max())}"
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {height}"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


def draw_density(levels: FloatArray, quantiles: FloatArray, ends: tuple[float, float]) -> str:
    """Return the density of a distribution, with lines at its median and the ends of an interval.

    Infinite ends are left out.

    >>> levels, quantiles = np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 4.0])
    >>> draw_density(levels, quantiles, (0.5, math.inf)).count("<path")
    3
    """
    median = float(np.interp(0.5, levels, quantiles))
    edges, heights = density_of(levels, quantiles)
    drawn = [end for end in ends if math.isfinite(end)]
    first, last = min(float(edges[0]), *drawn, median), max(float(edges[-1]), *drawn, median)
    if first == last:
        first, last = first - 1.0, last + 1.0
    x = _scale(first, last, _WIDTH - 8.0)
    outline = [f"M{x(float(edges[0])):.1f} {_FOOT}"]
    for k, height in enumerate((heights / (heights.max(initial=0.0) or 1.0)).tolist()):
        y = _FOOT - height * (_FOOT - _TOP)
        outline.append(f"V{y:.1f}H{x(float(edges[k + 1])):.1f}")
    parts = [f'<path d="{"".join(outline)}V{_FOOT}Z" fill="var(--for)" opacity=".35"/>']
    parts += [
        f'<path d="M{x(end):.1f} {_TOP}V{_FOOT}" stroke="var(--for)" stroke-dasharray="4 3"/>'
        for end in drawn
    ]
    parts.append(f'<path d="M{x(median):.1f} {_TOP}V{_FOOT}" stroke="var(--ink)"/>')
    parts += _axis(x, {tick: _label(tick) for tick in _ticks(first, last)}, y=_FOOT + 16)
    title = f"Density: median {median:.5g}, interval from {ends[0]:.5g} to {ends[1]:.5g}"
    return (
        f'<svg role="img" viewBox="0 0 {_WIDTH} {_FOOT + 24:.0f}"><title>{title}</title>'
        f"{''.join(parts)}</svg>"
    )


def density_of(levels: FloatArray, quantiles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the edges of bars of a density, and their heights; none if it is certain."""
    ends = [0.002, 0.998]
    first, last = np.interp(ends, levels, quantiles)
    edges = np.linspace(first, last, _DENSITY_BARS + 1)
    if not edges[-1] > edges[0]:
        return edges, np.zeros(0)
    below = np.interp(edges, quantiles, levels)
    below[[0, -1]] = ends  # an atom at an end belongs to the picture
    return edges, np.asarray(np.diff(below) / np.diff(edges))


def _steps(
    cuts: FloatArray,
    votes: FloatArray,
    spread: FloatArray,
    sample: FloatArray | None,
    reach: float,
    right: float,
    are_dates: bool,
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
    ends = [float(_LEFT), *(x(cut) for cut in cuts.tolist()), right]
    if spread.any():
        above, below = (
            _stairs(ends, (votes + spread) / reach),
            _stairs(ends, (votes - spread) / reach),
        )
        outline = "L".join(f"{a} {b}" for a, b in [*above, *reversed(below)])
        parts.append(f'<path d="M{outline}Z" fill="var(--for)" opacity=".25"/>')
    line = "L".join(f"{a} {b}" for a, b in _stairs(ends, votes / reach))
    parts.append(f'<path d="M{line}" fill="none" stroke="var(--for)" stroke-width="2"/>')
    text = day_text if are_dates else _value_text
    for k, vote in enumerate(votes.tolist()):  # what a pointer shows
        place = f'x="{ends[k]:.1f}" y="{_TOP}" width="{ends[k + 1] - ends[k]:.1f}"'
        hint = f"{_range_text(cuts, k, text)}: {_with_spread(vote, spread[k])}"
        shade = f'<rect {place} height="{_FLOOR - _TOP}" opacity="0"/>'
        parts.append(f"<g><title>{hint}</title>{shade}</g>")
    ticks = {tick: _label(tick) for tick in _ticks(low, high)}
    room = _WIDTH if right > _WIDTH - 10.0 else right + 29 - _width(_MISSING) / 2
    return parts + _axis(x, _date_ticks(low, high) if are_dates else ticks, room)


def _stairs(ends: Sequence[float], shares: FloatArray) -> list[tuple[str, str]]:
    """Return the corners of a step function, as coordinates."""
    heights = [f"{_height(share):.1f}" for share in np.clip(shares, -1.1, 1.1).tolist()]
    return [
        (f"{end:.1f}", height) for k, height in enumerate(heights) for end in (ends[k], ends[k + 1])
    ]


def _with_spread(vote: float, spread: float) -> str:
    return f"{vote:.3g}" + (f" ± {spread:.2g}" if spread else "")


def _value_text(value: float) -> str:
    return f"{value:,.6g}"


def _range_text(cuts: FloatArray, k: int, text: Callable[[float], str] = _value_text) -> str:
    """Return the values of step k in words.

    >>> [_range_text(np.array([1.0, 2.5]), k) for k in range(3)]
    ['up to 1', '1 to 2.5', 'above 2.5']
    """
    if not cuts.size:
        return "all values"
    if k == 0:
        return f"up to {text(cuts[0])}"
    if k == cuts.size:
        return f"above {text(cuts[-1])}"
    return f"{text(cuts[k - 1])} to {text(cuts[k])}"


def _ticks(low: float, high: float) -> list[float]:
    """Return four or five round numbers within a range, rarely three or six.

    >>> _ticks(0.3, 9.9), _ticks(0.0, 53_000.0)
    ([2.0, 4.0, 6.0, 8.0], [0.0, 15000.0, 30000.0, 45000.0])
    """
    digits = math.floor(math.log10(high - low))
    unit = 10.0**digits
    places = [
        (math.ceil(low / by), math.floor(high / by), by) for by in (unit * step for step in _STEPS)
    ]
    first, last, step = min(places, key=lambda place: abs(place[1] - place[0] - 3.5))
    return [round(step * k, 2 - digits) + 0.0 for k in range(first, last + 1)]


def _date_ticks(low: float, high: float) -> dict[float, str]:
    """Return some five starts of years, months or days within a range of days since 1970.

    >>> list(_date_ticks(16_500.0, 18_000.0).values()), list(_date_ticks(9.5, 120.0).values())
    (['2016', '2017', '2018', '2019'], ['1970-02', '1970-03', '1970-04', '1970-05'])
    """
    if high - low > _MOST_DAYS:
        return {}
    choices = []
    for unit, (days, steps) in _DATE_STEPS.items():
        if unit != "Y" and high - low > 40 * days:
            break  # would be too many
        first, last = (np.datetime64(math.floor(end), "D") for end in (low, high))
        starts = np.arange(first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]") + 1)
        # years count from the year 0, so that those of every tenth are round
        numbers = starts.astype(np.int64) + (1970 if unit == "Y" else 0)
        choices += [starts[numbers % step == 0] for step in steps]
    found = []
    for starts in choices:
        days = starts.astype("M8[D]").astype(np.int64)
        found.append(
            {
                float(day): str(start)
                for day, start in zip(days.tolist(), starts, strict=True)
                if low <= day <= high
            }
        )
    return min(found, key=lambda ticks: abs(len(ticks) - 4.5))


def _axis(
    x: Callable[[float], float],
    ticks: Mapping[float, str],
    end: float = _WIDTH,
    y: float = _BASE + 16,
) -> list[str]:
    """Return the labels of ticks, without those that would touch the last one or leave ``end``."""
    parts, free = [], -math.inf
    for tick, label in ticks.items():
        half = _width(label) / 2
        left = min(max(x(tick), half), _WIDTH - half) - half
        if left >= free and left + 2 * half <= end:
            parts.append(_centred(x(tick), label, y))
            free = left + 2 * half
    return parts


def _label(tick: float) -> str:
    return f"{tick:,.9g}" if 1e-4 <= abs(tick) < 1e9 else f"{tick:.6g}"


def _bars(
    categories: Sequence[str],
    votes: FloatArray,
    spread: FloatArray,
    sample: FloatArray | None,
    reach: float,
    right: float,
) -> list[str]:
    numbers = np.empty(0) if sample is None else sample[np.isfinite(sample)]
    counts = np.bincount(numbers.astype(np.int64), minlength=len(categories))[: len(categories)]
    if len(categories) > _MOST_BARS + 1:
        categories, votes, spread, counts = _with_rest(categories, votes, spread, counts)
    step = (right - _LEFT) / max(len(categories), 1)
    edges = [_LEFT + step * k for k in range(len(categories) + 1)]
    parts = _density(counts, edges)
    upright = max(map(_width, categories), default=0.0) <= step or len(categories) <= 2
    room = step if upright else _SLANTED
    for k, (label, vote, around) in enumerate(
        zip(categories, votes.tolist(), spread.tolist(), strict=True)
    ):
        middle = edges[k] + step / 2
        drawn = _bar(edges[k] + 0.15 * step, 0.7 * step, vote / reach)
        if around:
            ends = [_height(max(-1.1, min((vote + by) / reach, 1.1))) for by in (-around, around)]
            drawn += f'<path d="M{middle:.1f} {ends[0]:.1f}V{ends[1]:.1f}" stroke="var(--ink)"/>'
        hint = f"<title>{escape(label)}: {_with_spread(vote, around)}</title>"
        parts.append(f"<g>{hint}{drawn}</g>")
        shown = _shorten(label, room)
        parts.append(_centred(middle, shown) if upright else _slanted(middle, shown))
    return parts


def _width(label: str) -> float:
    """Return how wide a label is at most, about."""
    return sum(_WIDE_LETTER if each in "MW@%mw" or each > "\u2e7f" else _LETTER for each in label)


def _shorten(label: str, room: float) -> str:
    """Return a label that is at most so wide; both ends of a wider one are kept.

    >>> _shorten("Town number 17", 75.0), _shorten("Oslo", 70.0)
    ('Town…r 17', 'Oslo')
    """
    half = len(label)
    while _width(label) > room and half > 1:
        half -= 1
        if 2 * half < len(label):
            label = f"{label[:half]}…{label[-half:]}"
    return label


def _with_rest(
    categories: Sequence[str], votes: FloatArray, spread: FloatArray, counts: npt.NDArray[Any]
) -> tuple[list[str], FloatArray, FloatArray, npt.NDArray[Any]]:
    """Return the categories of the most examples, then of the largest votes, and the rest as one.

    >>> zeros = np.zeros(12)
    >>> names, votes, *_ = _with_rest(list("abcdefghijkl"), np.arange(12.0), zeros, zeros)
    >>> names, votes.tolist()[-2:]
    (['c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', '2 others'], [11.0, 0.5])
    """
    order = np.lexsort((-np.abs(votes), -counts))
    kept, rest = np.sort(order[:_MOST_BARS]), order[_MOST_BARS:]
    share = counts[rest] if counts[rest].sum() else np.ones(rest.size)
    means = [np.average(each[rest], weights=share) for each in (votes, spread)]
    names = [*(categories[k] for k in kept), f"{rest.size} others"]
    counts = np.append(counts[kept], counts[rest].sum())
    return names, np.append(votes[kept], means[0]), np.append(spread[kept], means[1]), counts


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


def _text(x: float, y: float, words: str, anchor: str, turn: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="var(--soft)" '
        f'text-anchor="{anchor}"{turn}>{escape(words)}</text>'
    )


def _centred(x: float, words: str, y: float = _BASE + 16) -> str:
    """Return a label below the drawing that does not leave it."""
    half = _width(words) / 2
    return _text(min(max(x, half), _WIDTH - half), y, words, "middle")


def _slanted(x: float, words: str) -> str:
    return _text(x, _BASE + 14, words, "end", f' transform="rotate(-35 {x:.1f} {_BASE + 14})"')
