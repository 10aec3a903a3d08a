"""A potential over the positions, and the weights that it gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import caption, new_axes, new_figure, with_styles

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
        caption(above, title)
    return figure
