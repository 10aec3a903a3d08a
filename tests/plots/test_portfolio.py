"""The figure of wealth."""

import numpy as np

from driftgames.plots.portfolio import plot_wealth


def test_every_curve_begins_with_a_wealth_of_one():
    figure = plot_wealth(
        {"a": np.array([2.0, 3.0]), "b": np.array([0.5, 0.25])}, best=("best", 4.0)
    )
    (ax,) = figure.axes
    curves = {line.get_label(): line for line in ax.get_lines()}
    assert list(curves) == ["a", "b", "best"]
    assert list(curves["a"].get_ydata()) == [1.0, 2.0, 3.0]
    assert list(curves["b"].get_xdata()) == [0, 1, 2]
    assert set(curves["best"].get_ydata()) == {4.0}
    assert ax.get_yscale() == "log"
    assert "wealth" in ax.get_ylabel()
