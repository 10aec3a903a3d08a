"""Figures as SVG that stands inside a page: one element for each panel, and a legend."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.paper.figures import RUNNING
from driftgames.paper.results import Figure, Panel
from driftgames.plots.boosting import plot_cumulative_margins, plot_zero_fractions
from driftgames.plots.regret import (
    plot_epsilon_regret,
    plot_regret_over_time,
    plot_time_per_round,
)
from driftgames.plots.style import render, sample_line, with_styles

Curves = dict[str, FloatArray]

_SIZE, _ALONE = (4.0, 3.2), (5.2, 3.3)  # of one panel among several, and of a single one


def draw_panels(figure: Figure) -> list[str]:
    """Return each panel of a figure as one ``<svg>`` element, without a legend."""
    return [_draw(figure, panel, place) for place, panel in enumerate(figure.panels, start=1)]


def draw_legend(figure: Figure) -> str:
    """Return the legend of all panels as a list, which a page can wrap."""
    items = [
        f"<li>{sample_line(style)} {escape(name)}</li>"
        for name, _, style in with_styles(figure.panels[0].curves.items())
    ]
    if figure.panels[0].bounds:
        items.append("<li>thin: the bound</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _draw(figure: Figure, panel: Panel, place: int) -> str:
    from matplotlib.figure import Figure as Drawing

    size = _SIZE if len(figure.panels) > 1 else _ALONE
    drawing = Drawing(figsize=size, layout="constrained")
    ax = drawing.add_subplot()
    x = np.asarray(panel.x, dtype=np.float64)
    _DRAW[figure.kind](x, _arrays(panel.curves), _arrays(panel.bounds), ax=ax)
    for name, _, style in with_styles(panel.curves.items()):
        if name in panel.bands:
            low, high = panel.bands[name]
            ax.fill_between(x, low, high, color=style["color"], alpha=0.12, linewidth=0)
    ax.set_title(panel.title, fontsize="medium")
    if (legend := ax.get_legend()) is not None:
        legend.remove()
    title = f"{figure.title}: {panel.title}" if panel.title else figure.title
    return _inline(render(drawing, "svg").decode(), f"{figure.name}-{place}-", title)


def _inline(text: str, prefix: str, title: str) -> str:
    """Return the element without the document around it, with a title and ids of its own."""
    element = text[text.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>|<style>.*?</style>", "", element, flags=re.DOTALL)
    # two figures in one page must not share an id
    element = re.sub(r'\bid="', f'id="{prefix}', element)
    element = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", element)
    element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", element, count=1)
    return element.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _arrays(curves: Mapping[str, Sequence[float]]) -> Curves:
    return {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}


_DRAW: dict[str, Callable[..., object]] = {
    "zero_fractions": lambda x, curves, bounds, ax: plot_zero_fractions(
        x, curves, window=RUNNING, ax=ax
    ),
    "cumulative_margins": lambda x, curves, bounds, ax: plot_cumulative_margins(x, curves, ax=ax),
    "regret_over_time": plot_regret_over_time,
    "epsilon_regret": plot_epsilon_regret,
    "time_per_round": lambda x, curves, bounds, ax: plot_time_per_round(x, curves, ax=ax),
}
"""How each kind of figure is drawn on ``ax``, from ``x``, the curves and their bounds."""
