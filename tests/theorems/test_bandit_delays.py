"""Bandits beyond the paper: regret with late losses, and the best of both worlds."""

import itertools

import numpy as np
import pytest

from driftgames.bandit import (
    BernoulliArms,
    Lure,
    Moody,
    PotentialBandit,
    Spiteful,
    Switching,
    TsallisINF,
    play_games,
)
from driftgames.bandit.engines.tsallis_engine import solve
from driftgames.certificates.bounds.bandits import (
    exp3_delayed,
    tsallis_inf_adaptive,
    tsallis_inf_delayed,
    tsallis_inf_rv,
    tsallis_inf_stochastic,
)


class Exponential:
    """EXP3 with one learning rate: its weights, and what the proof says of them."""

    power = 1.0

    def __init__(self, n_arms, rate=0.1):
        self.n, self.eta = n_arms, rate

    def rate(self, t, delay):
        return self.eta

    def weights(self, estimates, rate):
        w = np.exp(-rate * (estimates - estimates.min()))
        return w / w.sum()

    def cost(self, rate, missing):
        return rate * (self.n + missing)

    def span(self, rate):
        return np.log(self.n) / rate

    def bound(self, horizon, rates, missing):
        return exp3_delayed(1 / self.n, self.n, rates[-1], sum(rates), np.dot(rates, missing))

    def policy(self, **more):
        return PotentialBandit(self.n, horizon=100, **more)


class Tsallis:
    """Tsallis-INF: its weights, and what the proof says of them."""

    power = 1.5

    def __init__(self, n_arms, adapts=False):
        self.n, self.adapts = n_arms, adapts

    def rate(self, t, delay):
        return 2 / np.sqrt(t + self.adapts * delay / np.sqrt(self.n))

    def weights(self, estimates, rate):
        p = np.empty(self.n)
        solve(estimates, rate, 0.0, p)
        return p

    def cost(self, rate, missing):
        return rate * (np.sqrt(self.n) + missing)

    def span(self, rate):
        return 4 * (np.sqrt(self.n) - 1) / rate

    def bound(self, horizon, rates, missing):
        if self.adapts:
            return tsallis_inf_adaptive(horizon, self.n, sum(missing))
        return tsallis_inf_delayed(horizon, self.n, np.dot(rates, missing))

    def policy(self, **more):
        return TsallisINF(self.n, adapt_to_delays=self.adapts, **more)


RULES = {
    "exp3": lambda n: Exponential(n),
    "tsallis-inf": lambda n: Tsallis(n),
    "tsallis-inf, adaptive": lambda n: Tsallis(n, adapts=True),
}

GAMES = {
    "mixed delays": (np.random.default_rng(5).random((5, 3)), [2, 0, 3, 1, 0]),
    "no loss ever comes": (np.tile([1.0, 0.0], (9, 1)), [99] * 9),
    "no delay": (np.random.default_rng(6).random((5, 3)).round(), [0] * 5),
}


def missing_at(t, delays):
    """Return the 0-based rounds before t whose loss has not come when t is played."""
    return [s for s in range(t) if s + delays[s] >= t]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("rule", RULES)
def test_delays_cost_what_the_proof_says_by_enumeration_of_all_games(rule, game):
    losses, delays = GAMES[game]
    horizon, n = losses.shape
    rule = RULES[rule](n)
    missing = [len(missing_at(t, delays)) for t in range(horizon)]
    rates = [rule.rate(t + 1, sum(missing[: t + 1])) for t in range(horizon)]
    drift, regret, mass = np.zeros(horizon), np.zeros(n), 0.0
    for arms in itertools.product(range(n), repeat=horizon):
        chance, estimates = 1.0, np.zeros((horizon, n))
        gaps, cheating, paid = [], np.zeros(n), 0.0
        for t, arm in enumerate(arms):
            lacking = missing_at(t, delays)
            known = estimates[:t].sum(axis=0) - estimates[lacking].sum(axis=0)
            p = rule.weights(known, rates[t])
            estimates[t, arm] = losses[t, arm] / p[arm]
            q = rule.weights(estimates[: t + 1].sum(axis=0), rates[t])
            more = estimates[[*lacking, t]].sum(axis=0)
            assert np.all(p - q <= rates[t] * p**rule.power * more + 1e-12)
            gaps.append((p - q) @ estimates[t])
            cheating += q @ estimates[t] - estimates[t]
            paid += p @ losses[t]
            chance *= p[arm]
        # who knows the present losses regrets no more than the span of the regulariser
        assert np.all(cheating <= rule.span(rates[-1]) + 1e-9)
        drift += chance * np.array(gaps)
        regret += chance * (paid - losses.sum(axis=0))
        mass += chance
    assert mass == pytest.approx(1.0)
    for t in range(horizon):
        assert drift[t] <= rule.cost(rates[t], missing[t]) + 1e-12
    assert regret.max() <= rule.bound(horizon, rates, missing)
    if game == "no loss ever comes" and isinstance(rule, Exponential):
        assert drift[-1] > rule.cost(rates[-1], 0)  # so the delays are needed in the bound


