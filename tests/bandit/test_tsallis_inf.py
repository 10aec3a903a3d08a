"""Tsallis-INF: its weights are exact."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames._kernels.bandit_tsallis import pick, solve
from driftgames.bandit import BernoulliArms, TsallisINF


def exact_weights(estimates, rate):
    """Solve for x with 40 digits, by bisection."""
    with mp.workdps(40):
        losses = [mp.mpf(float(each)) for each in estimates]
        eta, best, n = mp.mpf(float(rate)), mp.mpf(float(min(estimates))), len(estimates)

        def weights(u):
            return [4 / (eta * (each - best + u)) ** 2 for each in losses]

        low, high = 2 / eta, 2 * mp.sqrt(n) / eta
        for _ in range(140):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(weights(middle)) > 1 else (low, middle)
        return np.array([float(each) for each in weights(low)])


CASES = [
    [0.0],
    [0.0, 0.0, 0.0],
    [0.0, 1e-9, 1.0],
    [5.0, 5.0, 5.0 + 1e-12],
    [0.0, 1e8],
    [1e12, 1e12 + 3.0, 2e12],
    list(np.linspace(0, 3000, 60)),
    [0.0] + [1e5] * 99,
]


@pytest.mark.parametrize("estimates", CASES, ids=lambda each: f"{len(each)} arms")
@pytest.mark.parametrize("rate", [2.0, 0.02, 2e-4])
@pytest.mark.parametrize("start", [0.0, 1e9])
def test_weights_equal_those_of_40_digits_to_1e12(estimates, rate, start):
    p = np.empty(len(estimates))
    solve(np.array(estimates), rate, start, p)
    np.testing.assert_allclose(p, exact_weights(estimates, rate), rtol=1e-12)
    assert abs(p.sum() - 1) < 1e-12


@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.floats(1e-4, 2.0),
    st.floats(0, 1e4),
)
def test_weights_sum_to_one_and_fall_with_the_estimate(estimates, rate, start):
    losses, p = np.array(estimates), np.empty(len(estimates))
    reached = solve(losses, rate, start, p)
    assert abs(p.sum() - 1) < 1e-12
    assert 2 * (1 - 1e-12) <= reached <= 2 * np.sqrt(losses.size) * (1 + 1e-12)
    root = 2 / (rate * (losses - losses.min()) + reached)
    np.testing.assert_allclose(p, root**2, rtol=1e-10)
    assert np.all(np.diff(p[np.argsort(losses)]) <= 1e-18)


def test_the_rate_falls_as_two_over_the_root_of_the_round():
    policy = TsallisINF(3, random_state=0)
    losses = np.array([0.9, 0.5, 0.1])
    for t in range(1, 50):
        expected = exact_weights(policy.estimates, 2 / np.sqrt(t))
        np.testing.assert_allclose(policy.distribution(), expected, rtol=1e-12)
        arm, prob = policy.pull()
        policy.update(arm, losses[arm], prob)


def test_a_uniform_number_at_the_edge_draws_an_arm_with_weight():
    p = np.array([0.25, 0.75 - 1e-16, 0.0])
    assert pick(p, np.nextafter(1.0, 0.0)) == 1
    assert pick(np.array([0.0, 1.0]), 0.0) == 1


def test_a_million_rounds_stay_finite_and_find_the_best_arm():
    policy = TsallisINF(5, random_state=0)
    losses = BernoulliArms.with_gap(5, 0.2).losses(1, 250_000, np.random.default_rng(0))
    for _ in range(4):
        run = policy.run(losses, points=1)
    p = policy.distribution()
    assert np.isfinite(policy.estimates).all()
    assert abs(p.sum() - 1) < 1e-12
    assert run.pulls[0] > 0.99 * 250_000


def test_arms_cannot_come_or_go():
    assert not hasattr(TsallisINF, "add_arm")
