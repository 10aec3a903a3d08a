"""The bounds on portfolios, in markets that swing, that one asset rules, and near ruin."""

import math

import numpy as np
import pytest

from driftgames.certificates.bounds.portfolios import (
    exponentiated_gradient,
    online_newton_step,
    universal_portfolio,
)
from driftgames.portfolio import (
    ExponentiatedGradient,
    OnlineNewtonStep,
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
        regret = best.log_wealth - universal.run(X).log_wealth[-1]
        assert regret <= universal.regret_bound(best) + 1e-9
        assert universal.certificate().holds
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


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_agarwal_et_al_online_newton_step_stays_below_its_bound(n, seed):
    for X in markets(n, 60, seed):
        variability = float((X.min(axis=1) / X.max(axis=1)).min())
        best = best_constant_rebalanced(X)
        run = OnlineNewtonStep.guaranteed(n, variability).run(X)
        assert best.log_wealth - run.log_wealth[-1] <= online_newton_step(60, n, variability)
