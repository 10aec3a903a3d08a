"""Tsallis-INF: its weights are exact, and its estimates those of the theorem."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.bandit import BernoulliArms, TsallisINF
from driftgames.bandit.engines.tsallis_engine import solve
from driftgames.certificates.bounds.bandits import tsallis_inf_stochastic
from driftgames.potentials import NoBoundError


def exact_weights(estimates, rate):
    """Solve for x with 40 digits, by Newton's steps from the left of a convex, falling sum."""
    with mp.workdps(40):
        eta, best = mp.mpf(float(rate)), mp.mpf(float(min(estimates)))
        gaps = [mp.mpf(float(each)) - best for each in estimates]
        u, excess = 2 / eta, 1
        while excess > mp.mpf(10) ** -36:
            weights = [4 / (eta * (gap + u)) ** 2 for gap in gaps]
            excess = sum(weights) - 1
            u += excess / sum(2 * w / (gap + u) for w, gap in zip(weights, gaps, strict=True))
        assert abs(excess) < mp.mpf(10) ** -36
        return np.array([float(each) for each in weights])


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


# -------------------------------------------------------------------- reduced variance


def test_reduced_variance_expects_half_a_loss_of_arms_that_are_likely_enough():
    policy = TsallisINF(4, reduced_variance=True, random_state=0)
    losses = np.array([0.0, 0.6, 1.0, 1.0])
    seen = set()
    for t in range(1, 400):
        p, before = policy.distribution(), policy.estimates
        if t % 50 == 0:
            np.testing.assert_allclose(p, exact_weights(before, 4 / np.sqrt(t)), rtol=1e-11)
        arm, prob = policy.pull()
        policy.update(arm, losses[arm], prob)
        expected = np.where(p >= 16 / t, 0.5, 0.0)
        seen |= {*expected}
        estimate = expected.copy()
        estimate[arm] += (losses[arm] - expected[arm]) / prob
        np.testing.assert_allclose(policy.estimates - before, estimate, rtol=1e-9, atol=1e-9)
    assert seen == {0.0, 0.5}


def test_a_late_loss_is_estimated_without_an_expectation():
    policy = TsallisINF(2, reduced_variance=True, random_state=0)
    policy.run(np.full((200, 2), 0.5))
    early, late = policy.pull(), policy.pull()
    before = policy.estimates
    for arm, prob in (late, early):
        expected = before.copy()
        expected[arm] += 0.25 / prob
        policy.update(arm, 0.25, prob)
        np.testing.assert_allclose(policy.estimates, expected, rtol=1e-14)
        before = policy.estimates
    arm, prob = policy.pull()  # no other pull waits: the expectation is back
    policy.update(arm, 0.25, prob)
    assert (policy.estimates[1 - arm] - before[1 - arm]) == pytest.approx(0.5)


def test_the_variance_of_the_estimates_is_a_quarter_where_losses_are_at_the_ends():
    rng, spread = np.random.default_rng(0), {}
    for reduced in (False, True):
        policy = TsallisINF(2, reduced_variance=reduced, random_state=0)
        policy.run((rng.random((2000, 2)) < 0.5).astype(float))
        changes = []
        for _ in range(8000):
            twin = policy.copy()
            arm, prob = twin.pull(rng)
            twin.update(arm, 1.0, prob)
            changes.append((twin.estimates - policy.estimates)[0])
        p = policy.distribution()[0]
        spread[reduced] = np.var(changes) / ((1 - p) / p)
        assert np.mean(changes) == pytest.approx(1.0, abs=0.15)
    assert spread[False] == pytest.approx(1.0, abs=0.1)
    assert spread[True] == pytest.approx(0.25, abs=0.03)


def test_the_stochastic_bound_is_that_of_the_theorem_in_units_of_loss():
    policy = TsallisINF(3, reduced_variance=True, loss_range=(0, 10), random_state=0)
    expected = 10 * tsallis_inf_stochastic(1000, [0.0, 0.1, 0.2])
    assert policy.stochastic_bound(1000, [0.0, 1.0, 2.0]) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"there are 3 arms; got gaps of shape \(2,\)"):
        policy.stochastic_bound(1000, [0.0, 1.0])
    with pytest.raises(NoBoundError, match="reduced_variance=True"):
        TsallisINF(3).stochastic_bound(1000, [0.0, 0.1, 0.2])
    policy.pull()
    policy.pull()
    with pytest.raises(NoBoundError, match="come at once"):
        policy.stochastic_bound(1000, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("argument", ["reduced_variance", "adapt_to_delays"])
def test_variants_are_true_or_false_and_saved(argument, tmp_path):
    with pytest.raises(ValueError, match=f"{argument} must be True or False; got 1"):
        TsallisINF(3, **{argument: 1})
    policy = TsallisINF(3, **{argument: True}, random_state=0)
    policy.run(np.random.default_rng(0).random((50, 3)), delays=1)
    policy.save(tmp_path / "b.json")
    loaded = TsallisINF.load(tmp_path / "b.json")
    assert getattr(loaded, argument)
    losses = np.random.default_rng(1).random((50, 3))
    np.testing.assert_array_equal(loaded.run(losses).drawn, policy.run(losses).drawn)
    np.testing.assert_array_equal(loaded.estimates, policy.estimates)