@pytest.mark.parametrize("rule", RULES)
def test_the_weights_of_the_policies_are_those_of_the_proof(rule):
    rng = np.random.default_rng(0)
    losses, delays = rng.random((60, 3)), rng.integers(0, 12, 60)
    rule = RULES[rule](3)
    policy, estimates, delay, waiting = rule.policy(random_state=1), np.zeros((60, 3)), 0, {}
    if isinstance(rule, Exponential):
        rule.eta = policy.eta
    for t in range(60):
        lacking = missing_at(t, delays)
        delay += len(lacking)
        known = estimates[:t].sum(axis=0) - estimates[lacking].sum(axis=0)
        expected = rule.weights(known, rule.rate(t + 1, delay))
        np.testing.assert_allclose(policy.distribution(), expected, rtol=1e-9)
        arm, prob = policy.pull()
        estimates[t, arm] = losses[t, arm] / prob
        waiting[t] = (arm, losses[t, arm], prob)
        for s in [s for s in waiting if s + delays[s] <= t]:
            policy.update(*waiting.pop(s))
    assert policy.total_delay == delay


@pytest.mark.parametrize("delay", [1, 20])
@pytest.mark.parametrize("rule", RULES)
def test_mean_regret_with_delays_stays_below_the_bound_for_every_epsilon(rule, delay):
    make = {
        "exp3": lambda n, T, rng: PotentialBandit(n, horizon=T, random_state=rng),
        "tsallis-inf": lambda n, T, rng: TsallisINF(n, random_state=rng),
        "tsallis-inf, adaptive": lambda n, T, rng: TsallisINF(
            n, adapt_to_delays=True, random_state=rng
        ),
    }[rule]
    for environment in (Switching(3, 0.5, 500), BernoulliArms(np.array([0.0, 1.0, 1.0]))):
        games = play_games(make, environment, 3000, n_games=20, delays=delay)
        assert games.certificate().holds
        assert games.certificate().epsilons.size == 3
        if delay == 1 or "adaptive" in rule:
            assert games.promised < 3000  # below the worst that can happen


def test_the_rate_that_adapts_has_the_lower_bound_where_losses_are_late():
    for delay in (10, 100):
        drift = float(delay * (2 / np.sqrt(np.arange(1, 20_001))).sum())
        fixed = tsallis_inf_delayed(20_000, 4, drift)
        assert tsallis_inf_adaptive(20_000, 4, 20_000 * delay) < 0.8 * fixed


# -------------------------------------------------------------------- both worlds


def reduced(n, T, rng):
    return TsallisINF(n, reduced_variance=True, random_state=rng)


def pseudo_regrets(make, arms, horizons, games):
    """Return the mean pseudo-regret at each horizon."""
    totals = np.zeros(len(horizons))
    for seed in range(games):
        policy = make(arms.n_arms, horizons[-1], np.random.default_rng(seed))
        run = policy.run(arms, horizons[-1], points=1)
        totals += np.cumsum(arms.gaps[run.drawn])[np.array(horizons) - 1]
    return totals / games


def test_stochastic_regret_with_reduced_variance_grows_as_the_logarithm():
    arms, horizons = BernoulliArms.with_gap(4, 0.3), [1_000, 8_000, 64_000, 512_000]
    means = pseudo_regrets(reduced, arms, horizons, games=10)
    steps = np.diff(means)
    # as the square root each step would be 2.8 times the one before; as log T all are alike
    assert np.all(steps[1:] < 1.5 * steps[:-1])
    # as in the theorem: between the lower bound's order and (log T) / gap for each other arm
    assert np.all(steps < 1.2 * np.log(8) * (1 / arms.gaps[1:]).sum())
    assert np.all(steps > 0.1 * np.log(8) * (1 / arms.gaps[1:]).sum())
    assert np.all(means < tsallis_inf_stochastic(horizons, arms.gaps))


@pytest.mark.parametrize("environment", [BernoulliArms.with_gap(10, 0.1), Moody(10, 0.1)])
def test_reduced_variance_lowers_the_stochastic_regret(environment):
    plain, less = (
        float(play_games(make, environment, 20_000, n_games=10).pseudo_regret.mean())
        for make in (lambda n, T, rng: TsallisINF(n, random_state=rng), reduced)
    )
    assert less < 0.8 * plain


@pytest.mark.parametrize(
    "environment",
    [BernoulliArms.with_gap(5, 0.1), Switching(5, 0.4, 100), Moody(5), Spiteful(5), Lure(5)],
    ids=lambda environment: type(environment).__name__,
)
def test_mean_regret_with_reduced_variance_stays_below_the_bound(environment):
    games = play_games(reduced, environment, 2000, n_games=50, seed=1)
    assert games.certificate().holds
    assert games.promised == tsallis_inf_rv(2000, 5) < 2000
