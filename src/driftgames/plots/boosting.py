"""Figures of boosters: weights of zero, margins, the work of each feature, and calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import as_floats, check_integer, check_range, check_vector, shown
from driftgames.core.typing import Axes, Figure, FloatArray
from driftgames.plots.style import (
    as_curves,
    as_title,
    check_titles,
    new_axes,
    new_figure,
    shown_name,
    with_styles,
)


def plot_zero_fractions(
    rounds: FloatArray,
    zero_fractions: Mapping[str, FloatArray],
    *,
    window: int = 1,
    ax: Axes | None = None,
) -> Figure:
    """Draw the share of examples of weight zero over the rounds. [LS14, Fig. 1]

    A curve is the mean of the last ``window`` rounds, or of as many as there are. A spike in the
    first rounds that would squeeze the rest leaves the frame, and the title names its height.
    """
    rounds = check_vector("rounds", rounds)
    check_integer("window", window, least=1)
    zero_fractions = {
        name: _running_mean(curve, window)
        for name, curve in as_curves("zero_fractions", zero_fractions, rounds.size).items()
    }
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(zero_fractions.items()):
        ax.plot(rounds, 100 * curve, **style)
    ax.set(xlabel="round", ylabel="examples of weight zero (%)")
    later = 100 * max((max(curve[5:], default=0.0) for curve in zero_fractions.values()), default=0)
    spikes = {name: 100 * max(curve, default=0.0) for name, curve in zero_fractions.items()}
    out = [
        f"{name}: {height:.0f} %" for name, height in spikes.items() if height > 1.25 * later > 0
    ]
    if out:
        ax.set_ylim(top=1.1 * later)
        ax.text(
            0.02,
            0.98,
            f"↑ first rounds, {', '.join(out)}",
            transform=ax.transAxes,
            va="top",
            fontsize="small",
        )
    ax.set_ylim(bottom=-2.0)  # a curve at zero is visible
    ax.legend(frameon=False)
    return figure


def _running_mean(curve: FloatArray, window: int) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(curve)])
    ends = np.arange(1, curve.size + 1)
    starts = np.maximum(ends - window, 0)
    return np.asarray((sums[ends] - sums[starts]) / (ends - starts))


def plot_cumulative_margins(
    thetas: FloatArray, shares: Mapping[str, FloatArray], *, ax: Axes | None = None
) -> Figure:
    """Draw the share of examples with at most each margin. [LS14, Fig. 2]"""
    thetas = check_vector("thetas", thetas)
    shares = as_curves("shares", shares, thetas.size)
    figure, ax = new_axes(ax)
    for _, curve, style in with_styles(shares.items()):
        ax.step(thetas, 100 * curve, where="post", **style)
    ax.axvline(0.0, color="0.6", linewidth=0.8)
    ax.set_xlim(*_moving_range(thetas, list(shares.values())))
    ax.set_ylim(0.0, 100.0)
    ax.set(xlabel="margin θ", ylabel="examples with margin ≤ θ (%)")
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


def plot_importances(
    importances: npt.ArrayLike, names: Sequence[str], *, n_features: int = 20
) -> Figure:
    """Draw the largest importances, largest first, and the sum of the rest.

    Examples
    --------
    >>> figure = plot_importances([0.2, 0.0, 0.8], ["age", "sex", "income"])
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['income', 'age']
    """
    check_integer("n_features", n_features, least=1)
    names = check_titles(names)
    shares = as_floats("importances", importances)
    if shares.shape != (len(names),):
        raise ValueError(
            f"importances must be one for each of {len(names)} names; got shape {shares.shape}"
        )
    order = np.argsort(-shares, kind="stable")
    used = order[shares[order] > 0]
    top, rest = used[:n_features], used[n_features:]
    labels = [shown_name(names[j]) for j in top]
    lengths = shares[top].tolist()
    if rest.size:
        labels.append(f"{rest.size:,} more")
        lengths.append(float(shares[rest].sum()))
    figure, axes = new_axes(size=(5.2, 0.9 + 0.24 * max(len(labels), 1)))
    colours = ["0.45"] * top.size + ["0.8"] * (len(labels) - top.size)
    axes.barh(range(len(labels)), lengths, color=colours, edgecolor="black", linewidth=0.6)
    axes.set_yticks(range(len(labels)), labels, fontsize="small")
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlabel("share of all edges", fontsize="small")
    axes.grid(visible=False, axis="y")
    return figure


def plot_calibration(
    probabilities: npt.ArrayLike,
    came_true: npt.ArrayLike,
    *,
    n_bins: int = 10,
    label: str = "the class",
) -> Figure:
    """Draw the share of examples of a class over the mean probability that it was given.

    Examples are grouped by probability, as many in each group; equal probabilities stay in one
    group. Bars are 95 % intervals (Wilson). Where most of them cross the diagonal, the
    probabilities are calibrated. Below is the number of examples at each probability.

    Examples
    --------
    >>> figure = plot_calibration([0.1, 0.1, 0.9, 0.9], [False, False, True, True], n_bins=2)
    >>> figure.axes[0].get_xlabel(), len(figure.axes)
    ('', 2)
    """
    check_integer("n_bins", n_bins, least=1)
    p = check_vector("probabilities", probabilities)
    if not p.size:
        raise ValueError("probabilities must not be empty")
    check_range("probabilities", p, 0.0, 1.0)
    hits = as_floats("came_true", came_true)
    if hits.shape != p.shape or not np.isin(hits, (0, 1)).all():
        raise ValueError(
            f"came_true must be truth values of shape {p.shape}; got {shown(came_true)}"
        )
    hits = hits == 1
    order = np.argsort(p, kind="stable")
    starts = np.unique(p[order], return_index=True)[1]
    bounds = starts[np.unique(starts * n_bins // p.size, return_index=True)[1]]
    sizes = np.diff(np.append(bounds, p.size))
    means = np.add.reduceat(p[order], bounds) / sizes
    shares = np.add.reduceat(hits[order].astype(np.float64), bounds) / sizes
    z = 1.96  # Wilson's interval: it stays within [0, 1] and is not empty at its ends
    centre = (shares + z * z / (2 * sizes)) / (1 + z * z / sizes)
    reach = (
        z * np.sqrt(shares * (1 - shares) / sizes + (z / (2 * sizes)) ** 2) / (1 + z * z / sizes)
    )

    figure = new_figure((4.6, 5.2))
    above, below = (new_axes(ax)[1] for ax in figure.subplots(2, sharex=True, height_ratios=(4, 1)))
    above.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--")
    above.vlines(means, centre - reach, centre + reach, color="0.5", linewidth=1.0)
    above.plot(means, shares, color="black", marker="o", markersize=4, linewidth=1.2)
    above.set_xlim(-0.02, 1.02)
    above.set_ylim(-0.02, 1.02)
    name = shown_name(as_title(label))
    above.set_ylabel(f"share of {name}")
    below.hist(p, bins=[k / 20 for k in range(21)], color="0.75", edgecolor="0.4", linewidth=0.5)
    below.set(xlabel=f"probability of {name}", ylabel="examples")
    return figure
