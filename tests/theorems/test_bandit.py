"""Theorems 4 and 5: bandits are drifting games with random moves, and EXP3 obeys its bound."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.bandit import (
    POLICIES,
    BernoulliArms,
    Exp3IX,
    Lure,
    Moody,
    PotentialBandit,
    Spiteful,
    Switching,
    check_bandit_potential,
    play_games,
)
from driftgames.certificates.bounds import theorem_5, theorem_5_tuned
from driftgames.games.rules import DGv2
from driftgames.potentials import Exponential, Potential


class TwoRates(Potential):
    """A mixture of exponentials: another potential that meets Theorem 4."""

    adaptive = False
    rates = np.array([0.1, 0.4])

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        rounds_left = 0 if horizon is None else horizon - t
        s = np.asarray(positions, dtype=float)[..., np.newaxis]
        terms = np.exp(-self.rates * s - log_scale) * np.cosh(self.rates) ** rounds_left
        return terms.sum(axis=-1)


def outcomes_of(p, losses):
    """Return the move of every chip for every arm that may be drawn. [LS14, Alg. 4]"""
    n = p.size
    z = np.repeat(-losses[:, np.newaxis], n, axis=1)
    z[np.arange(n), np.arange(n)] += losses / p
    return z


positive = st.floats(0.001, 1.0)


@given(st.integers(1, 6).flatmap(lambda n: st.lists(positive, min_size=2 * n, max_size=2 * n)))
def test_the_moves_of_algorithm_4_obey_the_rules_of_dgv2(numbers):
    weights, losses = np.array(numbers).reshape(2, -1)
    p = weights / weights.sum()
    z = outcomes_of(p, losses)
    DGv2().check(p, z, p)
    assert z.min() >= -1
    np.testing.assert_allclose(p @ z, losses - p @ losses, atol=1e-12)  # E z_i = l_i - p.l
    assert np.all((p @ z**2) * p <= 1 - p * losses**2 + 1e-9)
    assert (p @ z) @ p == pytest.approx(0.0, abs=1e-12)


def test_the_moves_of_the_policy_are_those_of_algorithm_4():
    losses, policy = np.array([0.9, 0.2, 0.4]), PotentialBandit(3, horizon=50, random_state=0)
    for _ in range(30):
        p, before = policy.distribution(), policy.positions
        arm, prob = policy.pull()
        policy.update(arm, losses[arm], prob)
        np.testing.assert_allclose(
            policy.positions - before, outcomes_of(p, losses)[arm], rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("eta", [0.02, 0.3, 1.5])
def test_thm5_exponential_potential_gives_exp3_weight_for_weight(eta):
    phi = Exponential(eta)
    policy = PotentialBandit(6, potential=phi, random_state=1)
    rng = np.random.default_rng(0)
    for t in range(1, 200):
        np.testing.assert_allclose(
            policy.distribution(), phi.distribution(policy.positions, t), rtol=1e-9, atol=1e-300
        )
        exp3 = np.exp(-eta * (policy.estimates - policy.estimates.min()))
        np.testing.assert_allclose(policy.distribution(), exp3 / exp3.sum(), rtol=1e-9, atol=1e-250)
        arm, prob = policy.pull(rng)
        policy.update(arm, float(rng.random()), prob)


@pytest.mark.parametrize(
    ("potential", "tolerance"), [(Exponential(0.3), 1e-12), (TwoRates(), 1e-4)]
)
@pytest.mark.parametrize("adversary", ["oblivious", "spiteful", "greedy"])
def test_thm4_potentials_fall_in_expectation_by_enumeration_of_all_games(
    potential, tolerance, adversary
):
    n, horizon = 3, 4
    check = check_bandit_potential(potential, n, horizon)
    assert check.qualifies
    growth = math.exp(check.log_growth / horizon)
    losses = np.random.default_rng(5).random((horizon, n))

    def potential_of(positions, t):
        value = potential.value(positions, t, horizon=horizon)
        return float(value.sum()) * growth ** (horizon - t)

    def respond(positions, p, t):
        if adversary == "oblivious":
            return losses[t - 1]
        if adversary == "spiteful":
            return (p == p.max()).astype(float)
        corners = [np.array(each, dtype=float) for each in itertools.product((0, 1), repeat=n)]
        return max(corners, key=lambda each: mean_after(positions, p, each, t))

    def mean_after(positions, p, each, t):
        z = outcomes_of(p, each)
        return sum(p[i] * potential_of(positions + z[i], t) for i in range(n))

    states = [(1.0, np.zeros(n))]
    previous = potential_of(np.zeros(n), 0)
    for t in range(1, horizon + 1):
        following = []
        for chance, positions in states:
            p = potential.distribution(positions, t)
            z = outcomes_of(p, respond(positions, p, t))
            following += [(chance * p[i], positions + z[i]) for i in range(n)]
        states = following
        expected = sum(chance * potential_of(positions, t) for chance, positions in states)
        assert math.isfinite(expected)
        assert expected <= previous * (1 + tolerance)
        previous = expected
    assert len(states) == n**horizon
    assert sum(chance for chance, _ in states) == pytest.approx(1.0)


def test_thm4_the_growth_of_hedge_alone_is_not_enough_for_bandits():
    phi, n = Exponential(0.3), 10
    p, start = np.full(n, 1 / n), np.zeros(n)
    z = outcomes_of(p, np.ones(n))
    after = sum(p[i] * phi.value(start + z[i], 1, horizon=1).sum() for i in range(n))
    before = phi.value(start, 0, horizon=1).sum()
    assert after > 1.1 * before
    assert after <= before * math.exp(check_bandit_potential(phi, n, 1).log_growth)


@pytest.mark.parametrize("n_arms", [2, 10, 1000])
@pytest.mark.parametrize("eta", [0.01, 0.5])
def test_thm5_bound_follows_from_the_growth_of_theorem_4(eta, n_arms):
    horizon = 500
    check = check_bandit_potential(Exponential(eta), n_arms, horizon)
    for epsilon in (0.5, 1 / n_arms):
        expected = float(theorem_5(horizon, epsilon, n_arms, eta))
        assert check.bound(epsilon) == pytest.approx(expected, rel=1e-9)


def test_thm5_tuned_bound_is_above_the_exact_one_and_near_it():
    for n_arms, horizon in ((2, 100), (10, 10_000), (100, 10**6)):
        policy = PotentialBandit(n_arms, horizon=horizon)
        exact = float(policy.bound(horizon, 1 / n_arms))
        tuned = float(theorem_5_tuned(horizon, 1 / n_arms, n_arms))
        assert exact == pytest.approx(float(theorem_5(horizon, 1 / n_arms, n_arms, policy.eta)))
        assert 0.8 * tuned < exact <= tuned


@pytest.mark.parametrize("epsilon", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("n_arms", [2, 10])
@pytest.mark.parametrize("horizon", [1, 3, 20, 1000])
def test_thm5_tuned_bound_needs_no_condition_on_eta(n_arms, horizon, epsilon):
    """The proof asks for eta <= 1, but eta - eta^2/2 <= 1/2 for every eta."""
    eta = math.sqrt(2 * math.log(1 / epsilon) / (horizon * (1 + n_arms * math.sqrt(math.e))))
    assert float(theorem_5(horizon, epsilon, n_arms, eta)) <= float(
        theorem_5_tuned(horizon, epsilon, n_arms)
    )
    if horizon == 1 and epsilon < 1e-2:
        assert eta > 1


def lazy_player(n_arms, horizon, rng, **units):
    """Return EXP3 with a learning rate of nothing: it draws every arm alike for ever."""
    return PotentialBandit(n_arms, potential=Exponential(1e-12), random_state=rng, **units)


PROMISING = [name for name in POLICIES if name != "thompson"]
"""The policies that promise something."""


@pytest.mark.parametrize("policy", PROMISING)
def test_every_bandit_bound_holds_where_uniform_play_breaks_it(policy):
    """One arm never loses, the others lose half of the time."""
    environment, horizon = BernoulliArms.with_gap(5, 0.5), 4000
    games = play_games(POLICIES[policy], environment, horizon, n_games=50, seed=3)
    lazy = play_games(lazy_player, environment, horizon, n_games=50, seed=3)
    assert games.certificate().holds
    assert np.isfinite(games.promised)
    assert lazy.regret.mean() == pytest.approx(0.4 * horizon, rel=0.02)
    assert lazy.regret.mean() > games.promised > games.regret.mean()
    if policy.startswith("exp3-ix"):  # a bound on each game, not on the mean
        assert lazy.regret.min() > games.promised > games.regret.max()


@pytest.mark.parametrize(
    "environment",
    [BernoulliArms.with_gap(5, 0.1), Switching(5, 0.4, 100), Moody(5), Spiteful(5), Lure(5)],
    ids=lambda environment: type(environment).__name__,
)
@pytest.mark.parametrize("policy", ["exp3", "exp3-anytime", "tsallis-inf"])
def test_thm5_mean_regret_of_200_games_stays_below_the_bound_for_every_epsilon(policy, environment):
    games = play_games(POLICIES[policy], environment, 1000, n_games=200, seed=1)
    certificate = games.certificate()
    assert np.isfinite(certificate.promised).all()
    assert certificate.epsilons.size == 5
    assert certificate.holds
    # the bound is one that means something: below the worst that can happen
    assert certificate.promised[0] < 1000


def test_exp3_ix_regret_exceeds_its_bound_in_no_more_games_than_delta_allows():
    for environment in (
        BernoulliArms.with_gap(5, 0.2),
        BernoulliArms.with_gap(5, 0.5),
        Spiteful(5),
    ):
        games = play_games(
            lambda n, T, rng: Exp3IX(n, horizon=T, delta=0.1, random_state=rng),
            environment,
            2000,
            n_games=100,
        )
        assert np.mean(games.regret > games.promised) <= 0.1
        assert games.promised < 0.4 * 2000  # what uniform play loses at the gap of 0.5


def test_tsallis_inf_pseudo_regret_is_the_least_and_reduced_variance_lowers_it_further():
    environment = BernoulliArms.with_gap(10, 0.1)
    means = {
        name: float(play_games(make, environment, 20_000, n_games=20).pseudo_regret.mean())
        for name, make in POLICIES.items()
        if name in PROMISING and "forget" not in name
    }
    lazy = float(play_games(lazy_player, environment, 20_000, n_games=5).pseudo_regret.mean())
    assert lazy == pytest.approx(0.09 * 20_000, rel=0.02)  # gap 0.1 on nine arms of ten
    assert means["tsallis-inf"] <= 550
    assert sorted(means, key=means.get)[:2] == ["tsallis-inf-rv", "tsallis-inf"]
    assert means["tsallis-inf-rv"] < 0.8 * means["tsallis-inf"]
    assert max(means.values()) < 957  # the best public EXP3
