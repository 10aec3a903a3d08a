"""The critical-difference picture: mean ranks on a line, bars over those that may be equal."""

from __future__ import annotations

import math

import numpy as np

from bench.ranks import Comparison, critical_distance, groups
from driftgames.core.typing import Figure
from driftgames.plots.style import new_figure


def draw_ranks(comparison: Comparison, title: str, *, ours: str = "driftgames") -> Figure:
    """Draw mean ranks; a bar joins libraries that Nemenyi's test does not tell apart."""
    order = np.argsort(comparison.ranks, kind="stable")
    ranks = comparison.ranks[order].tolist()
    names = [comparison.libraries[at] for at in order]
    n_names = len(names)
    distance = critical_distance(n_names, len(comparison.sets))
    bars = groups(ranks, distance)
    left = math.ceil(n_names / 2)  # the better half is named on the left
    floor = -1.2 - 0.45 * len(bars)  # the first name stands below the bars
    bottom = floor - 0.8 * max(left, n_names - left)
    figure = new_figure((8.0, 0.28 * (2.6 - bottom)))
    ax = figure.add_subplot()
    ax.set_axis_off()
    ax.set_xlim(-0.9, n_names + 1.9)
    ax.set_ylim(bottom, 2.6)
    ax.set_title(title, loc="left", fontsize="medium")
    ax.plot([1, n_names], [0, 0], color="black", linewidth=1.0)
    for rank in range(1, n_names + 1):
        ax.plot([rank, rank], [0, 0.2], color="black", linewidth=1.0)
        ax.text(rank, 0.35, str(rank), ha="center", va="bottom", fontsize="small")
    ax.plot([1, 1 + distance], [1.7, 1.7], color="black", linewidth=2.0)
    ax.text(
        1 + distance + 0.1, 1.7, f"critical distance {distance:.2f}", va="center", fontsize="small"
    )
    for at, (first, last) in enumerate(bars):
        height = -0.45 * (at + 1)
        ends = [ranks[first] - 0.05, ranks[last] + 0.05]
        ax.plot(ends, [height, height], color="#b0b0b0", linewidth=3.5, solid_capstyle="butt")
    for at, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        on_left = at < left
        height = floor - 0.8 * (at if on_left else n_names - 1 - at)
        edge = 0.7 if on_left else n_names + 0.3
        colour = "#d55e00" if name == ours else "black"
        ax.plot([rank, rank, edge], [0, height, height], color=colour, linewidth=0.9)
        ax.text(
            edge + (-0.08 if on_left else 0.08),
            height,
            f"{name} {rank:.2f}",
            ha="right" if on_left else "left",
            va="center",
            fontsize="small",
            color=colour,
        )
    return figure
