"""Figures of intervals: their coverage over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from driftgames.core.typing import FloatArray
from driftgames.plots.style import new_axes, with_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_coverage(
    rounds: FloatArray,
    coverage: Mapping[str, FloatArray],
    target: float,
    *,
    window: int,
    ax: Axes | None = None,
) -> Figure:
    """Draw shares of covered outcomes over the rounds, and the target as a thin line."""
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(coverage.items()):
        ax.plot(rounds, curve, **style)
    ax.axhline(target, color="0.4", linewidth=0.8, label="target")
    ax.set_ylim(min(0.5, *(float(curve.min()) for curve in coverage.values())), 1.02)
    ax.set_xlabel("round")
    ax.set_ylabel(f"coverage of the last {window} rounds")
    ax.legend(frameon=False)
    return figure
