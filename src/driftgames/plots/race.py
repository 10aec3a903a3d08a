"""The race of sizes as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from driftgames.core.typing import Axes, Figure
from driftgames.plots.style import Style, caption, legend_beside, new_axes, with_styles

Trials = Sequence[tuple[int, int, float, float, str]]


def plot_race(trials: Trials, *, ax: Axes | None = None) -> Figure:
    """Draw the held-out log-loss of each size over the number of rounds.

    ``trials`` hold leaves, rounds, log-loss, the standard error of its difference from the chosen
    trial, and the outcome. Bars are that standard error; a ring marks the chosen trial.
    """
    from matplotlib.ticker import LogLocator

    figure, ax = new_axes(ax, size=(7.5, 3.8))
    sizes: dict[int, list[tuple[int, float, float]]] = {}
    for leaves, n_rounds, loss, error, outcome in trials:
        sizes.setdefault(leaves, []).append((n_rounds, loss, error))
        if outcome == "chosen":
            ring: Style = {"markersize": 12, "markeredgewidth": 1.5, "color": "#1b1b1b"}
            ax.plot(n_rounds, loss, "o", fillstyle="none", label="chosen", linestyle="", **ring)
    named = [(f"{leaves} leaves", curve) for leaves, curve in sizes.items()]
    for _, curve, style in with_styles(named):
        rounds, losses, errors = zip(*curve, strict=True)
        ax.errorbar(rounds, losses, errors, capsize=3, **style)
    ticks = sorted({trial[1] for trial in trials})
    ax.set_xscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    ax.set(xlabel="rounds", ylabel="held-out log-loss")
    caption(ax, "Bars: one standard error of the difference from the chosen size")
    legend_beside(ax)
    return figure
