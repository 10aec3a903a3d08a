"""Pictures of predicted distributions: the density of one row, intervals of several."""

import numpy as np
import pytest
from scipy import stats

from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution
from driftgames.plots.distributions import plot_density, plot_intervals

INNER = np.clip(LEVELS, 0.0001, 0.9999)


def normal(middles, widths):
    quantiles = np.outer(widths, stats.norm.ppf(INNER)) + np.asarray(middles)[:, None]
    return PredictedDistribution(LEVELS, quantiles)


def heights(ax):
    values, edges, _ = ax.patches[0].get_data()
    return values, edges


def test_the_density_of_one_row_has_an_area_of_one_and_its_shape():
    (ax,) = normal([5.0], [2.0]).plot().axes
    values, edges = heights(ax)
    assert (values * np.diff(edges)).sum() == pytest.approx(0.996, abs=1e-6)
    middles = (edges[1:] + edges[:-1]) / 2
    np.testing.assert_allclose(values, stats.norm(5, 2).pdf(middles), atol=0.01)
    lines = sorted(line.get_xdata()[0] for line in ax.lines)
    np.testing.assert_allclose(lines, stats.norm(5, 2).ppf([0.05, 0.5, 0.95]), atol=1e-6)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["median 5", "90 %: 1.71 to 8.29"]
    assert ax.get_ylim()[0] == 0.0


def test_a_certain_row_has_no_density():
    (ax,) = plot_density(LEVELS, np.full(LEVELS.size, 3.0)).axes
    assert not ax.patches
    assert [line.get_xdata()[0] for line in ax.lines] == [3.0, 3.0, 3.0]


def test_an_atom_is_drawn_with_all_of_its_probability():
    """Half of the probability is at zero, as of amounts that are often nothing."""
    quantiles = np.maximum(LEVELS - 0.5, 0.0)
    values, edges = heights(plot_density(LEVELS, quantiles).axes[0])
    areas = values * np.diff(edges)
    assert areas[0] == pytest.approx(0.5, abs=0.03)
    assert areas.sum() == pytest.approx(1.0, abs=0.01)


def test_intervals_stand_in_the_order_of_medians():
    rows = normal([3.0, 1.0, 2.0], [1.0, 2.0, 0.5])
    (ax,) = rows.plot().axes
    most, half = (np.array(each.get_segments())[:, :, 1] for each in ax.collections)
    order = [1, 2, 0]
    np.testing.assert_allclose(most, rows.interval(0.9)[order])
    np.testing.assert_allclose(half, rows.interval(0.5)[order])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [1.0, 2.0, 3.0], atol=1e-9)
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"90 %", "50 %", "median"}
    assert ax.get_title(loc="left") == ""


def test_of_many_rows_some_are_drawn_and_it_says_so():
    rows = normal(np.random.default_rng(0).permutation(1234), np.ones(1234))
    (ax,) = rows.plot().axes
    drawn = ax.lines[0].get_ydata()
    assert drawn.size == 40
    assert drawn[[0, -1]].tolist() == pytest.approx([0, 1233])
    assert (np.diff(drawn) > 0).all()
    assert ax.get_title(loc="left") == "40 of 1,234 rows"


def test_both_are_drawn_on_axes_that_are_given():
    for rows in (normal([0.0], [1.0]), normal([0.0, 1.0], [1.0, 1.0])):
        figure = normal([2.0], [1.0]).plot()
        assert rows.plot(ax=figure.axes[0]) is figure
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="quantiles must"):
        plot_density(LEVELS, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"half must be of shape \(2, 2\); got shape \(2,\)"):
        plot_intervals([0.0, 1.0], [0.0, 1.0], np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"most must be of shape \(2, 2\); got shape \(3, 2\)"):
        plot_intervals([0.0, 1.0], np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(ValueError, match="median must"):
        plot_intervals([np.nan, 1.0], np.zeros((2, 2)), np.zeros((2, 2)))
