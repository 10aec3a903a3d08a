"""Monotonic constraints of regressors: no prediction steps the other way."""

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTRegressor


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = 2 * X[:, 0] - X[:, 1] ** 2 + rng.normal(size=300) * 1.5
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def steps(booster, X, feature):
    """Return how means and quantiles change from value to value of one feature."""
    predictions = []
    for value in np.linspace(-3.0, 3.0, 30):
        rows = np.nan_to_num(X[:30])
        rows[:, feature] = value
        seen = booster.predict_distribution(rows)
        predictions.append(np.column_stack([seen.mean(), seen.ppf([0.1, 0.5, 0.9])]))
    return np.diff(predictions, axis=0)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("size", [{"max_leaves": 8, "n_stages": 3}, {"max_leaves": 2}])
def test_no_prediction_steps_the_other_way(examples, direction, size):
    X, y = examples
    free = NHBoostDTRegressor(40, **size).fit(X, direction * y)
    bound = NHBoostDTRegressor(40, monotonic_cst=[direction, 0, 0], **size).fit(X, direction * y)
    assert (direction * steps(free, X, 0)).min() < 0
    taken = direction * steps(bound, X, 0)
    assert taken.min() >= -1e-12
    assert taken.max() > 0
    assert (steps(bound, X, 1) > 0).any()
    assert (steps(bound, X, 1) < 0).any()


def test_a_constraint_that_the_outcome_does_not_meet_leaves_no_step(examples):
    X, y = examples
    bound = NHBoostDTRegressor(40, max_leaves=2, n_stages=1, monotonic_cst=[-1, 0, 0]).fit(X, y)
    assert steps(bound, X, 0).max() <= 1e-12
