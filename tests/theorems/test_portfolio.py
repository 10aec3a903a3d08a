"""The bounds on portfolios, in markets that swing, that one asset rules, and near ruin."""

import math

import numpy as np
import pytest

from driftgames.certificates.bounds.portfolios import (
    exponentiated_gradient,
    online_newton_step,
    soft_bayes,
    universal_portfolio,
)
from driftgames.portfolio import (
    ExponentiatedGradient,
    OnlineNewtonStep,
    SoftBayes,
    UniformRebalancing,
    UniversalPortfolio,
    best_constant_rebalanced,
)


def markets(n, days, seed):
    """Yield markets that swing, that one asset rules, and that always favour the other asset."""
    rng = np.random.default_rng(seed)
    yield np.exp(rng.normal(0, 0.3, size=(days, n)))
    ruled = np.exp(rng.normal(0, 0.1, size=(days, n)))
    ruled[:, 0] *= 1.5
    yield ruled
    swinging = np.full((days, n), 0.5)
    swinging[np.arange(days), np.arange(days) % n] = 2.0
    yield swinging
    yield np.where(rng.random((days, n)) < 0.5, 1e-3, 1.0)  # near ruin


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_cover_universal_portfolio_stays_below_its_bound_in_every_market(n, seed):
    """Cover's own for two assets, where the integral is exact; that of the points for more."""
    for X in markets(n, 60, seed):
        best, universal = best_constant_rebalanced(X), UniversalPortfolio(n)
        run = universal.run(X)
        regret = best.log_wealth - run.log_wealth[-1]
        assert regret <= universal.regret_bound(best) + 1e-9
        assert (run.regret, run.promised) == (regret, universal.regret_bound(best))
        assert universal.quantile_certificate().holds
        if n == 2:
            assert universal.regret_bound(best) == float(universal_portfolio(60, 2))


def test_cover_bound_is_reached_by_two_assets_one_of_which_is_worthless():
    """All of the wealth in one asset that never moves: the mean of b**T is 1 / (T + 1)."""
    X = np.column_stack([np.ones(30), np.full(30, 1e-12)])
    regret = best_constant_rebalanced(X).log_wealth - UniversalPortfolio(2).run(X).log_wealth[-1]
    assert regret == pytest.approx(float(universal_portfolio(30, 2)), rel=1e-9)
    assert regret == pytest.approx(math.log(31), rel=1e-9)


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_helmbold_et_al_exponentiated_gradient_stays_below_its_bound(n, seed):
    for X in markets(n, 60, seed):
        variability = float((X.min(axis=1) / X.max(axis=1)).min())
        best = best_constant_rebalanced(X)
        tuned = ExponentiatedGradient.tuned(n, 60, variability).run(X)
        assert best.log_wealth - tuned.log_wealth[-1] <= exponentiated_gradient(60, n, variability)
        fixed = ExponentiatedGradient(n, eta=0.05).run(X)
        bound = exponentiated_gradient(60, n, variability, eta=0.05)
        assert best.log_wealth - fixed.log_wealth[-1] <= bound
        assert fixed.certificate().promised == bound


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_agarwal_et_al_online_newton_step_stays_below_its_bound(n, seed):
    for X in markets(n, 60, seed):
        variability = float((X.min(axis=1) / X.max(axis=1)).min())
        best = best_constant_rebalanced(X)
        run = OnlineNewtonStep.guaranteed(n, variability).run(X)
        bound = float(online_newton_step(60, n, variability))
        assert best.log_wealth - run.log_wealth[-1] <= bound
        assert run.certificate().promised == pytest.approx(bound)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_orseau_et_al_soft_bayes_stays_below_its_bound_in_every_market(n):
    for seed in range(3):
        for X in markets(n, 400, seed):
            # relatives of a day may be 1e-9 apart: the bound needs no variability
            for extreme in (X, X ** np.random.default_rng(seed).integers(1, 4, size=(400, 1))):
                best, strategy = best_constant_rebalanced(extreme), SoftBayes(n)
                regret = best.log_wealth - strategy.run(extreme).log_wealth[-1]
                assert regret <= strategy.regret_bound(best)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_lazy_player_and_exponentiated_gradient_break_the_bound_of_soft_bayes(n):
    X = np.full((2000, n), 0.1)
    X[:, 0] = 1.0
    best, bound = best_constant_rebalanced(X), float(soft_bayes(2000, n))
    lazy = UniformRebalancing(n).run(X).log_wealth[-1]
    assert best.log_wealth - lazy > bound
    assert best.log_wealth - SoftBayes(n).run(X).log_wealth[-1] < bound
    rng = np.random.default_rng(0)
    # one asset of two is worth nothing each day: the gradient jumps from one to the other
    ruin = np.where(np.arange(n) == rng.integers(n, size=(2000, 1)), 1.0, 1e-6)
    best = best_constant_rebalanced(ruin)
    jumping = ExponentiatedGradient(n, eta=5.0).run(ruin).log_wealth[-1]
    assert best.log_wealth - jumping > bound
    assert best.log_wealth - SoftBayes(n).run(ruin).log_wealth[-1] < bound


def test_the_first_step_of_the_proof_holds_for_any_portfolio_relatives_and_rate():
    rng, games = np.random.default_rng(0), 5000

    def dirichlet(n):
        """Return rows of Dirichlet distributions, from nearly one asset to nearly all alike."""
        drawn = rng.gamma(10 ** rng.uniform(-2, 1, (games, 1)), size=(games, n)) + 1e-300
        return drawn / drawn.sum(axis=1, keepdims=True)

    for n in (2, 3, 4, 5):
        eta = rng.uniform(1e-4, 0.6, games)
        r = 10 ** rng.uniform(-6, 6, (games, n)) * (rng.random((games, n)) < 0.7) + 1e-9
        r /= ((dirichlet(n) + 1e-12) * r).sum(axis=1, keepdims=True)
        a = dirichlet(n)
        u = 1 - eta[:, np.newaxis] * (1 - r)
        kappa = -np.log1p(-eta) / eta
        left = np.log((a * r).sum(axis=1)) - (a * np.log(u)).sum(axis=1) / eta
        assert (left <= kappa - 1 + np.log(np.maximum(u, 1)).max(axis=1) + 1e-9).all()


def test_the_bound_of_soft_bayes_is_close_to_its_leading_term():
    for n in (2, 10, 50):
        assert float(soft_bayes(10**5, n)) == pytest.approx(
            2 * math.sqrt(2 * n * 1e5 * math.log(n)), rel=0.13
        )
    assert soft_bayes([1, 10], 3)[1] == soft_bayes(10, 3)


def test_the_bound_of_soft_bayes_needs_no_array_of_all_rounds(monkeypatch):
    horizons = [10, 1000, 1001, 10**6, 10**6 + 1, 2**62]
    plain = soft_bayes(horizons, 3)
    assert (np.diff(plain) > 0).all()
    monkeypatch.setattr("driftgames.certificates.bounds.portfolios._MOST_SUMMED", 1000)
    rough = soft_bayes(horizons, 3)
    np.testing.assert_array_equal(rough[:2], plain[:2])
    assert (rough >= plain).all()
    np.testing.assert_allclose(rough, plain, rtol=0.01)
