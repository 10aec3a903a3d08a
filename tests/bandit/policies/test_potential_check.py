"""Which potentials meet Theorem 4, and what is said of those that do not."""

import math

import numpy as np
import pytest

from driftgames.bandit import PotentialBandit, check_bandit_potential, growth_of
from driftgames.bandit.policies.finite_differences import (
    MOST_ROUNDS,
    Probe,
    probe_round,
    rounds_to_probe,
)
from driftgames.bandit.policies.potential_check import _total_log_growth
from driftgames.potentials import Exponential, NoBoundError, NormalHedgeDT, Potential, TwoNorm


class Unknown(Potential):
    """Exp without its formula: finite differences must find what the formula says."""

    adaptive = False

    def __init__(self, eta):
        self.inner = Exponential(eta)

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        return self.inner.value(positions, t, horizon=horizon, log_scale=log_scale)

    def log_scale(self, positions, t):
        return self.inner.log_scale(positions, t)


class Shaped(Potential):
    """Any function of the position."""

    adaptive = False

    def __init__(self, function):
        self.function = function

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        return self.function(np.asarray(positions, dtype=float)) * math.exp(-log_scale)


def failed(check):
    return [each.name for each in check.conditions if not each.holds]


@pytest.mark.parametrize("eta", [0.001, 0.05, 1.0])
@pytest.mark.parametrize("horizon", [3, 50, 5000])
def test_finite_differences_agree_with_the_formula_of_exp(eta, horizon):
    exact = check_bandit_potential(Exponential(eta), 10, horizon)
    numeric = check_bandit_potential(Unknown(eta), 10, horizon)
    assert exact.exact
    assert not numeric.exact
    assert numeric.qualifies, str(numeric)
    assert numeric.log_growth == pytest.approx(exact.log_growth, rel=1e-3)
    assert numeric.bound(0.1) == pytest.approx(exact.bound(0.1), rel=1e-3)


def test_alpha_of_exp_is_that_of_the_paper():
    eta = 0.3
    alpha = math.exp(eta) * eta**2 / (2 * (math.exp(eta) - math.exp(-eta)))
    growth = (0.5 + 7 * alpha) * math.exp(eta) + (0.5 - 7 * alpha) * math.exp(-eta)
    assert growth_of(Exponential(eta), 7) * math.cosh(eta) == pytest.approx(growth)
    paper = (math.exp(eta) + math.exp(-eta) + 7 * math.exp(eta) * eta**2) / 2
    assert growth == pytest.approx(paper)


@pytest.mark.parametrize("horizon", [1, 40, 10_000])
@pytest.mark.parametrize(
    ("potential", "jump"), [(TwoNorm(), "from 2 to 0"), (NormalHedgeDT(), "from 0.667 to 0")]
)
def test_truncated_potentials_do_not_qualify_and_it_is_said_why(potential, jump, horizon):
    check = check_bandit_potential(potential, 10, horizon)
    assert not check.qualifies
    assert failed(check) == [
        "twice continuously differentiable",
        "alpha_t finite",
        "Eq. (6), up to a constant factor",
    ]
    assert f"round 1: the second derivative jumps {jump} at s = 0" in str(check)
    assert "at s = 1 the weight is 0, and the second derivative at s - 1 is not" in str(check)
    with pytest.raises(NoBoundError, match="jumps"):
        check.bound(0.1)
    with pytest.raises(ValueError, match=r"does not meet Theorem 4\. twice continuously"):
        PotentialBandit(10, horizon=horizon, potential=potential)


@pytest.mark.parametrize(
    ("function", "name", "where"),
    [
        (lambda s: 1 / (1 + np.exp(s)), "convex", "is not convex at s = -"),
        (lambda s: np.exp(s), "convex, nonincreasing", "rises"),
        (lambda s: np.exp(-s) - 1.0, "convex, nonincreasing", "negative"),
        (lambda s: np.cosh(0.3 * s) - 0.3 * s + 0 * s, "convex, nonincreasing", "rises"),
        (lambda s: np.where(s < 0.3, (s - 0.3) ** 2, 0.0) + np.exp(-0.1 * s), "twice", "s = 0.3"),
        (lambda s: np.log1p(np.exp(-s)), "second derivative", "rises"),
    ],
)
def test_each_condition_that_fails_is_named_with_its_place(function, name, where):
    check = check_bandit_potential(Shaped(function), 3, 5)
    assert not check.qualifies
    reason = next(each for each in check.conditions if each.name.startswith(name.split(",")[0]))
    assert not reason.holds
    assert where in reason.why


def test_a_mixture_of_exponentials_qualifies_and_plays(two_rates):
    phi = two_rates()
    check = check_bandit_potential(phi, 4, 12)
    assert check.qualifies
    fast = check_bandit_potential(Exponential(0.5), 4, 12)
    assert 0 < check.log_growth <= fast.log_growth + 12 * math.log(math.cosh(0.5))
    policy = PotentialBandit(4, horizon=12, potential=phi, random_state=0)
    policy.run(np.tile([0.0, 1.0, 1.0, 1.0], (12, 1)))
    assert policy.distribution()[0] > 0.4
    assert policy.bound(12, 0.25) == pytest.approx(check.bound(0.25))
    with pytest.raises(NoBoundError, match="horizon of 12 alone"):
        policy.bound(13, 0.25)
    with pytest.raises(ValueError, match="no learning rate"):
        _ = policy.eta


