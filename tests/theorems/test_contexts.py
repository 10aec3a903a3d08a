"""EXP4 and SquareCB keep their bounds where a player who ignores advice and context breaks them."""

import numpy as np
import pytest

from driftgames.bandit import Exp4, SquareCB
from driftgames.certificates.bounds import exp3_scheduled


@pytest.mark.parametrize("n_experts", [2, 64])
def test_exp4_regret_to_the_best_expert_stays_below_its_bound(n_experts):
    rounds, n_arms = 6000, 4
    paid, bounds = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        good = rng.integers(n_arms, size=rounds)
        losses = 1.0 - np.eye(n_arms)[good]
        advice = np.full((rounds, n_experts, n_arms), 1 / n_arms)
        advice[:, -1] = np.eye(n_arms)[good]
        run = Exp4(n_arms, experts=n_experts, random_state=seed).run(advice, losses)
        paid.append(run.regret)
        bounds.append(run.promised)
        assert run.certificate().holds
    assert np.mean(paid) < bounds[0] < rounds * (1 - 1 / n_arms)  # what uniform play loses
    rates = np.sqrt(np.log(n_experts) / (n_arms * np.arange(1, rounds + 1)))
    exact = exp3_scheduled(1 / n_experts, n_arms, rates[-1], rates.sum())
    assert bounds[0] == pytest.approx(float(exact), rel=0.03)  # eta falls in steps


def test_exp4_holds_against_an_adversary_who_fools_the_favourite_expert():
    rounds, policy = 4000, Exp4(2, experts=2, random_state=0)
    advice, own, totals = np.eye(2), 0.0, np.zeros(2)
    for _ in range(rounds):
        losses = np.zeros(2)
        losses[int(policy.distribution(advice).argmax())] = 1.0
        arm, prob = policy.pull(advice)
        policy.update(arm, losses[arm], prob, advice)
        own += losses[arm]
        totals += losses
    assert own - totals.min() < float(policy.bound(rounds, 0.5)) < rounds / 4


def linear_world(rounds, seed, n_arms=2):
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], size=(rounds, 1))
    theta = np.array([[0.5, -0.5]])
    means = 0.5 + x @ theta
    return x, means, (rng.random(means.shape) < means).astype(float)


@pytest.mark.parametrize("optimism", [0.0, 1.0])
def test_square_cb_regret_stays_below_its_bound_where_uniform_play_breaks_it(optimism):
    rounds, found = 20_000, []
    for seed in range(5):
        x, means, losses = linear_world(rounds, seed)
        settings = {"greed": 1.0, "norm": 0.5, "intercept": False, "optimism": optimism}
        policy = SquareCB(2, n_features=1, random_state=seed, **settings)
        run = policy.run(x, losses)
        regret = means[np.arange(rounds), run.drawn].sum() - means.min(axis=1).sum()
        found.append(regret)
        bound = float(policy.bound(rounds, 0.5))
        assert run.certificate().holds
    assert np.mean(found) < bound < 0.5 * rounds
    uniform = (means.mean(axis=1) - means.min(axis=1)).sum()
    assert uniform > bound


def test_square_cb_bound_is_that_of_its_gammas():
    x, _, losses = linear_world(500, 0)
    policy = SquareCB(2, n_features=1, greed=1.0, norm=0.5, intercept=False, random_state=0)
    gammas = []
    for row, each in zip(losses, x, strict=True):
        arm, prob = policy.pull(each)
        gammas.append(policy._engine.numbers[10])
        policy.update(arm, row[arm], prob, each)
    assert (np.diff(gammas) >= 0).all()
    most = np.sqrt(8 * 2 * 500 / (2 * 0.25))
    assert gammas[-1] <= most
    errors = np.sqrt(2 * (2 * 0.25 + policy._engine.numbers[9] / 4) + 4 * np.log(500))
    errors = (errors + np.sqrt(policy._engine.numbers[13])) ** 2
    wanted = 4 * np.sum(1 / np.array(gammas)) + gammas[-1] / 4 * errors + most / 2000
    assert float(policy.bound(500, 1.0)) == pytest.approx(wanted)
    assert np.isinf(policy.bound(499, 1.0))


@pytest.mark.parametrize("optimism", [0.0, 1.0])
def test_square_cb_expected_squared_errors_times_gamma_stay_below_their_bound(optimism):
    """Gamma depends on the draws, so errors and gamma must be averaged together."""
    rounds, sums, promised = 300, [], []
    for seed in range(200):
        x, means, losses = linear_world(rounds, seed)
        settings = {"greed": 5.0, "norm": 0.5, "intercept": False, "optimism": optimism}
        policy, spent = SquareCB(2, n_features=1, random_state=seed, **settings), 0.0
        for row, mean, each in zip(losses, means, x, strict=True):
            policy._engine.look(each)
            forecast = policy._engine.expected(optimism)
            arm, prob = policy.pull(each)
            spent += policy._engine.numbers[10] * (forecast[arm] - mean[arm]) ** 2
            policy.update(arm, row[arm], prob, each)
        numbers = policy._engine.numbers
        sums.append(spent / 4)
        promised.append(float(policy.bound(rounds, 1.0)) - 4 * numbers[11])
    assert np.mean(sums) < np.mean(promised)


def test_the_lemma_of_inverse_gap_weighting_by_random_search():
    """sum p (f* - min f* - gamma/4 (f - f*)^2) <= 2K/gamma, for all f and f*."""
    rng = np.random.default_rng(0)
    worst = -np.inf
    for _ in range(20_000):
        K, gamma = rng.integers(2, 6), 10 ** rng.uniform(0, 3)
        f, truth = rng.random(K), rng.random(K)
        if rng.random() < 0.5:
            truth = np.clip(f + rng.normal(0, 2 / gamma, K), 0, 1)
        p = 1 / (K + gamma * (f - f.min()))
        p[f.argmin()] += 1 - p.sum()
        left = p @ (truth - truth.min() - gamma / 4 * (f - truth) ** 2)
        worst = max(worst, left * gamma / (2 * K))
    assert 0.2 < worst <= 1.0
