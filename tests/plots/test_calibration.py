import numpy as np
import pytest

from driftgames.boosting import NHBoostDTClassifier
from driftgames.plots import plot_calibration


def test_points_are_the_mean_probability_and_the_share_of_each_group():
    p = np.repeat([0.2, 0.4, 0.9], 10)
    hits = np.arange(30) % 5 < np.repeat([1, 2, 5], 10)
    above, below = plot_calibration(p[::-1], hits[::-1], n_bins=3, label="spam").axes
    np.testing.assert_allclose(
        above.get_lines()[1].get_xydata(), [[0.2, 0.2], [0.4, 0.4], [0.9, 1]]
    )
    bars = np.array(above.collections[0].get_segments())[:, :, 1]
    # statsmodels.stats.proportion.proportion_confint(2, 10, method="wilson")
    np.testing.assert_allclose(bars[0], [0.0567, 0.5098], atol=1e-4)
    assert below.get_xlabel() == "probability of spam"
    assert sum(patch.get_height() for patch in below.patches) == 30


def test_equal_probabilities_stay_in_one_group():
    figure = plot_calibration(np.repeat([0.1, 0.7], [9, 1]), [False] * 9 + [True], n_bins=5)
    assert len(figure.axes[0].get_lines()[1].get_xydata()) == 2


def test_a_probability_may_be_zero():
    above, _ = plot_calibration([0.0, 0.0, 1.0], [False, False, True]).axes
    np.testing.assert_array_equal(above.get_lines()[1].get_xydata(), [[0, 0], [1, 1]])


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"came_true must be truth values of shape \(2,\)"):
        plot_calibration([0.1, 0.2], [True])
    with pytest.raises(ValueError, match="probabilities must lie in"):
        plot_calibration([1.1], [True])


def test_a_booster_draws_its_own():
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = np.where(X[:, 0] + np.random.default_rng(1).normal(size=200) > 0, "up", "down")
    booster = NHBoostDTClassifier(10, max_leaves=2).fit(X[:100], y[:100])
    above, _ = booster.plot_calibration(X[100:], y[100:], n_bins=4).axes
    assert above.get_ylabel() == "share of up"
    wanted = plot_calibration(booster.predict_proba(X[100:])[:, 1], y[100:] == "up", n_bins=4)
    points = wanted.axes[0].get_lines()[1].get_xydata()
    np.testing.assert_array_equal(above.get_lines()[1].get_xydata(), points)
    assert points[0, 1] < 0.4
    assert points[-1, 1] > 0.6
    with pytest.raises(ValueError, match=r"label must be one of \['down', 'up'\]; got 'sideways'"):
        booster.plot_calibration(X, y, label="sideways")
