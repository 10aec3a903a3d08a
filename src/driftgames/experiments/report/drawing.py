"""Figures as SVG that stands inside a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.experiments.results import Figure, Panel
from driftgames.plots.boosting import plot_cumulative_margins, plot_zero_fractions
from driftgames.plots.regret import plot_epsilon_regret, plot_regret_over_time
from driftgames.plots.style import render
from driftgames.plots.timing import plot_time_per_round

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 10.0
_HEIGHT = 3.6


def draw_svg(figure: Figure) -> str:
    """Return a figure as one ``<svg>`` element: its panels side by side, one legend for all."""
    from matplotlib.figure import Figure as Drawing

    count = len(figure.panels)
    width = _WIDTH if count > 1 else 0.65 * _WIDTH
    drawing = Drawing(figsize=(width, _HEIGHT), layout="constrained")
    for place, panel in enumerate(figure.panels, start=1):
        ax = drawing.add_subplot(1, count, place)
        _DRAW[figure.kind](panel, ax)
        ax.set_title(panel.title, fontsize="medium")
        if place > 1:
            ax.set_ylabel("")
        legend = ax.get_legend()
        if legend is not None:
            legend.remove()
    lines = {line.get_label(): line for line in drawing.axes[0].get_lines()}
    names = [name for name in figure.panels[0].curves if name in lines]
    drawing.legend(
        [lines[name] for name in names],
        names,
        loc="outside lower center",
        ncols=min(len(names), 4 if count == 1 else 6),
        frameon=False,
        fontsize="small",
        handlelength=3.5,
    )
    return _inline(render(drawing, "svg").decode(), figure)


def _inline(text: str, figure: Figure) -> str:
    """Return the element without the document around it, with a title and ids of its own."""
    element = text[text.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    # two figures in one page must not share an id
    prefix = f"{figure.name}-"
    element = re.sub(r'\bid="', f'id="{prefix}', element)
    element = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", element)
    element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
    element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", element, count=1)
    return element.replace("<svg", f'<svg role="img" aria-label="{figure.title}"', 1)


def _curves(panel: Panel) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    x = np.asarray(panel.x, dtype=np.float64)
    curves = {name: np.asarray(curve, dtype=np.float64) for name, curve in panel.curves.items()}
    bounds = {name: np.asarray(bound, dtype=np.float64) for name, bound in panel.bounds.items()}
    return x, curves, bounds


def _zero_fractions(panel: Panel, ax: Axes) -> None:
    x, curves, _ = _curves(panel)
    plot_zero_fractions(x, curves, ax=ax)


def _cumulative_margins(panel: Panel, ax: Axes) -> None:
    x, curves, _ = _curves(panel)
    plot_cumulative_margins(x, curves, ax=ax)


def _regret_over_time(panel: Panel, ax: Axes) -> None:
    x, curves, bounds = _curves(panel)
    plot_regret_over_time(x, curves, bounds, ax=ax)


def _epsilon_regret(panel: Panel, ax: Axes) -> None:
    x, curves, bounds = _curves(panel)
    plot_epsilon_regret(x, curves, bounds, ax=ax)
    drawn = {line.get_label(): line for line in ax.get_lines()}
    for name in bounds:
        # in black and white only the dashes say to which curve a bound belongs
        drawn[f"{name}, bound"].set_linestyle(drawn[name].get_linestyle())
    # the smallest promise must be seen whole, and so must every curve
    highest = max(float(curve.max()) for curve in curves.values())
    least = min((float(bound.max()) for bound in bounds.values()), default=highest)
    lowest = min(float(curve.min()) for curve in curves.values())
    reach = 1.5 * max(highest, least)
    ax.set_ylim(lowest - 0.05 * reach, reach)


def _time_per_round(panel: Panel, ax: Axes) -> None:
    x, curves, _ = _curves(panel)
    plot_time_per_round(x, curves, ax=ax)


_DRAW: dict[str, Callable[[Panel, Axes], None]] = {
    "zero_fractions": _zero_fractions,
    "cumulative_margins": _cumulative_margins,
    "regret_over_time": _regret_over_time,
    "epsilon_regret": _epsilon_regret,
    "time_per_round": _time_per_round,
}
