"""Figures over rounds (regret, weights, pulls and coverage), over epsilon, and of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_between, check_integer, check_vector, shown
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.style import (
    Style,
    as_bounds,
    as_curves,
    bound_style,
    check_titles,
    legend_beside,
    new_axes,
    others,
    with_styles,
)

POINTS = 512
"""How many moments of a run a curve of pulls shows at most."""


def plot_epsilon_regret(
    epsilons: FloatArray,
    realised: Mapping[str, FloatArray],
    promised: Mapping[str, FloatArray] | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw epsilon-regret curves, each with its bound as a thin line of the same colour.

    The value at ``epsilons[k]`` holds from the epsilon before it on, and the first value from 0
    on. With many epsilons the axis is logarithmic and cannot reach 0.
    """
    epsilons = check_vector("epsilons", epsilons)
    realised = as_curves("realised", realised, epsilons.size)
    promised = as_bounds("promised", promised)
    figure, ax = new_axes(ax)
    logarithmic = epsilons[0] < 0.1
    begin = epsilons[0] / 2 if logarithmic else 0.0
    edges = np.concatenate([[begin], epsilons])
    for name, regret, style in with_styles(realised.items()):
        ax.step(edges, _from_the_left(regret), where="pre", **style)
        bound = promised.get(name)
        if bound is not None and np.isfinite(bound).any():
            ax.step(edges, _from_the_left(bound), where="pre", **bound_style(name, style))
    if logarithmic:
        ax.set_xscale("log")
    ax.set(xlabel="ε (fraction of the best actions left out)", ylabel="ε-regret (loss)")
    ax.legend(frameon=False)
    return figure


def plot_regret_over_time(
    rounds: FloatArray,
    regret: Mapping[str, FloatArray],
    bounds: Mapping[str, FloatArray] | None = None,
    *,
    what: str = "bound",
    ax: Axes | None = None,
) -> Figure:
    """Draw regret to the best action over the rounds, each with its bound as a thin line.

    ``what`` is what the legend calls the bounds. A bound that is known in one round is a point.
    """
    rounds = check_vector("rounds", rounds)
    regret = as_curves("regret", regret, rounds.size)
    bounds = as_bounds("bounds", bounds)
    figure, ax = new_axes(ax, size=(7.5, 3.8))
    for name, curve, style in with_styles(regret.items()):
        ax.plot(rounds, curve, **style)
        bound = bounds.get(name)
        known = 0 if bound is None else int(np.isfinite(bound).sum())
        if bound is not None and known:
            mark: Style = {"marker": "o", "markersize": 4, "linestyle": ""} if known == 1 else {}
            ax.plot(rounds, bound, **bound_style(name, style, what), **mark)
    ax.set(xlabel="round", ylabel="regret to the best action (loss)")
    legend_beside(ax)
    return figure


def plot_weights(
    rounds: FloatArray,
    distributions: FloatArray,
    names: Sequence[str],
    *,
    most: int = 6,
    ax: Axes | None = None,
) -> Figure:
    """Draw the probabilities of the ``most`` weighty actions over the rounds, the rest as one.

    The legend says how many actions the rest are.
    """
    names = check_titles(names)
    rounds = check_vector("rounds", rounds)
    distributions = as_floats("distributions", distributions)
    if distributions.shape != (rounds.size, len(names)) or not distributions.size:
        raise ValueError(
            f"distributions must be of shape ({rounds.size}, {len(names)}), a row per round and a "
            f"column per name; got shape {distributions.shape}"
        )
    check_integer("most", most, least=1)
    figure, ax = new_axes(ax, size=(7.5, 3.8))
    heaviest = np.argsort(-distributions.mean(axis=0), kind="stable")[:most]
    for _, action, style in with_styles((names[action], action) for action in heaviest):
        ax.plot(rounds, distributions[:, action], **style)
    rest = 1.0 - distributions[:, heaviest].sum(axis=1)
    if len(names) > heaviest.size:
        label = others(names, heaviest)
        ax.plot(rounds, rest, color="0.6", linewidth=1.0, label=label)
    highest = max(rest.max(initial=0.0), distributions.max(initial=0.0))
    ax.set_ylim(0.0, min(1.02, 1.15 * highest) or 1.0)  # a line at 1 is visible
    ax.set(xlabel="round", ylabel="probability")
    legend_beside(ax)
    return figure


def _from_the_left(values: FloatArray) -> FloatArray:
    """Return values with the first one twice, so that its step has a width."""
    return np.concatenate([values[:1], values])


def plot_coverage(
    rounds: FloatArray,
    coverage: Mapping[str, FloatArray],
    target: float,
    *,
    window: int,
    ax: Axes | None = None,
) -> Figure:
    """Draw shares of covered outcomes over the rounds, and the target as a thin line."""
    rounds = check_vector("rounds", rounds)
    coverage = as_curves("coverage", coverage, rounds.size)
    check_between("target", target, 0.0, 1.0)
    check_integer("window", window, least=1)
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(coverage.items()):
        ax.plot(rounds, curve, **style)
    ax.axhline(target, color="0.4", linewidth=0.8, label="target")
    ax.set_ylim(min(0.5, *(float(curve.min()) for curve in coverage.values())), 1.02)
    ax.set(xlabel="round", ylabel=f"coverage of the last {window} rounds")
    ax.legend(frameon=False)
    return figure


def plot_time_per_round(
    sizes: FloatArray, seconds: Mapping[str, FloatArray], *, ax: Axes | None = None
) -> Figure:
    """Draw the time of a round, in microseconds, against the number of actions."""
    sizes = check_vector("sizes", sizes)
    seconds = as_curves("seconds", seconds, sizes.size)
    figure, ax = new_axes(ax)
    markers = "osv^Dx"
    for at, (_, curve, style) in enumerate(with_styles(seconds.items())):
        ax.plot(sizes, 1e6 * curve, marker=markers[at % 6], markersize=4, **style)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlabel="number of actions N", ylabel="time per round (µs)")
    ax.legend(frameon=False)
    return figure


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
    rounds = check_vector("rounds", rounds)
    regret = as_curves("regret", regret, rounds.size, ndim=2)
    bounds = as_bounds("bounds", bounds)
    figure, ax = new_axes(ax, size=(8.0, 3.8))
    ceiling = 4.0 * max(float(np.max(games.mean(axis=0))) for games in regret.values())
    for name, games, style in with_styles(regret.items()):
        ax.plot(rounds, games.mean(axis=0), **style)
        if games.shape[0] > 1:
            low, high = np.quantile(games, [0.1, 0.9], axis=0)
            ax.fill_between(rounds, low, high, color=style["color"], alpha=0.12, linewidth=0)
        bound = bounds.get(name)
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
    names = check_titles(names)
    drawn = np.asarray(drawn)
    whole = drawn.ndim == 1 and drawn.size > 0 and drawn.dtype.kind in "iu"
    if not whole or drawn.min() < 0 or drawn.max() >= len(names):
        raise ValueError(f"drawn must be numbers of arms below {len(names)}; got {shown(drawn)}")
    check_integer("most", most, least=1)
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
