"""Exponentiated gradient and online Newton step against their own definitions."""

import math
import re

import numpy as np
import pytest
from scipy.optimize import minimize

from driftgames._kernels.simplex import lowest_on_simplex
from driftgames.certificates.bounds.portfolios import exponentiated_gradient, online_newton_step
from driftgames.portfolio import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewtonStep,
    SoftBayes,
    UniformRebalancing,
    best_constant_rebalanced,
)


def market(days, n, seed=0):
    return np.exp(np.random.default_rng(seed).normal(0, 0.1, size=(days, n)))


def test_exponentiated_gradient_follows_its_formula():
    X, eta = market(20, 5), 0.3
    b = np.full(5, 0.2)
    for row, played in zip(X, ExponentiatedGradient(5, eta=eta).run(X).portfolios, strict=True):
        assert np.allclose(played, b, rtol=1e-12)
        b = b * np.exp(eta * row / (b @ row))
        b /= b.sum()


def test_online_newton_step_minimises_its_quadratic_over_the_simplex():
    X, beta, delta = market(25, 5), 0.7, 0.2
    played = OnlineNewtonStep(5, beta=beta, delta=delta).run(X).portfolios
    A, gradients = np.eye(5), np.zeros(5)
    for t, row in enumerate(X[:-1]):
        g = row / (played[t] @ row)
        A += np.outer(g, g)
        gradients += (1 + 1 / beta) * g
        slope = A @ played[t + 1] - delta * gradients
        # optimal on the simplex: no asset has a lower slope than those held
        assert slope.min() >= slope @ played[t + 1] - 1e-10
        assert played[t + 1].min() >= 0
        assert played[t + 1].sum() == pytest.approx(1.0)


def test_mixing_leaves_something_of_every_asset():
    played = OnlineNewtonStep(4, mix=0.2).run(market(30, 4)).portfolios
    assert played.min() >= 0.05 - 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_the_simplex_solver_agrees_with_a_general_one(seed):
    rng = np.random.default_rng(seed)
    n = 8
    root = rng.normal(size=(n, n))
    A, pull = root @ root.T + 0.1 * np.eye(n), 3 * rng.normal(size=n)
    q = rng.dirichlet(np.ones(n))
    lowest_on_simplex(A, pull, q)
    found = minimize(
        lambda z: z @ A @ z / 2 - pull @ z,
        np.full(n, 1 / n),
        jac=lambda z: A @ z - pull,
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda z: z.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert q @ A @ q / 2 - pull @ q <= found.fun + 1e-9
    again = q.copy()
    lowest_on_simplex(A, pull, again)
    assert np.array_equal(q, again)


def test_soft_bayes_follows_its_formula_and_needs_no_scale():
    X, b = market(20, 5), np.full(5, 0.2)
    rates = np.sqrt(np.log(5) / (10 * np.arange(1, 22)))
    played = SoftBayes(5).run(X).portfolios
    for t, row in enumerate(X):
        assert np.allclose(played[t], b, rtol=1e-12)
        kept = rates[t + 1] / rates[t]
        b = kept * b * (1 - rates[t] + rates[t] * row / (b @ row)) + (1 - kept) / 5
    scaled = SoftBayes(5).run(X * np.logspace(-30, 30, 20)[:, None]).portfolios
    assert np.allclose(scaled, played, rtol=1e-9)


def test_soft_bayes_says_where_it_has_no_bound():
    with pytest.raises(ValueError, match="no bound with costs; got cost="):
        SoftBayes(2, cost=0.1).regret_bound(best_constant_rebalanced(market(3, 2)))
    with pytest.raises(ValueError, match="the same 0 days and 2 assets; got 3 days"):
        SoftBayes(2).regret_bound(best_constant_rebalanced(market(3, 2)))


def test_a_run_after_the_first_day_has_no_certificate():
    strategy = SoftBayes(2)
    strategy.run(market(3, 2))
    with pytest.raises(ValueError, match="this one had traded 3 days before this run"):
        strategy.run(market(2, 2)).certificate()


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (UniformRebalancing(3), "no bound is known for uniform rebalancing"),
        (BuyAndHold(3), "no bound is known for buy and hold"),
        (OnlineNewtonStep(3), "is for `guaranteed`.*delta=0.125"),
        (OnlineNewtonStep.guaranteed(3, 1.0), "at most that of the days.* of variability 0"),
        (ExponentiatedGradient(3, cost=0.01), "no bound with costs; got cost=0.01"),
    ],
)
def test_a_certificate_says_why_nothing_is_promised(strategy, reason):
    certificate = strategy.run(market(9, 3)).certificate()
    assert certificate.promised == math.inf
    assert re.search(reason, certificate.caveat)
    assert certificate.caveat in str(certificate)


def test_published_wealths_on_nyse_o(nyse_o):
    """27.09 and 109.19 are what the literature reports of these two."""
    relatives, _ = nyse_o
    assert ExponentiatedGradient(36).run(relatives).final_wealth == pytest.approx(27.09, abs=0.01)
    assert OnlineNewtonStep(36).run(relatives).final_wealth == pytest.approx(109.19, abs=0.01)


def test_the_bound_of_exponentiated_gradient_by_hand():
    """ln 2 / 0.1 + 0.1 * 100 / (8 / 4), and with the best rate sqrt(2 * 100 ln 2) / (2 / 2)."""
    assert float(exponentiated_gradient(100, 2, 0.5, 0.1)) == pytest.approx(6.931471806 + 5.0)
    assert float(exponentiated_gradient(100, 2, 0.5)) == pytest.approx(11.774100226)
    tuned = ExponentiatedGradient.tuned(2, 100, 0.5)  # 2 * 0.5 * sqrt(2 ln 2 / 100)
    twin = ExponentiatedGradient(2, eta=0.11774100225154747)
    assert np.array_equal(tuned.run(market(9, 2)).portfolios, twin.run(market(9, 2)).portfolios)


def test_the_bound_of_the_newton_step_by_hand_and_the_strategy_it_is_for():
    """10 * 4**1.5 / 0.5 * ln(4 * 100 / 0.25), of beta = 0.5 / (8 sqrt(4)) and delta = 1."""
    assert float(online_newton_step(100, 4, 0.5)) == pytest.approx(160 * 7.377758908)
    played = OnlineNewtonStep.guaranteed(4, 0.5).run(market(30, 4)).portfolios
    wanted = OnlineNewtonStep(4, beta=0.03125, delta=1.0).run(market(30, 4)).portfolios
    assert np.array_equal(played, wanted)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ExponentiatedGradient(2, eta=0.0), "eta must be a finite number > 0"),
        (lambda: OnlineNewtonStep(2, beta=-1.0), "beta must be a finite number > 0"),
        (lambda: OnlineNewtonStep(2, mix=1.5), r"mix must lie in \[0, 1\]"),
        (lambda: ExponentiatedGradient.tuned(2, 0, 0.5), "horizon must be an integer >= 1"),
        (lambda: ExponentiatedGradient.tuned(2, 9, 1.5), r"variability must lie in \(0, 1\]; got"),
        (lambda: OnlineNewtonStep.guaranteed(2, 1.5), r"variability must lie in \(0, 1\]; got 1.5"),
        (lambda: exponentiated_gradient(9, 2, 1.5), r"variability must lie in \(0, 1\]; got 1.5"),
        (lambda: online_newton_step(9, 2, 1.5), r"variability must lie in \(0, 1\]; got 1.5"),
    ],
)
def test_bad_arguments_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()
