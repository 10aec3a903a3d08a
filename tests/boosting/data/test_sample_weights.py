"""What examples count: ratios if they are integers, else fractions of their sum."""

from fractions import Fraction

import numpy as np
import pytest

from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.data.sample_weights import SampleWeights, exact_sum


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0.1, 0.2, 0.4], [1, 2, 4]),
        ([3e-310, 6e-310], [1, 2]),
        ([1e308, 1e308], [1, 1]),
        ([2.0, 3.0], [2, 3]),
    ],
)
def test_integer_ratios_are_counted(weights, expected):
    found = SampleWeights.of(np.array(weights))
    assert found.integer_weights
    assert found.of_each.tolist() == expected


@pytest.mark.parametrize("scale", [1.0, 2.0**-1000, 2.0**1020])
def test_other_weights_are_shares_at_any_scale(scale):
    weights = np.array([1.0, np.sqrt(2.0), np.pi])
    found = SampleWeights.of(weights * scale)
    assert not found.integer_weights
    np.testing.assert_allclose(found.of_each / 2.0**52, weights / weights.sum(), rtol=1e-14)


@pytest.mark.parametrize(
    "weights", [[1e-300, 1e300, 1e300], [1e-18, 1.0, np.pi], [5e-324, 1.7e308]]
)
def test_the_least_weight_counts_for_something(weights):
    found = SampleWeights.of(np.array(weights))
    assert not found.integer_weights
    assert found.of_each[0] == 1
    assert 2**52 - 2 <= found.of_each.sum() <= 2**52 + 2


@pytest.mark.parametrize("weights", [[1.7e308, 1.6e308], [1e-300, 1e300]])
def test_weights_as_far_apart_as_floats_go_can_be_fitted(weights):
    X = np.arange(20.0)[:, None]
    y = X[:, 0] > 12
    booster = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(
        X, y, sample_weight=np.resize(weights, 20)
    )
    assert booster.score(X, y) == 1.0


def test_exact_sums_of_parts_add_up():
    weights = np.append(np.random.default_rng(0).lognormal(sigma=9.0, size=50), [5e-324, 1e308])
    parts = [exact_sum(weights[k::3]) for k in range(3)]
    assert sum(parts) == exact_sum(weights) == sum(map(Fraction, weights.tolist()))
