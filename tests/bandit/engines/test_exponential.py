"""EXP3 and EXP3-IX: the sum tree, falling rates, arms that come and go, long games."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.bandit import BernoulliArms, Exp3IX, PotentialBandit
from driftgames.bandit.engines import exponential_engine as kernels
from driftgames.bandit.engines.exponential_engine import ExponentialEngine
from driftgames.bandit.engines.schedule import rate_at, sum_until
from driftgames.certificates.bounds import theorem_5, theorem_5_tuned
from driftgames.certificates.bounds.bandits import exp3_ix, exp3_scheduled, tsallis_inf
from driftgames.potentials import Exponential


def tree_of(weights):
    weights = np.asarray(weights, dtype=float)
    tree = np.zeros(2 * kernels.capacity(weights.size))
    tree[tree.size // 2 :][: weights.size] = weights
    kernels.sum_up(tree)
    return tree


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0, 1, exclude_max=True))
def test_the_tree_draws_as_a_cumulative_sum_does(weights, uniform):
    weights = np.array(weights)
    weights[weights < 1e-6] = 0.0
    if not weights.any():
        return
    chip = kernels.find(tree_of(weights), uniform)
    assert weights[chip] > 0
    heights = np.cumsum(weights) / weights.sum()
    below = heights[chip - 1] if chip else 0.0
    assert below - 1e-12 <= uniform <= heights[chip] + 1e-12


def test_a_chip_without_weight_is_never_drawn_even_at_the_edges():
    edge = np.nextafter(1.0, 0.0)
    for weights in ([0.0, 1.0], [1.0, 0.0], [0.1, 0.2, 0.0, 0.0, 0.0], [0.0] * 8 + [1e-300]):
        for uniform in (0.0, 0.5, edge):
            assert weights[kernels.find(tree_of(weights), uniform)] > 0
    # one in 250 of these would end beyond the last weight, by the rounding of the sums
    rng = np.random.default_rng(0)
    for _ in range(3000):
        weights = rng.random(40) ** 4 * (rng.random(40) > 0.3)
        assert weights[kernels.find(tree_of(weights), edge)] > 0


def test_a_changed_leaf_gives_the_tree_that_is_built_anew():
    rng = np.random.default_rng(0)
    weights = rng.random(37)
    tree = tree_of(weights)
    for _ in range(500):
        chip = int(rng.integers(37))
        weights[chip] = rng.random() ** 8
        kernels.set_leaf(tree, chip, weights[chip])
    np.testing.assert_array_equal(tree, tree_of(weights))


def test_weights_are_those_of_the_estimates_however_they_came_about():
    engine = ExponentialEngine(10, rate=0.7)
    rng = np.random.default_rng(1)
    for _ in range(5000):
        arm = int(rng.integers(10))
        engine.learn(arm, float(rng.random()), 0.1)
    p = np.exp(-0.7 * (engine.estimates - engine.estimates.min()))
    np.testing.assert_allclose(engine.distribution(), p / p.sum(), rtol=1e-10, atol=1e-200)
    assert engine.numbers[kernels.BASE] > 1000  # so the tree was built anew on the way


@pytest.mark.parametrize("make", [PotentialBandit, Exp3IX])
def test_ten_million_pulls_stay_finite_and_sum_to_one(make):
    policy = make(10, horizon=10**7, random_state=0)
    losses = BernoulliArms.with_gap(10, 0.3).losses(1, 200_000, np.random.default_rng(0))
    losses[:, 9] = 1.0  # an arm that loses every time
    for _ in range(50 if make is PotentialBandit else 5):
        policy.run(losses, points=1)
        assert abs(policy.distribution().sum() - 1) < 1e-12
    assert policy.t == 10**7 if make is PotentialBandit else 10**6
    assert np.isfinite(policy.estimates).all()
    assert policy.distribution()[0] > 0.99


def test_a_rate_of_one_and_losses_of_one_stay_finite():
    policy = PotentialBandit(3, horizon=1, epsilon=0.01, random_state=0)
    assert policy.eta == 1.0
    policy.run(np.ones((20_000, 3)))
    p = policy.distribution()
    assert np.isfinite(policy.estimates).all()
    assert abs(p.sum() - 1) < 1e-12


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), max_size=60))
def test_probabilities_sum_to_one_whatever_is_lost(history):
    policy = PotentialBandit(5, horizon=4)
    for arm, loss in history:
        prob = float(policy.distribution()[arm])
        if prob > 0:
            policy.watch(arm, loss, prob)
    p = policy.distribution()
    assert abs(p.sum() - 1) < 1e-12
    assert (p >= 0).all()


@pytest.mark.parametrize("make", [PotentialBandit, Exp3IX])
def test_without_a_horizon_the_rate_follows_the_schedule(make):
    policy = make(4, random_state=0)
    rates = []
    for _ in range(300):
        arm, prob = policy.pull()
        rates.append(policy._engine.rate)
        policy.update(arm, 0.5, prob)
    decay = math.sqrt(math.log(4) / 4)
    np.testing.assert_allclose(rates, rate_at(np.arange(1, 301), decay), rtol=1e-14)
    exact = decay / np.sqrt(np.arange(1, 301))
    assert np.all((rates >= exact * (1 - 1e-14)) & (rates <= 1.032 * exact))
    assert len(set(rates)) < 100


def test_a_rate_that_falls_weighs_all_arms_anew():
    policy = PotentialBandit(4, random_state=0)
    for t in range(1, 200):
        rate = policy.eta
        p = np.exp(-rate * (policy.estimates - policy.estimates.min()))
        np.testing.assert_allclose(policy.distribution(), p / p.sum(), rtol=1e-10)
        arm, prob = policy.pull()
        assert policy._engine.rate == pytest.approx(rate, rel=1e-15), t
        policy.update(arm, 0.25 * arm, prob)


def test_reading_the_distribution_changes_nothing():
    losses = np.random.default_rng(0).random((200, 4))
    drawn = []
    for reads in (False, True):
        policy, pulls = PotentialBandit(4, random_state=0), []
        for row in losses:
            if reads:
                policy.distribution()
            pulls.append(policy.pull())
            if reads:
                policy.distribution()
            policy.update(pulls[-1][0], row[pulls[-1][0]], pulls[-1][1])
        drawn.append(pulls)
    assert drawn[0] == drawn[1]


def test_the_tuned_rate_is_that_of_theorem_5():
    policy = PotentialBandit(10, horizon=10_000)
    expected = math.sqrt(2 * math.log(10) / (10_000 * (1 + 10 * math.sqrt(math.e))))
    assert policy.eta == pytest.approx(expected)
    for other in (0.5 * expected, 2 * expected):
        assert theorem_5(10_000, 0.1, 10, expected) < theorem_5(10_000, 0.1, 10, other)
    quarter = PotentialBandit(10, horizon=10_000, epsilon=0.25)
    assert quarter.eta < policy.eta
    assert quarter.bound(10_000, 0.25) <= theorem_5_tuned(10_000, 0.25, 10)


def test_epsilon_of_one_cannot_be_tuned_to():
    with pytest.raises(ValueError, match="below 1"):
        PotentialBandit(3, horizon=10, epsilon=1.0)


def test_bounds_name_what_is_wrong():
    for last, total in ((0.2, 0.1), (0.0, 1.0), (-0.1, 1.0), (0.1, math.nan), (0.1, math.inf)):
        with pytest.raises(ValueError, match="rates must be above 0 and among their sum; got"):
            exp3_scheduled(0.5, 2, last, total)
        with pytest.raises(ValueError, match="rates must be above 0"):
            exp3_ix(2, 0.1, last, total)


def test_bounds_are_those_of_their_papers():
    # ln(4) / 0.1 + 4 * 5 / 2, then (2 ln(4) + ln(20)) / 0.1 + 4 * 5 + ln(20), then 4 * 6 + 1
    assert exp3_scheduled(0.25, 4, 0.1, 5.0) == pytest.approx(23.862943611198906)
    assert exp3_ix(4, 0.1, 0.1, 5.0) == pytest.approx(80.67894223002561)
    assert tsallis_inf(9, 4) == 25.0


def test_the_sum_of_a_schedule_is_that_of_its_rounds():
    rates, rounds = rate_at(np.arange(1, 5001), 0.7), np.arange(1, 5001)
    np.testing.assert_allclose(sum_until(rounds, 0.7), np.cumsum(rates), rtol=1e-12)


@pytest.mark.parametrize("make", [PotentialBandit, Exp3IX])
def test_the_bound_of_any_horizon_needs_no_room_for_its_rounds(make):
    policy, horizon = make(10), 10**15
    rough = policy.bound(10**5, 0.1) * math.sqrt(horizon / 10**5)
    assert policy.bound(horizon, 0.1) == pytest.approx(rough, rel=0.03)
    assert make(10, horizon=horizon).bound(horizon, 0.1) < 2 * rough


# -------------------------------------------------------------------- arms that come and go


def test_a_new_arm_stands_at_zero():
    policy = PotentialBandit(3, horizon=100, random_state=0)
    policy.run(np.random.default_rng(0).random((50, 3)))
    before = policy.positions
    policy.add_arm("new")
    assert policy.arms == (0, 1, 2, "new")
    np.testing.assert_allclose(policy.positions, [*before, 0.0], atol=1e-12)
    weights = np.exp(-policy.eta * policy.positions)
    np.testing.assert_allclose(policy.distribution(), weights / weights.sum(), rtol=1e-10)


def test_a_new_arm_that_never_loses_is_found():
    policy = PotentialBandit(3, horizon=3000, random_state=0)
    policy.run(np.ones((1000, 3)))
    policy.add_arm("free")
    policy.run(np.tile([1.0, 1.0, 1.0, 0.0], (2000, 1)))
    assert policy.distribution()[3] > 0.9


def test_an_arm_that_leaves_takes_its_pulls_with_it():
    policy = PotentialBandit(names=["a", "b", "c"], horizon=100, random_state=0)
    pulls = [policy.pull() for _ in range(30)]
    before = dict(zip(policy.arms, policy.distribution(), strict=True))
    policy.remove_arm("b")
    assert policy.arms == ("a", "c")
    assert policy.pending == sum(arm != "b" for arm, _ in pulls)
    p = np.array([before["a"], before["c"]])
    np.testing.assert_allclose(policy.distribution(), p / p.sum())
    with pytest.raises(ValueError, match="there is no arm 'b'"):
        policy.update("b", 0.5, pulls[0][1])


def test_integer_arms_keep_their_names_when_one_leaves():
    policy = PotentialBandit(3, horizon=100, random_state=0)
    policy.remove_arm(0)
    assert policy.arms == (1, 2)
    arm, prob = policy.pull()
    policy.update(arm, 1.0, prob)
    assert policy.distribution()[policy.arms.index(arm)] < 0.5
    with pytest.raises(ValueError, match="there is no arm 0"):
        policy.update(0, 1.0, prob)


def test_the_bound_counts_all_arms_that_ever_were(tmp_path):
    policy = PotentialBandit(3, horizon=100)
    eta = policy.eta
    policy.add_arm("x")
    policy.remove_arm(0)
    assert policy.eta == eta
    # the best of three arms is one of four chips
    assert policy.bound(100, 1 / 3) == pytest.approx(theorem_5(100, 1 / 4, 4, eta))
    policy.save(tmp_path / "b.json")
    loaded = PotentialBandit.load(tmp_path / "b.json")
    assert loaded.arms == policy.arms
    assert loaded.bound(100, 0.25) == policy.bound(100, 0.25)


def test_a_run_with_fewer_arms_than_there_were_is_held_to_the_bound_of_all_chips():
    policy = PotentialBandit(100, horizon=1000, random_state=0)
    for arm in range(1, 99):
        policy.remove_arm(arm)
    run = policy.run(np.random.default_rng(0).random((1000, 2)))
    expected = theorem_5(1000, [1 / 100, 2 / 100], 100, policy.eta)
    assert run.promised == pytest.approx(expected[0])
    np.testing.assert_allclose(run.certificate().promised, expected)


def test_the_best_arm_may_leave_and_another_come():
    phi, losses = Exponential(1.0), np.tile([0.0, 1.0], (20_000, 1))
    for seed in range(10):  # an estimate jumps by 1/p, and p is small when it does
        policy = PotentialBandit(names=["a", "b"], potential=phi, random_state=seed)
        policy.run(losses)
        policy.remove_arm("a")
        np.testing.assert_array_equal(policy.distribution(), [1.0])
        policy.add_arm("c")
        p = policy.distribution()
        weights = np.exp(-(policy.positions - policy.positions.min()))
        np.testing.assert_allclose(p, weights / weights.sum(), rtol=1e-9, atol=1e-300)
        assert p[1] > 0.5


def test_arms_that_cannot_come_or_go_are_named():
    policy = PotentialBandit(2, horizon=10)
    with pytest.raises(ValueError, match="an arm must be hashable"):
        policy.add_arm([3])
    assert policy.arms == (0, 1)
    with pytest.raises(ValueError, match="there is an arm 1 already"):
        policy.add_arm(1)
    with pytest.raises(ValueError, match="no arm 5 to remove"):
        policy.remove_arm(5)
    policy.remove_arm(0)
    with pytest.raises(ValueError, match="last arm"):
        policy.remove_arm(1)


def test_regret_to_an_arm_that_came_late_stays_below_the_bound():
    regrets = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        policy = PotentialBandit(4, horizon=2000, random_state=rng)
        policy.run(BernoulliArms.with_gap(4, 0.1), 1000, environment_rng=rng)
        policy.add_arm("late")
        means = np.array([0.4, 0.5, 0.5, 0.5, 0.1])
        run = policy.run(BernoulliArms(means), 1000, environment_rng=rng)
        regrets.append(run.learner_loss - run.arm_losses[4])
    assert np.mean(regrets) < policy.bound(2000, 1 / 5)
