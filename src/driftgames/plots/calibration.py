"""Reliability: how often a class comes true where it was given a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_fractions, check_integer
from driftgames.plots.style import new_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    from matplotlib.figure import Figure

    check_integer("n_bins", n_bins, least=1)
    p = check_fractions("probabilities", probabilities)
    hits = np.asarray(came_true, dtype=bool)
    if hits.shape != p.shape:
        raise ValueError(f"came_true must have the shape {p.shape}; got {hits.shape}")
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

    figure = Figure(figsize=(4.6, 5.2), layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(4, 1))
    _, above = new_axes(figure.add_subplot(grid[0]))
    _, below = new_axes(figure.add_subplot(grid[1], sharex=above))
    above.plot([0, 1], [0, 1], color="0.6", linewidth=0.8, linestyle="--")
    above.vlines(means, centre - reach, centre + reach, color="0.5", linewidth=1.0)
    above.plot(means, shares, color="black", marker="o", markersize=4, linewidth=1.2)
    above.set_xlim(-0.02, 1.02)
    above.set_ylim(-0.02, 1.02)
    above.set_ylabel(f"share of {label}")
    above.tick_params(labelbottom=False)
    below.hist(p, bins=[k / 20 for k in range(21)], color="0.75", edgecolor="0.4", linewidth=0.5)
    below.set_xlabel(f"probability of {label}")
    below.set_ylabel("examples")
    return figure
