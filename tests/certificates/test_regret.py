import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.certificates import epsilon_regret, regret_curve
from driftgames.certificates.regret import quantile_rank

TOTALS = st.lists(st.floats(-50, 50), min_size=1, max_size=30)


@given(totals=TOTALS, learner=st.floats(-50, 50), epsilon=st.floats(1e-3, 1))
def test_epsilon_regret_is_to_the_ceil_n_epsilon_th_best(totals, learner, epsilon):
    index = math.ceil(len(totals) * epsilon) - 1
    assert epsilon_regret(totals, learner, epsilon) == learner - sorted(totals)[index]


@given(n=st.integers(1, 3000), data=st.data())
def test_k_over_n_means_the_kth_best(n, data):
    k = data.draw(st.integers(1, n))
    assert quantile_rank(k / n, n) == k


@given(totals=TOTALS, learner=st.floats(-50, 50))
def test_curve_is_the_regret_at_every_k_over_n(totals, learner):
    curve = regret_curve(totals, learner)
    n = len(totals)
    expected = [epsilon_regret(totals, learner, k / n) for k in range(1, n + 1)]
    np.testing.assert_array_equal(curve.regret, expected)
    np.testing.assert_array_equal(curve.epsilons, [k / n for k in range(1, n + 1)])


def test_outside_the_unit_interval_the_regret_is_infinite():
    assert epsilon_regret([1.0], 2.0, 0.0) == math.inf
    assert epsilon_regret([1.0], 2.0, 1.0000001) == -math.inf
    for bad in (-3.0, math.nan, "0.5"):
        with pytest.raises(ValueError, match="epsilon must be a number >= 0; got"):
            epsilon_regret([1.0], 2.0, bad)
    with pytest.raises(ValueError, match="learner_loss must be a finite number"):
        epsilon_regret([1.0], math.nan, 0.5)


def test_regret_is_to_some_action():
    with pytest.raises(ValueError, match="action_losses must hold at least one action; got none"):
        epsilon_regret([], 1.0, 0.5)
    with pytest.raises(ValueError, match="action_losses must hold at least one action; got none"):
        regret_curve([], 1.0)


def test_prior_mass_takes_the_place_of_counting():
    curve = regret_curve([3.0, 1.0, 2.0], 5.0, prior=[0.5, 0.125, 0.375])
    assert curve.epsilons.tolist() == [0.125, 0.5, 1.0]
    assert curve.regret.tolist() == [4.0, 3.0, 2.0]
    with pytest.raises(ValueError, match="prior must sum to 1"):
        regret_curve([3.0, 1.0], 5.0, prior=[0.5, 0.2])


def test_actions_of_no_mass_have_no_epsilon():
    assert regret_curve([3.0, 1.0], 5.0, prior=[1.0, 0.0]).epsilons.tolist() == [1.0]
