import numpy as np
import pytest

from driftgames.plots.boosting import (
    plot_cumulative_margins,
    plot_importances,
    plot_zero_fractions,
)
from driftgames.plots.regret import plot_time_per_round
from driftgames.plots.shapes import plot_shapes


def styles(ax):
    return [line.get_linestyle() for line in ax.get_lines()]


def test_zero_fractions_are_drawn_in_per_cent_with_dashes_that_differ():
    rounds = np.arange(1.0, 4.0)
    figure = plot_zero_fractions(rounds, {"a": np.array([0, 0.1, 0.2]), "b": np.zeros(3)})

    (ax,) = figure.axes
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), [0, 10, 20])
    assert ax.get_ylabel().endswith("(%)")
    assert len(set(styles(ax))) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_margins_are_steps_that_include_their_end():
    thetas = np.array([-1.0, 0.0, 1.0])
    figure = plot_cumulative_margins(thetas, {"a": np.array([0.0, 0.5, 1.0])})

    (ax,) = figure.axes
    assert ax.get_lines()[0].get_drawstyle() == "steps-post"
    assert ax.get_xlim() == (-0.1, 0.1)
    assert ax.get_ylim() == (0.0, 100.0)


def test_the_axis_of_margins_spans_what_moves():
    thetas = np.linspace(-1, 1, 201)
    wide = plot_cumulative_margins(thetas, {"a": (thetas + 1) / 2})
    narrow = plot_cumulative_margins(thetas, {"a": np.clip(thetas * 4, 0, 1)})

    assert wide.axes[0].get_xlim() == (-1.0, 1.0)
    assert narrow.axes[0].get_xlim() == (-0.1, 0.3)
    assert plot_cumulative_margins(thetas, {"a": thetas * 0}).axes[0].get_xlim() == (-1.0, 1.0)


def test_time_is_drawn_in_microseconds_on_two_logarithmic_axes():
    figure = plot_time_per_round(np.array([10.0, 100.0]), {"a": np.array([1e-6, 1e-5])})

    (ax,) = figure.axes
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), [1, 10])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_a_figure_can_be_drawn_on_given_axes():
    from matplotlib.figure import Figure

    drawing = Figure()
    ax = drawing.add_subplot()

    assert plot_zero_fractions(np.ones(1), {"a": np.zeros(1)}, ax=ax) is drawing


@pytest.mark.parametrize(
    ("thresholds", "values", "names", "message"),
    [
        ([[0.5]], [[1, 2]], ["a", "b"], "must be as many; got 1, 1 and 2"),
        ([[0.5]], [[1]], ["a"], "a must have one value more than thresholds; got 1 values and 1"),
    ],
)
def test_steps_that_do_not_match_are_named(thresholds, values, names, message):
    with pytest.raises(ValueError, match=message):
        plot_shapes(thresholds, values, names)


def test_importances_must_have_names():
    with pytest.raises(ValueError, match=r"one for each of 1 names; got shape \(2,\)"):
        plot_importances([0.5, 0.5], ["a"])
