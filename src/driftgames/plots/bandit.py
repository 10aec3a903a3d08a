"""Figures of bandit games: regret over time with its spread, and which arms were drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.style import bound_style, legend_beside, new_axes, others, with_styles

POINTS = 512
"""How many moments of a run a curve of pulls shows at most."""


def plot_regret_bands(
    rounds: npt.NDArray[Any],
    regret: Mapping[str, FloatArray],
    bounds: Mapping[str, FloatArray] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw the mean regret of many games over the rounds, one row per game.

    A band covers the games but for the highest and lowest tenth; a bound is a thin line of the
    same colour. Far above the curves it is not drawn, and the legend has its value at the end.
    """
    figure, ax = new_axes(ax, size=(8.0, 3.8))
    ceiling = 4.0 * max(float(np.max(games.mean(axis=0))) for games in regret.values())
    for name, games, style in with_styles(regret.items()):
        ax.plot(rounds, games.mean(axis=0), **style)
        if games.shape[0] > 1:
            low, high = np.quantile(games, [0.1, 0.9], axis=0)
            ax.fill_between(rounds, low, high, color=style["color"], alpha=0.12, linewidth=0)
        bound = None if bounds is None else bounds.get(name)
        if bound is not None and bound[-1] <= ceiling:
            ax.plot(rounds, bound, **bound_style(name, style))
        elif bound is not None and np.isfinite(bound[-1]):
            above = bound_style(name, style, f"bound ↑ {bound[-1]:,.0f}")
            ax.plot([], [], linestyle="none", **above)
    ax.set(xlabel="round", ylabel="regret to the best arm (loss)")
    legend_beside(ax)
    return figure


def plot_pulls(
    drawn: npt.NDArray[np.int32],
    names: Sequence[str],
    *,
    most: int = 6,
    ax: Axes | None = None,
) -> Figure:
    """Draw how often the ``most`` popular arms had been drawn by each round, the rest as one."""
    figure, ax = new_axes(ax)
    rounds = np.unique(np.linspace(0, drawn.size, min(drawn.size, POINTS) + 1).astype(np.int64))
    popular = np.argsort(-np.bincount(drawn, minlength=len(names)), kind="stable")[:most]
    rest = rounds.astype(np.float64)
    for _, arm, style in with_styles((names[arm], arm) for arm in popular):
        counts = np.searchsorted(np.flatnonzero(drawn == arm), rounds)
        rest -= counts
        ax.plot(rounds, counts, **style)
    if len(names) > popular.size:
        label = others(names, popular)
        ax.plot(rounds, rest, color="0.6", linewidth=1.0, label=label)
    ax.set(xlabel="round", ylabel="pulls so far")
    ax.legend(frameon=False)
    return figure
