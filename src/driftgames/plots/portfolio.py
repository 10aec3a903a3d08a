"""Figures of trading: wealth over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import FloatArray
from driftgames.plots.style import new_axes, shown_name, with_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_wealth(
    wealth: Mapping[str, FloatArray],
    *,
    best: tuple[str, float] | None = None,
    dates: npt.NDArray[np.datetime64] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw wealth over the days on a logarithmic scale, each curve from its start at 1.

    ``best`` is the name of the best strategy in hindsight and its final wealth, which a thin line
    marks. ``dates`` are the ends of the days, with one more in front if the start is known.
    """
    from matplotlib.dates import ConciseDateFormatter
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, ax = new_axes(ax, size=(6.0, 4.4))
    for _, curve, style in with_styles(wealth.items()):
        shown = np.concatenate([[1.0], curve])
        when = np.arange(shown.size) if dates is None else dates
        ax.plot(when, shown[shown.size - when.size :], **style)
    if best is not None:
        ax.axhline(best[1], color="0.5", linewidth=0.8, label=shown_name(best[0]))
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    if dates is None:
        ax.set_xlabel("day")
    else:
        ax.xaxis.set_major_formatter(ConciseDateFormatter(ax.xaxis.get_major_locator()))
    ax.set_ylabel("wealth (began with 1)")
    # below the axes, so that it hides no curve
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    return figure