def test_the_recipe_plays_what_algorithm_4_says(two_rates):
    phi, rng = two_rates(), np.random.default_rng(0)
    policy, s = PotentialBandit(4, horizon=6, potential=phi, random_state=1), np.zeros(4)
    for t in range(1, 40):
        weights = phi.value(s - 1, t) - phi.value(s + 1, t)
        np.testing.assert_allclose(policy.distribution(), weights / weights.sum(), rtol=1e-9)
        arm, prob = policy.pull()
        loss = float(rng.random())
        policy.update(arm, loss, prob)
        s -= loss
        s[arm] += loss / prob


def test_a_potential_of_ones_own_needs_a_horizon_and_comes_back_only_if_given(two_rates, tmp_path):
    phi = two_rates()
    with pytest.raises(ValueError, match="needs a horizon"):
        PotentialBandit(4, potential=phi)
    policy = PotentialBandit(4, horizon=3, potential=phi)
    policy.save(tmp_path / "b.json")
    with pytest.raises(ValueError, match="TwoRates, which a file cannot hold; give it as pot"):
        PotentialBandit.load(tmp_path / "b.json")
    with pytest.raises(ValueError, match=r"it was made with .*TwoRates.*given is Exponential"):
        PotentialBandit.load(tmp_path / "b.json", potential=Exponential(0.3))
    loaded = PotentialBandit.load(tmp_path / "b.json", potential=phi)
    np.testing.assert_array_equal(loaded.distribution(), policy.distribution())
    loaded.add_arm("more")
    assert loaded.bound(3, 0.5) > policy.bound(3, 0.5)


def test_the_bound_of_a_potential_of_ones_own_counts_all_arms_after_loading(two_rates, tmp_path):
    policy = PotentialBandit(3, horizon=6, potential=two_rates())
    for arm in "abcde":
        policy.add_arm(arm)
    for arm in "abcde":
        policy.remove_arm(arm)
    chips = check_bandit_potential(two_rates(), 8, 6)
    assert policy.bound(6, 1.0) == pytest.approx(chips.bound(3 / 8))
    policy.save(tmp_path / "b.json")
    loaded = PotentialBandit.load(tmp_path / "b.json", potential=two_rates())
    assert loaded.bound(6, 1.0) == policy.bound(6, 1.0)


def test_a_potential_is_checked_once_and_another_one_again(two_rates):
    phi = two_rates()
    check = check_bandit_potential(phi, 3, 6)
    assert check_bandit_potential(phi, 3, 6) is check
    for other in (
        check_bandit_potential(two_rates(), 3, 6),
        check_bandit_potential(phi, 4, 6),
        check_bandit_potential(phi, 3, 5),
    ):
        assert other is not check
    assert PotentialBandit(3, horizon=6, potential=phi).copy()._check is check


def test_a_policy_saved_without_a_potential_is_loaded_without_one(two_rates, tmp_path):
    PotentialBandit(3, horizon=6).save(tmp_path / "b.json")
    with pytest.raises(ValueError, match="it was made with potential = None; given is TwoRates"):
        PotentialBandit.load(tmp_path / "b.json", potential=two_rates())


def test_rounds_probed_include_the_first_and_the_last():
    rounds = rounds_to_probe(10**6)
    assert (rounds[0], rounds[-1]) == (1, 10**6)
    assert rounds == sorted(set(rounds))
    assert not any(probe_round(Unknown(0.1), 7, 3, 10).failures)


class Swelling(Potential):
    """EXP times ``exp(rate t^2)``: the logarithm of its growth changes by 2 rate a round."""

    adaptive = False
    eta = 0.1

    def __init__(self, rate):
        self.rate = rate

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        exponents = -self.eta * np.asarray(positions, dtype=float) + self.rate * t**2
        return np.exp(exponents - log_scale)

    def total_log_growth(self, n_arms, horizon):
        exp3 = (math.exp(self.eta) * (1 + n_arms * self.eta**2) + math.exp(-self.eta)) / 2
        return horizon * math.log(exp3) + self.rate * horizon**2


@pytest.mark.parametrize("rate", [0.001, -0.001], ids=["rising", "falling"])
def test_rounds_between_two_probes_count_with_the_larger_growth(rate):
    phi, n_arms, horizon = Swelling(rate), 30, 200
    probed = len(rounds_to_probe(horizon))
    assert probed <= MOST_ROUNDS < horizon
    check = check_bandit_potential(phi, n_arms, horizon)
    assert check.qualifies, str(check)
    exact = phi.total_log_growth(n_arms, horizon)
    # an estimate below the exact sum would promise too much
    assert exact < check.log_growth < exact + 8


def test_the_total_growth_of_three_probes():
    probes = [Probe(t, ("",) * 5, growth) for t, growth in ((1, 1.0), (4, 3.0), (10, 2.0))]
    # rounds 1, 2-3, 4, 5-9 and 10
    assert _total_log_growth(probes) == 1.0 + 2 * 3.0 + 3.0 + 5 * 3.0 + 2.0


@pytest.mark.parametrize(("n_arms", "horizon"), [(0, 5), (3, 0)])
def test_bad_games_are_refused(n_arms, horizon):
    with pytest.raises(ValueError, match="must be an integer >= 1"):
        check_bandit_potential(Exponential(0.1), n_arms, horizon)
