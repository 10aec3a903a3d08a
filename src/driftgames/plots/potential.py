"""A potential over the positions, and the weights that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftgames.core.checks import as_floats, check_text, check_vector, shown
from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import as_title, caption, new_axes, new_figure, shown_name, with_styles

Line = tuple[FloatArray, FloatArray]
"""Positions, and the heights of a curve there."""


def plot_potential(
    values: Mapping[str, Line], weights: Mapping[str, Line], *, title: str = ""
) -> Figure:
    """Draw potentials above and weights below, over the same axis of positions, a line per name.

    >>> s = np.linspace(-2, 2, 5)
    >>> figure = plot_potential({"t = 1": (s, s**2)}, {"t = 1": (s, s.clip(None, 0))}, title="mine")
    >>> len(figure.axes)
    2
    """
    values, weights = _as_lines("values", values), _as_lines("weights", weights)
    check_text("title", title)
    figure = new_figure((6.0, 5.0))
    above, below = (new_axes(ax)[1] for ax in figure.subplots(2, sharex=True))
    for axes, lines in ((above, values), (below, weights)):
        for _, (positions, heights), style in with_styles(lines.items()):
            axes.plot(positions, np.where(np.isfinite(heights), heights, np.nan), **style)
        axes.axvline(0.0, color="0.6", linewidth=0.8)
    above.set_ylabel("potential")
    below.set(xlabel="position s of a chip", ylabel="weight, relative")
    above.legend(frameon=False)
    if title:
        caption(above, shown_name(title))
    return figure


def _as_lines(name: str, lines: Any) -> dict[str, Line]:
    """Return lines by their names, or say what is wrong with them; heights may be infinite."""
    if not isinstance(lines, Mapping):
        raise ValueError(f"{name} must be lines by their names; got {shown(lines)}")
    found = {}
    for key, line in lines.items():
        place = f"{name}[{shown(key)}]"
        if not isinstance(line, tuple) or len(line) != 2:
            raise ValueError(f"{place} must be positions and heights; got {shown(line)}")
        positions = check_vector(f"{place}[0]", line[0])
        heights = as_floats(f"{place}[1]", line[1])
        if heights.shape != positions.shape:
            raise ValueError(
                f"{place}[1] must be of shape {positions.shape}; got shape {heights.shape}"
            )
        found[as_title(key)] = positions, heights
    return found
