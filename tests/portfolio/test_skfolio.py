"""The adapter to skfolio: the same wealth, online and in its own evaluation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

pytest.importorskip("skfolio")

from skfolio import Portfolio
from skfolio.model_selection import online_predict

from driftgames.portfolio import STRATEGIES
from driftgames.portfolio.skfolio import OnlinePortfolio

DAYS = pd.date_range("2024-01-01", periods=30, freq="B")
RETURNS = pd.DataFrame(
    np.exp(np.random.default_rng(0).normal(0, 0.05, size=(30, 3))) - 1.0,
    index=DAYS,
    columns=["ant", "bee", "cow"],
)
SMALL = {"universal": {"n_points": 64}, "normalhedge.dt": {"n_points": 64}}


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_online_evaluation_of_skfolio_ends_with_the_wealth_of_the_strategy(name):
    model = OnlinePortfolio(name, settings=SMALL.get(name))
    predicted = online_predict(model, RETURNS, warmup_size=5, test_size=1)
    earned = np.prod([1.0 + portfolio.returns for portfolio in predicted])
    run = STRATEGIES[name](3, **SMALL.get(name, {})).run(1.0 + RETURNS.to_numpy())
    wanted = np.exp(run.log_wealth[-1] - run.log_wealth[4])
    assert earned == pytest.approx(wanted, rel=1e-12)
    assert not hasattr(model, "strategy_")  # a clone was fitted


@pytest.mark.parametrize("name", STRATEGIES)
def test_parts_give_what_one_fit_gives(name):
    whole = OnlinePortfolio(name, transaction_costs=0.001, settings=SMALL.get(name)).fit(RETURNS)
    parts = clone(whole)
    for k in range(0, 30, 7):
        parts.partial_fit(RETURNS.iloc[k : k + 7])
    assert np.array_equal(whole.weights_, parts.weights_)
    assert whole.strategy_ == parts.strategy_
    assert list(parts.feature_names_in_) == ["ant", "bee", "cow"]
    assert isinstance(parts.predict(RETURNS), Portfolio)
    assert parts.fit(RETURNS).strategy_ == whole.strategy_  # begins anew


def test_bad_input_leaves_the_model_as_it_was():
    model = OnlinePortfolio("eg").fit(RETURNS)
    weights = model.weights_.copy()
    with pytest.raises(ValueError, match="relatives must be above 0"):
        model.partial_fit(RETURNS * 0 - 2.0)
    with pytest.raises(ValueError, match="cow"):
        model.partial_fit(RETURNS[["ant", "bee"]])
    assert model.strategy_.t == 30
    assert np.array_equal(model.weights_, weights)
    with pytest.raises(ValueError, match="algorithm must be one of universal"):
        OnlinePortfolio("best").fit(RETURNS)
