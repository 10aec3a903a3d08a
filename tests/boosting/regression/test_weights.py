"""Sample weights of a regressor that are no integers, or large ones."""

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTRegressor


def draw(n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X @ [2.0, 1.0, 0.0] + rng.normal(size=n), rng


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_fractional_weights_are_shares_at_any_scale(scale):
    """Nearly equal weights fit nearly what equal ones do: their prior counts examples too."""
    X, y, rng = draw()
    weights = scale * (1.0 + 1e-9 * rng.random(y.size))
    rows = {}
    for name, given in (("ones", None), ("fractions", weights)):
        booster = NHBoostDTRegressor(20, max_leaves=4, n_stages=1).fit(X, y, sample_weight=given)
        rows[name] = booster.predict_quantiles(X, [0.0, 0.1, 0.5, 0.9, 1.0])
    np.testing.assert_allclose(rows["fractions"], rows["ones"], atol=0.3)
    assert np.abs(rows["fractions"] - rows["ones"]).mean() < 0.02


def test_a_fractional_weight_moves_the_predictions():
    X, y, rng = draw()
    weights = np.where(X[:, 2] > 0, np.pi, 1.0) * rng.uniform(0.9, 1.1, y.size)
    moved = y + 3.0 * (X[:, 2] > 0)
    flat = NHBoostDTRegressor(20, max_leaves=2, n_stages=1)
    means = [flat.fit(X[:, :1], moved, sample_weight=w).predict(X[:, :1]) for w in (None, weights)]
    expected = [np.average(moved, weights=w) for w in (None, weights)]
    assert [each.mean() for each in means] == pytest.approx(expected, abs=0.4)
    assert means[1].mean() > means[0].mean() + 0.4
