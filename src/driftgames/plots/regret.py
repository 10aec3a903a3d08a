"""Figures of regret: over epsilon, over time, and where the weight went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from driftgames._support.checks import FloatArray
from driftgames.plots.style import line_styles, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_epsilon_regret(
    epsilons: FloatArray,
    realised: Mapping[str, FloatArray],
    promised: Mapping[str, FloatArray] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw epsilon-regret curves, each with its bound as a thin line of the same colour."""
    figure, ax = new_axes(ax)
    for (name, regret), style in zip(realised.items(), line_styles(), strict=False):
        ax.step(epsilons, regret, where="pre", label=name, **style)
        bound = None if promised is None else promised.get(name)
        if bound is not None and np.isfinite(bound).any():
            ax.plot(epsilons, bound, color=style["color"], linewidth=0.8, label=f"{name}, bound")
    if epsilons[0] < 0.1:
        ax.set_xscale("log")
    ax.set_xlabel("ε (fraction of the best actions left out)")
    ax.set_ylabel("ε-regret (loss)")
    ax.legend(frameon=False)
    return figure


def plot_regret_over_time(
    rounds: FloatArray,
    regret: Mapping[str, FloatArray],
    bounds: Mapping[str, FloatArray] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw regret to the best action over the rounds, each with its bound as a thin line."""
    figure, ax = new_axes(ax)
    for (name, curve), style in zip(regret.items(), line_styles(), strict=False):
        ax.plot(rounds, curve, label=name, **style)
        bound = None if bounds is None else bounds.get(name)
        if bound is not None and np.isfinite(bound).any():
            ax.plot(rounds, bound, color=style["color"], linewidth=0.8, label=f"{name}, bound")
    ax.set_xlabel("round")
    ax.set_ylabel("regret to the best action (loss)")
    ax.legend(frameon=False)
    return figure


def plot_weights(
    rounds: FloatArray,
    distributions: FloatArray,
    names: Sequence[str],
    *,
    most: int = 6,
    ax: Axes | None = None,
) -> Figure:
    """Draw the probabilities of the ``most`` weighty actions over the rounds, the rest as one."""
    figure, ax = new_axes(ax)
    heaviest = np.argsort(-distributions.mean(axis=0), kind="stable")[:most]
    styles = line_styles()
    for action in heaviest:
        ax.plot(rounds, distributions[:, action], label=names[action], **next(styles))
    if distributions.shape[1] > most:
        rest = 1.0 - distributions[:, heaviest].sum(axis=1)
        ax.plot(rounds, rest, color="0.6", linewidth=1.0, label="all others")
    ax.set_ylim(0.0, 1.02)  # a line at 1 is to be seen whole
    ax.set_xlabel("round")
    ax.set_ylabel("probability")
    ax.legend(frameon=False)
    return figure
