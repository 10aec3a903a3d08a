"""Figures as SVG that stands inside a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.paper.results import Figure
from driftgames.plots.boosting import plot_cumulative_margins, plot_zero_fractions
from driftgames.plots.regret import plot_epsilon_regret, plot_regret_over_time
from driftgames.plots.style import render
from driftgames.plots.timing import plot_time_per_round

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curves = dict[str, FloatArray]

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
        x = np.asarray(panel.x, dtype=np.float64)
        _DRAW[figure.kind](x, _arrays(panel.curves), _arrays(panel.bounds), ax=ax)
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


def _arrays(curves: Mapping[str, Sequence[float]]) -> Curves:
    return {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}


def _epsilon_regret(x: FloatArray, curves: Curves, bounds: Curves, ax: Axes) -> None:
    plot_epsilon_regret(x, curves, bounds, ax=ax)
    drawn = {line.get_label(): line for line in ax.get_lines()}
    for name in bounds:
        # in black and white only the dashes say to which curve a bound belongs
        drawn[f"{name}, bound"].set_linestyle(drawn[name].get_linestyle())
    # the lowest bound and all curves must be visible
    highest = max(float(curve.max()) for curve in curves.values())
    least = min((float(bound.max()) for bound in bounds.values()), default=highest)
    lowest = min(float(curve.min()) for curve in curves.values())
    reach = 1.5 * max(highest, least)
    ax.set_ylim(lowest - 0.05 * reach, reach)


_DRAW: dict[str, Callable[..., object]] = {
    "zero_fractions": lambda x, curves, bounds, ax: plot_zero_fractions(x, curves, ax=ax),
    "cumulative_margins": lambda x, curves, bounds, ax: plot_cumulative_margins(x, curves, ax=ax),
    "regret_over_time": plot_regret_over_time,
    "epsilon_regret": _epsilon_regret,
    "time_per_round": lambda x, curves, bounds, ax: plot_time_per_round(x, curves, ax=ax),
}
"""How each kind of figure is drawn on ``ax``, from ``x``, the curves and their bounds."""
