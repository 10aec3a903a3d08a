"""Figures from plain arrays. No function here knows a learner, so every learner can use them.

Matplotlib is imported when the first figure is drawn.
"""

from driftgames.plots.boosting import (
    plot_calibration,
    plot_cumulative_margins,
    plot_importances,
    plot_zero_fractions,
)
from driftgames.plots.portfolio import plot_wealth
from driftgames.plots.regret import (
    plot_coverage,
    plot_epsilon_regret,
    plot_pulls,
    plot_regret_bands,
    plot_regret_over_time,
    plot_time_per_round,
    plot_weights,
)
from driftgames.plots.shapes import plot_shapes
from driftgames.plots.style import save_figure

__all__ = [
    "plot_calibration",
    "plot_coverage",
    "plot_cumulative_margins",
    "plot_epsilon_regret",
    "plot_importances",
    "plot_pulls",
    "plot_regret_bands",
    "plot_regret_over_time",
    "plot_shapes",
    "plot_time_per_round",
    "plot_wealth",
    "plot_weights",
    "plot_zero_fractions",
    "save_figure",
]
