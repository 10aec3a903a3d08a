"""Mixtures, mean reversion and limits: by hand, in every market, and in files."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.portfolio import (
    OLMAR,
    PAMR,
    STRATEGIES,
    LimitedPortfolio,
    StrategyMixture,
    best_constant_rebalanced,
)
from driftgames.portfolio.limits import fill

FEW = ("hold", "uniform", "ons", "olmar", "pamr")


def market(days=60, n=4, seed=0, spread=0.1):
    return np.exp(np.random.default_rng(seed).normal(0, spread, size=(days, n)))


@given(
    seed=st.integers(0, 10_000),
    cost=st.sampled_from([0.0, 0.001, 0.02, 0.3]),
    spread=st.sampled_from([0.01, 0.1, 1.5]),
)
def test_the_mixture_is_at_most_ln_n_behind_the_best_strategy_after_costs(seed, cost, spread):
    X = market(40, 3, seed, spread)
    mixture = StrategyMixture(3, mix=FEW, cost=cost)
    mixture.run(X)
    certificate = mixture.mixture_certificate()
    assert certificate.holds
    assert certificate.promised == math.log(5)
    alone = [STRATEGIES[name](3, cost=cost).run(X).final_wealth for name in FEW]
    assert list(mixture.account_wealth.values()) == pytest.approx(alone)
    assert mixture.wealth >= np.mean(alone) * (1 - 1e-9)


def test_a_strategy_that_splits_its_wealth_once_and_one_that_follows_the_worst_break_the_promise():
    """After 200 days the best of three is far ahead; accounts kept equal are not near it."""
    X = np.tile([[1.3, 0.9], [0.8, 1.1]], (100, 1))
    mixture = StrategyMixture(2, mix=["hold", "uniform", "pamr"])
    mixture.run(X)
    logs = {name: math.log(w) for name, w in mixture.account_wealth.items()}
    best = max(logs.values())
    runs = [STRATEGIES[name](2).run(X) for name in ("hold", "uniform", "pamr")]
    equal = np.mean([run.portfolios for run in runs], axis=0)  # rebalanced to equal accounts
    lazy = np.log((equal * X).sum(axis=1)).sum()
    assert best - lazy > 10 * math.log(3)
    assert best - mixture.log_wealth <= math.log(3) + 1e-9


def test_without_costs_the_wealth_is_the_mean_of_the_accounts():
    X = market()
    mixture = StrategyMixture(4, mix=FEW)
    mixture.run(X)
    assert mixture.wealth == pytest.approx(np.mean(list(mixture.account_wealth.values())))
    shares = mixture.account_shares
    assert sum(shares.values()) == pytest.approx(1)
    total = sum(mixture.account_wealth.values())
    assert shares["ons"] == pytest.approx(mixture.account_wealth["ons"] / total)


def test_a_mixture_reaches_the_bound_of_its_members_and_ln_n():
    X = market(200, 3)
    best = best_constant_rebalanced(X)
    mixture = StrategyMixture(3, mix=["hold", "soft-bayes"])
    mixture.run(X)
    assert mixture.certificate(best).holds


def test_pamr_and_olmar_by_hand():
    X = market(30, 3, seed=4)
    b = np.full(3, 1 / 3)

    def onto(v):
        u = np.sort(v)[::-1]
        c = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
        level = c[np.flatnonzero(u > c)[-1]]
        return np.maximum(v - level, 0)

    found = PAMR(3, epsilon=0.7).run(X).portfolios
    for day, x in enumerate(X):
        np.testing.assert_allclose(found[day], b, atol=1e-12)
        away = x - x.mean()
        b = onto(b - max(0, b @ x - 0.7) / (away @ away) * away)
    prices, b = np.vstack([np.ones(3), X.cumprod(axis=0)]), np.full(3, 1 / 3)
    found = OLMAR(3, window=4, epsilon=2.0).run(X).portfolios
    for day in range(len(X)):
        np.testing.assert_allclose(found[day], b, atol=1e-12)
        last = prices[max(0, day + 2 - 4) : day + 2]
        expected = last.mean(axis=0) / prices[day + 1]
        away = expected - expected.mean()
        b = onto(b + max(0, 2.0 - b @ expected) / (away @ away) * away)


def test_limits_are_kept_by_every_strategy():
    X = market(80, 5, spread=0.2)
    caps = np.array([0.3, 0.3, 0.5, 1.0, 0.25])
    for name in ("ons", "pamr", "olmar", "eg", "mix"):
        limited = LimitedPortfolio(5, of=name, max_share=caps, groups=[([2, 3], 0.6)])
        run = limited.run(X)
        assert (run.portfolios <= caps + 1e-9).all()
        assert (run.portfolios[:, [2, 3]].sum(axis=1) <= 0.6 + 1e-9).all()
        np.testing.assert_allclose(run.portfolios.sum(axis=1), 1)
        calm = LimitedPortfolio(5, of=name, max_turnover=0.1, cost=0.01).run(X)
        assert (calm.turnover[1:] <= 0.1 + 1e-9).all()
    free = LimitedPortfolio(5, of="pamr").run(X)
    np.testing.assert_allclose(free.portfolios, PAMR(5).run(X).portfolios, atol=1e-12)


@given(
    weights=st.lists(st.floats(0, 10), min_size=2, max_size=6),
    data=st.data(),
)
def test_filling_under_caps_sums_to_the_mass_and_keeps_the_order_of_what_is_free(weights, data):
    w = np.array(weights)
    caps = np.array(data.draw(st.lists(st.floats(0, 1), min_size=w.size, max_size=w.size)))
    mass = caps.sum() * data.draw(st.floats(0, 1))
    shares = fill(w, caps, mass)
    assert (shares <= caps + 1e-12).all()
    assert shares.sum() == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda cost: StrategyMixture(3, mix=FEW, cost=cost),
        lambda cost: LimitedPortfolio(3, of="ons", max_share=0.5, max_turnover=0.3, cost=cost),
        lambda cost: LimitedPortfolio(3, of="mix", groups=[([0, 1], 0.6)], cost=cost),
    ],
)
def test_a_saved_strategy_of_strategies_goes_on_to_the_same_bits(make, tmp_path):
    X = market(40, 3)
    for cost in (0.0, 0.01):
        whole, first = make(cost), make(cost)
        wanted = whole.run(X)
        first.run(X[:17])
        first.save(tmp_path / "state.json")
        again = type(first).load(tmp_path / "state.json")
        assert again == first
        rest = again.run(X[17:])
        assert np.array_equal(rest.log_wealth, wanted.log_wealth[17:])
        assert again == whole


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StrategyMixture(3, mix=[]), "mix must be different names"),
        (lambda: StrategyMixture(3, mix=["eg", "eg"]), "mix must be different names"),
        (lambda: StrategyMixture(3, mix=["mix"]), "mix must be one of"),
        (lambda: LimitedPortfolio(3, of="best"), "of must be one of"),
        (lambda: LimitedPortfolio(3, of="eg", max_share=0.2), "leave room for 0.6"),
        (lambda: LimitedPortfolio(3, of="eg", max_share=[0.5, 0.5]), "max_share must be"),
        (lambda: LimitedPortfolio(3, of="eg", groups=[([0, 0], 0.5)]), "in one group, once"),
        (lambda: LimitedPortfolio(3, of="eg", groups=[([0, 3], 0.5)]), "there are 3 assets; got 3"),
        (lambda: LimitedPortfolio(3, of="eg", groups=3), "groups must be pairs"),
        (lambda: LimitedPortfolio(3, of="eg", max_turnover=0), "max_turnover must be"),
        (lambda: OLMAR(3, window=1), "window must be an integer >= 2"),
        (lambda: PAMR(3, epsilon=-1), "epsilon must lie in"),
        (lambda: StrategyMixture(3, mix=["eg"]).mixture_certificate(), "no day was traded"),
    ],
)
def test_bad_settings_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
