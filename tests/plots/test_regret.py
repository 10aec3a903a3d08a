"""The figures of regret."""

import numpy as np
import pytest

from driftgames.plots import plot_epsilon_regret, plot_regret_over_time, plot_weights


def drawn(figure):
    (ax,) = figure.axes
    return ax, {line.get_label(): line for line in ax.get_lines()}


def height(line, x):
    """Return how high a line of steps is at ``x``; the value of a step ends at its right."""
    assert line.get_drawstyle() == "steps-pre"
    return line.get_ydata()[np.searchsorted(line.get_xdata(), x)]


@pytest.mark.parametrize("n", [1, 4, 50])
def test_every_epsilon_covers_its_interval(n):
    epsilons = np.arange(1, n + 1) / n
    regret = np.linspace(10.0, 1.0, n)
    figure = plot_epsilon_regret(epsilons, {"a": regret}, {"a": regret + 1.0})

    ax, lines = drawn(figure)
    for k in range(1, n + 1):
        for epsilon in ((k - 0.4) / n, k / n):
            assert height(lines["a"], epsilon) == regret[k - 1]
            assert height(lines["a, bound"], epsilon) == regret[k - 1] + 1.0
    assert (ax.get_xscale() == "log") == (n == 50)
    first, second = lines["a"].get_xdata()[:2]
    low, high = ax.transData.transform([(first, 0.0), (second, 0.0)])[:, 0]
    assert high - low > 10  # pixels: regret to the best action is more than a point


def test_a_bound_that_promises_nothing_is_not_drawn():
    _, lines = drawn(plot_epsilon_regret(np.ones(1), {"a": np.ones(1)}, {"a": np.full(1, np.inf)}))

    assert list(lines) == ["a"]


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    rounds, two = np.arange(1.0, 3.0), np.ones(2)
    figures = [
        plot_epsilon_regret(two / 2, {"_a": two}),
        plot_regret_over_time(rounds, {"_a": two}),
        plot_weights(rounds, np.ones((2, 1)), ["_a"]),
    ]

    for figure in figures:
        (text,) = figure.axes[0].get_legend().get_texts()
        assert text.get_text().strip() == "_a"


def test_curves_that_are_drawn_as_one_are_named_or_counted():
    p = np.tile([0.4, 0.3, 0.2, 0.1], (2, 1))
    for most, last in ((4, "d"), (3, "d"), (2, "the other 2")):
        ax, lines = drawn(plot_weights(np.arange(2.0), p, ["a", "b", "c", "d"], most=most))
        assert list(lines)[-1] == last
        assert sum(line.get_ydata()[0] for line in lines.values()) == pytest.approx(1.0)
    assert ax.get_ylim()[1] < 0.5  # small weights fill the axes


def test_a_bound_that_is_known_at_the_end_alone_is_a_point():
    bound = np.array([np.nan, np.nan, 3.0])
    _, lines = drawn(plot_regret_over_time(np.arange(1.0, 4.0), {"a": np.zeros(3)}, {"a": bound}))
    assert lines["a, bound"].get_marker() == "o"
