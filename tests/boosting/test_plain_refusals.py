"""What a person may pass by mistake: missing labels of pandas, weights that are no numbers."""

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier

X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def fit(y=Y, **settings):
    return NHBoostDTClassifier(5, max_leaves=2).fit(X, y, **settings)


@pytest.mark.parametrize(
    "labels",
    [
        pd.array([1, 0, pd.NA] * 20, dtype="Int64"),
        pd.Series([1, 0, pd.NA] * 20, dtype="Int64"),
        np.array([1.0, 0.0, np.nan] * 20),
        pd.Series(["a", "b", None] * 20),
    ],
)
def test_a_missing_label_is_named_by_its_row(labels):
    with pytest.raises(ValueError, match=r"y must not hold missing labels; got .* at index 2$"):
        fit(labels)


@pytest.mark.parametrize(
    "weights",
    [
        ["1"] * 60,
        np.array(["1"] * 60),
        pd.Series(["1"] * 60),
        pd.date_range("2020-01-01", periods=60),
        np.ones(60, dtype="timedelta64[s]"),
        np.ones(60) * 1j,
    ],
)
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(ValueError, match="sample_weight must be numbers; got"):
        fit(sample_weight=weights)


@pytest.mark.parametrize("weights", [2, 0.5, [1] * 60, pd.Series(np.ones(60)), np.ones(60, bool)])
def test_usual_weights_are_those_of_a_fit_without_them(weights):
    found = fit(sample_weight=weights).decision_function(X)
    np.testing.assert_array_equal(found, fit().decision_function(X))
