"""Time per round as the problem grows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftgames.core.typing import FloatArray
from driftgames.plots.style import new_axes, with_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_time_per_round(
    sizes: FloatArray, seconds: Mapping[str, FloatArray], *, ax: Axes | None = None
) -> Figure:
    """Draw the time of a round, in microseconds, against the number of actions."""
    figure, ax = new_axes(ax)
    markers = "osv^Dx"
    for at, (_, curve, style) in enumerate(with_styles(seconds.items())):
        micro = [1e6 * second for second in curve]
        ax.plot(sizes, micro, marker=markers[at % 6], markersize=4, **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("number of actions N")
    ax.set_ylabel("time per round (µs)")
    ax.legend(frameon=False)
    return figure
