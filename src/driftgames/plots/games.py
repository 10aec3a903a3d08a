"""A game round by round: chips, weights and the average potential."""

from __future__ import annotations

import numpy as np

from driftgames.core.checks import as_floats, check_finite
from driftgames.core.typing import Figure, FloatArray
from driftgames.plots.style import caption, legend_beside, new_axes, new_figure, with_styles

_MOST = 6


def check_game(
    positions: FloatArray, p: FloatArray, potential_means: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Return the rounds of a game as arrays, or say which of them do not fit together."""
    positions, p = as_floats("positions", positions), as_floats("p", p)
    if p.ndim != 2 or not p.size:
        raise ValueError(f"p must have a row per round and a column per chip; got shape {p.shape}")
    rounds, chips = p.shape
    if positions.shape != (rounds + 1, chips):
        raise ValueError(
            f"positions must be of shape ({rounds + 1}, {chips}), one row more than p; "
            f"got shape {positions.shape}"
        )
    check_finite("positions", positions)
    check_finite("p", p)
    if potential_means is not None:
        potential_means = as_floats("potential_means", potential_means)
        if potential_means.shape != (rounds + 1,):
            raise ValueError(
                f"potential_means must be of shape ({rounds + 1},); "
                f"got shape {potential_means.shape}"
            )
    return positions, p, potential_means


def plot_game(
    positions: FloatArray, p: FloatArray, potential_means: FloatArray | None = None
) -> Figure:
    """Draw the positions of the chips, their probabilities and the average potential over rounds.

    ``positions`` has one row more than ``p``: the chips before the first round. The chips that end
    furthest left have colours, the others are grey.

    >>> figure = plot_game(np.zeros((3, 2)), np.full((2, 2), 0.5), np.ones(3))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['position s', 'probability p', 'average potential']
    """
    positions, p, potential_means = check_game(positions, p, potential_means)
    n_panels = 2 if potential_means is None else 3
    figure = new_figure((7.5, 2.3 * n_panels))
    panels = [new_axes(ax)[1] for ax in figure.subplots(n_panels, sharex=True)]
    rounds = np.arange(positions.shape[0])
    order = np.argsort(positions[-1], kind="stable")
    for i in order[_MOST:]:
        panels[0].plot(rounds, positions[:, i], color="0.75", linewidth=0.8)
        panels[1].plot(rounds[1:], p[:, i], color="0.75", linewidth=0.8)
    for _, i, style in with_styles((f"chip {i}", i) for i in order[:_MOST]):
        panels[0].plot(rounds, positions[:, i], **style)
        panels[1].plot(rounds[1:], p[:, i], **style)
    panels[0].axhline(0.0, color="0.6", linewidth=0.8)
    panels[0].set_ylabel("position s")
    panels[1].set_ylabel("probability p")
    legend_beside(panels[0])
    if potential_means is not None:
        panels[2].plot(rounds, potential_means, color="black", linewidth=1.2)
        panels[2].set_ylabel("average potential")
        rises = np.diff(potential_means) > 1e-9 * (1 + np.abs(potential_means[:-1]))
        caption(panels[2], "it rises" if rises.any() else "it never rises")
    panels[-1].set_xlabel("round")
    return figure
