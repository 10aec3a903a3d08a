"""The race of sizes as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from driftgames.core.typing import Axes, Figure
from driftgames.plots.style import new_axes, with_styles

Trials = Sequence[tuple[int, int, float, float, str]]


def plot_race(trials: Trials, *, ax: Axes | None = None) -> Figure:
    """Draw the held-out log-loss of each size over the number of rounds.

    ``trials`` hold leaves, rounds, log-loss, the standard error of its difference from the chosen
    trial, and the outcome. Bars are one standard error; a ring marks the chosen trial.
    """
    figure, ax = new_axes(ax)
    sizes: dict[int, list[tuple[int, float, float]]] = {}
    for leaves, n_rounds, loss, error, outcome in trials:
        sizes.setdefault(leaves, []).append((n_rounds, loss, error))
        if outcome == "chosen":
            ax.plot(n_rounds, loss, "o", markersize=12, fillstyle="none", color="0.3")
    named = [(f"{leaves} leaves", curve) for leaves, curve in sizes.items()]
    for _, curve, style in with_styles(named):
        rounds, losses, errors = zip(*curve, strict=True)
        ax.errorbar(rounds, losses, errors, capsize=3, **style)
    ticks = sorted({trial[1] for trial in trials})
    ax.set_xscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set(xlabel="rounds", ylabel="log-loss on examples held out")
    ax.legend(frameon=False)
    return figure
