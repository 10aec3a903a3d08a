"""Figures of predicted distributions: the density of one row, intervals of several."""

from __future__ import annotations

import numpy as np

from driftgames.core.checks import as_floats, check_vector
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.shape_drawing import density_of
from driftgames.plots.style import caption, new_axes

_MOST_ROWS = 40


def plot_density(levels: FloatArray, quantiles: FloatArray, *, ax: Axes | None = None) -> Figure:
    """Draw the density of one distribution, with its median and its 90 % interval."""
    levels = check_vector("levels", levels)
    quantiles = check_vector("quantiles", quantiles, levels.size)
    figure, ax = new_axes(ax)
    low, median, high = np.interp([0.05, 0.5, 0.95], levels, quantiles)
    edges, heights = density_of(levels, quantiles)
    if heights.size:
        ax.stairs(heights, edges, fill=True, color="#0072b2", alpha=0.25)
    ax.axvline(median, color="#1b1b1b", linewidth=1.5, label=f"median {median:.4g}")
    label = f"90 %: {low:.4g} to {high:.4g}"
    for end in (low, high):
        ax.axvline(end, color="#0072b2", linewidth=1.0, linestyle="--", label=label)
        label = ""
    ax.set(xlabel="outcome", ylabel="density", ylim=(0.0, None))
    ax.legend(frameon=False)
    return figure


def plot_intervals(
    median: FloatArray, half: FloatArray, most: FloatArray, *, ax: Axes | None = None
) -> Figure:
    """Draw medians as dots, with intervals of 50 % and 90 %, from the least median to the largest.

    Of many rows some are drawn, evenly spaced.
    """
    median = check_vector("median", median)
    half, most = as_floats("half", half), as_floats("most", most)
    for name, ends in (("half", half), ("most", most)):
        if ends.shape != (median.size, 2):
            raise ValueError(f"{name} must be of shape {median.size, 2}; got shape {ends.shape}")
    figure, ax = new_axes(ax)
    order = np.argsort(median, kind="stable")
    drawn = order[np.unique(np.linspace(0, order.size - 1, _MOST_ROWS).round().astype(np.intp))]
    x = np.arange(drawn.size)
    for ends, width, label in ((most, 0.8, "90 %"), (half, 3.0, "50 %")):
        ax.vlines(x, *ends[drawn].T, color="#0072b2", linewidth=width, label=label)
    ax.plot(x, median[drawn], "o", color="#1b1b1b", markersize=3.5, label="median")
    ax.set(xlabel="row, by its median", ylabel="outcome", xticks=[])
    ax.legend(frameon=False, loc="upper left")  # medians rise to the right
    if drawn.size < median.size:
        caption(ax, f"{drawn.size} of {median.size:,} rows")
    return figure
