"""Figures of boosting: who is ignored, and how far from the border the examples lie."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.plots.style import new_axes, with_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_zero_fractions(
    rounds: FloatArray, zero_fractions: Mapping[str, FloatArray], *, ax: Axes | None = None
) -> Figure:
    """Draw the share of examples of weight zero over the rounds. [LS14, Fig. 1]"""
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(zero_fractions.items()):
        ax.plot(rounds, [100 * share for share in curve], **style)
    ax.set_xlabel("round")
    ax.set_ylabel("examples of weight zero (%)")
    ax.set_ylim(bottom=-2.0)  # a curve at zero is visible
    ax.legend(frameon=False)
    return figure


def plot_cumulative_margins(
    thetas: FloatArray, shares: Mapping[str, FloatArray], *, ax: Axes | None = None
) -> Figure:
    """Draw the share of examples with at most each margin. [LS14, Fig. 2]"""
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(shares.items()):
        ax.step(thetas, [100 * share for share in curve], where="post", **style)
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlim(*_moving_range(thetas, list(shares.values())))
    ax.set_ylim(0.0, 100.0)
    ax.set_xlabel("margin θ")
    ax.set_ylabel("examples with margin ≤ θ (%)")
    ax.legend(frameon=False)
    return figure


def _moving_range(thetas: FloatArray, curves: Sequence[FloatArray]) -> tuple[float, float]:
    """Return the margins between which some curve is neither 0 nor 1, in tenths."""
    moving = np.array(curves)
    inside = np.flatnonzero(((moving > 0.001) & (moving < 0.999)).any(axis=0))
    if not inside.size:
        return -1.0, 1.0
    low, high = thetas[inside[0]], thetas[inside[-1]]
    return max(-1.0, math.floor(10 * low - 0.5) / 10), min(1.0, math.ceil(10 * high + 0.5) / 10)
