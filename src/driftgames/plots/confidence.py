"""Figures of confidence: a mean between its bounds, and the wealth of bets against a mean."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from driftgames.core.checks import as_floats, check_fraction, check_vector
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.style import as_curves, new_axes, with_styles


def plot_confidence(
    rounds: FloatArray,
    mean: FloatArray,
    low: FloatArray,
    high: FloatArray,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw a mean over the rounds, and its confidence bounds as thin lines around it."""
    rounds = check_vector("rounds", rounds)
    mean = check_vector("mean", mean, rounds.size)
    low, high = as_floats("low", low), as_floats("high", high)
    for name, bound in (("low", low), ("high", high)):
        if bound.shape != rounds.shape:  # they may be infinite
            raise ValueError(f"{name} must be of shape {rounds.shape}; got shape {bound.shape}")
    figure, ax = new_axes(ax)
    ax.plot(rounds, mean, color="#1b1b1b", linewidth=1.5, label="mean of the values")
    label = "confidence bounds"
    for bound in (low, high):
        if np.isfinite(bound).any():
            ax.plot(rounds, bound, color="#0072b2", linewidth=0.8, label=label)
            label = ""
    if np.isfinite(low).all() and np.isfinite(high).all():
        ax.fill_between(rounds, low, high, color="#0072b2", alpha=0.12, linewidth=0)
    ax.set(xlabel="number of values", ylabel="mean")
    ax.legend(frameon=False)
    return figure


def plot_test_wealth(
    rounds: FloatArray,
    log_wealth: Mapping[str, FloatArray],
    delta: float,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Draw wealth against claimed means, in powers of 10, and the line that rejects a claim."""
    rounds = check_vector("rounds", rounds)
    log_wealth = as_curves("log_wealth", log_wealth, rounds.size)
    check_fraction("delta", delta)
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(log_wealth.items()):
        ax.plot(rounds, curve / np.log(10.0), **style)
    label = f"rejected at 1/δ = {1 / delta:g}"
    ax.axhline(-np.log10(delta), color="0.4", linewidth=0.8, label=label)
    ax.set(xlabel="number of values", ylabel="log10 of the wealth against the mean")
    ax.legend(frameon=False)
    return figure
