"""Figures from plain arrays. Nothing here knows a learner, so that any of them may draw.

Matplotlib is imported when the first figure is drawn.
"""

from driftgames.plots.regret import plot_epsilon_regret, plot_regret_over_time, plot_weights
from driftgames.plots.style import save_figure

__all__ = ["plot_epsilon_regret", "plot_regret_over_time", "plot_weights", "save_figure"]
