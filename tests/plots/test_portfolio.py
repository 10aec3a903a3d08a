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


def test_dates_are_on_the_axis_with_or_without_the_start():
    dates = np.array(["2020-01-31", "2020-02-29", "2020-03-31"], dtype="datetime64[D]")
    for when, curve in ((dates, [1.0, 2.0, 3.0]), (dates[1:], [2.0, 3.0])):
        (ax,) = plot_wealth({"a": np.array([2.0, 3.0])}, dates=when).axes
        (line,) = ax.get_lines()
        assert list(line.get_xdata()) == list(when)
        assert list(line.get_ydata()) == curve
        assert ax.get_xlabel() == ""
