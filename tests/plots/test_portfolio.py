"""The figure of wealth."""

import numpy as np
import pytest

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


@pytest.mark.parametrize(("low", "high"), [(0.97, 1.3), (0.5, 3.0), (1.0, 300.0), (1e-3, 1e9)])
def test_the_logarithmic_axis_has_labels(low, high):
    figure = plot_wealth({"a": np.array([low, high])})
    (ax,) = figure.axes
    figure.draw_without_rendering()
    bottom, top = ax.get_ylim()
    ticks = zip(ax.get_yticks(), ax.get_yticklabels(), strict=True)
    labels = [label.get_text() for at, label in ticks if bottom <= at <= top]
    assert 3 <= len(labels) <= 14
    assert all(labels)


@pytest.mark.parametrize("start_is_known", [True, False])
def test_dates_stand_on_the_axis(start_is_known):
    dates = np.array(["2020-01-31", "2020-02-29", "2020-03-31"], dtype="datetime64[s]")
    wealth = {"a": np.ones(2 if start_is_known else 3)}
    figure = plot_wealth(wealth, dates=dates)
    (ax,) = figure.axes
    when = ax.get_lines()[0].get_xdata()
    assert when[-1] == dates[-1]
    assert (when[0] == dates[0]) == start_is_known
    figure.draw_without_rendering()
    shown = [label.get_text() for label in ax.get_xticklabels()]
    assert any("Feb" in text for text in shown)
    assert ax.get_xlabel() == ""
