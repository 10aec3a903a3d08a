"""The figures of bandits."""

import numpy as np

from driftgames.plots import plot_pulls, plot_regret_bands


def test_a_bound_far_above_the_curves_is_named_with_its_end():
    rounds, games = np.arange(1, 4), np.array([[1.0, 2.0, 3.0]])
    bounds = {"a": np.array([2.0, 4.0, 6.0]), "b": np.array([50.0, 90.0, 1234.0])}
    (ax,) = plot_regret_bands(rounds, {"a": games, "b": games}, bounds).axes
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["a", "a, bound", "b", "b, bound ↑ 1,234"]
    assert ax.get_ylim()[1] < 50.0


def test_arms_that_are_drawn_as_one_are_counted():
    (ax,) = plot_pulls(np.array([0, 0, 1, 2, 3], dtype=np.int32), list("abcd"), most=2).axes
    counts = {line.get_label(): line.get_ydata()[-1] for line in ax.get_lines()}
    assert counts == {"a": 2, "b": 1, "the other 2": 2}
