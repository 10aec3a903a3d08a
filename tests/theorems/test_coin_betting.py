"""Coin betting: the potential, the bettor's wealth, the reduction to a set, and the bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from driftgames.certificates.bounds import coin_betting, log_krichevsky_trofimov
from driftgames.oco import Ball, Box, CoinBetting, LinearLoss, Polytope, QuadraticLoss, Simplex

SETS = {
    "box": Box([-1.0, 0.0, 2.0], [1.0, 3.0, 2.5]),
    "simplex": Simplex(4),
    "ball": Ball([1.0, -1.0, 0.0], 2.0),
    "octahedron": Polytope(
        [[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], np.ones(8)
    ),
}
EVERY_SET = pytest.mark.parametrize("place", SETS)
BOTH = pytest.mark.parametrize("per_coordinate", [True, False], ids=["coordinates", "norm"])


def potential(x, clock):
    return np.exp(log_krichevsky_trofimov(x, clock))


def adversary(kind, learner, rng, t):
    """Return a gradient: random, drifting, growing, or against where the learner stands."""
    n = learner._domain.n_coordinates
    if kind == "random":
        return rng.normal(size=n)
    if kind == "drifting":
        return rng.normal(size=n) + np.arange(n)
    if kind == "growing":
        return rng.normal(size=n) * 1.05**t
    if kind == "sparse":
        return np.eye(n)[t % n] * (1.0 if t % (3 * n) else -0.5)
    away = learner.predict() - learner._domain.middle
    return away if np.abs(away).sum() > 1e-9 else np.eye(n)[0]


# ------------------------------------------------------------------------ the potential


@given(st.floats(0.0, 500.0), st.floats(-1.0, 1.0))
def test_the_potential_is_a_martingale_and_its_difference_is_the_bet(clock, share):
    x = clock * share
    up, down = potential(x + 1, clock + 1), potential(x - 1, clock + 1)
    assert up + down == pytest.approx(2 * potential(x, clock), rel=1e-10)
    assert (up - down) / (up + down) == pytest.approx(x / (clock + 1), abs=1e-10)


@given(st.floats(0.0, 300.0), st.floats(-1.0, 1.0), st.floats(0.0, 1.0), st.floats(-1.0, 1.0))
def test_a_bet_earns_what_the_potential_rises_by_whatever_the_direction(clock, share, r, cosine):
    """(1 + beta.c) F(|x|) >= F(|x + c|): the step of the proof."""
    x = clock * abs(share)
    moved = min(math.sqrt(max(x * x + r * r + 2 * x * r * cosine, 0.0)), clock + r)
    earned = 1 + x / (clock + 1) * r * cosine
    assert earned * potential(x, clock) >= potential(moved, clock + r) * (1 - 1e-10)


def test_the_potential_is_that_of_mpmath():
    mp.dps = 30
    for x, S in [(0.0, 0.0), (1.0, 1.0), (3.5, 10.25), (-40.0, 100.0), (999.0, 1000.0)]:
        a = mp.mpf(S + 1) / 2
        exact = (
            mp.mpf(2) ** S
            * mp.gamma(a + mp.mpf(x) / 2)
            * mp.gamma(a - mp.mpf(x) / 2)
            / (mp.pi * mp.gamma(S + 1))
        )
        assert float(log_krichevsky_trofimov(x, S)) == pytest.approx(
            float(mp.log(exact)), rel=1e-12, abs=1e-13
        )


@pytest.mark.parametrize("stake", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("clock", [0.0, 0.3, 7.0, 1000.0, 123456.0])
def test_the_bound_is_the_conjugate_of_the_potential(clock, stake):
    x = np.linspace(0.0, clock, 200_001)
    with np.errstate(over="ignore"):
        tried = stake + x - stake * np.exp(log_krichevsky_trofimov(x, clock))
    assert float(coin_betting(clock, stake)) >= tried.max() - 1e-9
    assert float(coin_betting(clock, stake)) == pytest.approx(tried.max(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("stake", [0.01, 1.0, 30.0])
def test_the_bound_is_below_the_corollary_of_orabona_and_pal(stake):
    S = 10.0 ** np.arange(0, 9)
    assert (coin_betting(S, stake) <= stake + np.sqrt(S * np.log(1 + 24 * S**2 / stake**2))).all()


# ------------------------------------------------------------------------ the learner


@EVERY_SET
@BOTH
@pytest.mark.parametrize("kind", ["random", "drifting", "growing", "sparse", "against"])
def test_regret_stays_below_the_bound(place, per_coordinate, kind):
    domain, rng = SETS[place], np.random.default_rng(0)
    learner = CoinBetting(domain, per_coordinate=per_coordinate)
    gradients, own = np.zeros(domain.n_coordinates), 0.0
    for t in range(60):
        g = adversary(kind, learner, rng, t)
        own += learner.update(LinearLoss(g))
        gradients += g
        if t % 5:
            continue
        regret = own - gradients @ domain.lowest(gradients)
        certificate = learner.certificate()
        assert certificate.regret == pytest.approx(regret, abs=1e-9 * (1 + abs(own)))
        assert regret <= certificate.promised * (1 + 1e-12)
        assert certificate.holds
        assert domain.contains(learner.predict()).all()


@EVERY_SET
@BOTH
def test_the_surrogate_is_no_longer_than_the_gradient_and_no_less_regretted(place, per_coordinate):
    """g.(x - u) <= g~.(w - u) for every u of the set: the reduction to the set."""
    domain, rng = SETS[place], np.random.default_rng(1)
    learner = CoinBetting(domain, per_coordinate=per_coordinate)
    points = domain.sample(200, rng)
    n_changed = 0
    for _ in range(200):
        step, g = rng.normal(size=(2, domain.n_coordinates))
        bet = domain.middle + 2 * (step - domain.off_plane(step[np.newaxis])[0])
        g = g - domain.off_plane(g[np.newaxis])[0]
        x = domain.project(bet)
        surrogate = learner._surrogate(bet, x, g)
        assert (g @ x - points @ g <= surrogate @ bet - points @ surrogate + 1e-8).all()
        assert np.linalg.norm(surrogate) <= np.linalg.norm(g) * (1 + 1e-12)
        n_changed += not np.array_equal(surrogate, g)
    assert 20 < n_changed < 200


@BOTH
def test_wealth_is_never_below_the_potential(per_coordinate):
    domain = Ball(np.zeros(3), 1.0) if not per_coordinate else Box(-np.ones(3), np.ones(3))
    learner, rng = CoinBetting(domain, per_coordinate=per_coordinate), np.random.default_rng(2)
    for _ in range(400):
        learner.update(LinearLoss(rng.uniform(-1, 1, size=3) + 0.2))
        x = np.abs(learner._positions)
        x = x if per_coordinate else np.array([np.linalg.norm(x)])
        least = potential(np.minimum(x, learner._clock), learner._clock)
        assert (learner.wealth >= least * (1 - 1e-9)).all()


@pytest.mark.parametrize("d", [20, 1000])
def test_high_dimension_stays_within_the_bound_where_chips_do_not(d):
    learner = CoinBetting(Box(np.zeros(d), np.ones(d)))
    learner.run([LinearLoss(np.full(d, 1 / d))] * 5_000)
    certificate = learner.certificate()
    assert certificate.regret == pytest.approx(learner.learner_loss)  # the best corner loses 0
    assert certificate.holds
    assert certificate.promised < 3.0
    assert certificate.regret > 1.0


def test_the_regret_of_curved_losses_is_below_the_linearised_one():
    domain, rng = Ball(np.zeros(5), 1.0), np.random.default_rng(3)
    learner = CoinBetting(domain)
    targets = rng.normal(size=(200, 5)) * 0.3 + 0.2
    own = learner.run([QuadraticLoss.to_target(y) for y in targets]).learner_losses.sum()
    mean = domain.project(targets.mean(axis=0))
    best = ((targets - mean) ** 2).sum()
    assert own - best <= learner.certificate().regret + 1e-9
    assert learner.certificate().holds


def test_a_bettor_who_bets_against_the_potential_breaks_the_bound(monkeypatch):
    bet = CoinBetting._bet
    monkeypatch.setattr(CoinBetting, "_bet", lambda self: 2 * self._middle - bet(self))
    learner, rng = CoinBetting(Box([-1.0], [1.0])), np.random.default_rng(4)
    for _ in range(3000):
        learner.update(LinearLoss([rng.uniform(-1, 1) + 0.3]))
    certificate = learner.certificate()
    assert not certificate.holds
    assert "THE BOUND IS BROKEN" in str(certificate)
