"""Files of portfolio strategies that must be refused: one table."""

import numpy as np
import pytest

from driftgames.core.documents import DocumentError, encode_array
from driftgames.portfolio import (
    STRATEGIES,
    BuyAndHold,
    LimitedPortfolio,
    SoftBayes,
    StrategyMixture,
    UniformRebalancing,
    UniversalPortfolio,
)
from tests.refusals import REMOVED, check_files_of

SMALL = {"universal": {"n_points": 128}, "normalhedge.dt": {"n_points": 128, "span": 1.0}}


def quote(prices, **members):
    held = None if prices is None else encode_array(np.array(prices))
    return {"prices": held, "date": "", **members}


ANY_STRATEGY = [
    ("state.t", -5, "t must be an integer >= 0; got -5"),
    ("state.t", 2.5, "t must be an integer >= 0; got 2.5"),
    ("state.log_wealth", float("nan"), "log_wealth must be a finite number; got nan"),
    ("state.quote", quote([1.0] * 3), "prices must be of sh"),
    ("state.quote", quote([0.0] * 4), "prices must be above"),
    ("state.quote", quote(None, assets=list("abcda")), "must be 4 diff"),
    ("state.quote", quote(None, assets=list("abca")), "must be 4 differ"),
    ("state.held", np.zeros(3), r"held must be float64\[4\]; got float64\[3\]"),
    ("state.held", np.full(4, np.nan), "held must be finite"),
    ("state.held", np.full(4, 0.2), "held must sum to 1; got 0.8"),
    ("state.held", np.array([0.6, 0.6, -0.2, 0.0]), "held must be nonnegative"),
]


def market(days, n):
    return np.exp(np.random.default_rng(0).normal(0, 0.1, size=(days, n)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_state_that_no_run_can_have_is_refused(name, tmp_path):
    strategy = STRATEGIES[name](4, **SMALL.get(name, {}))
    strategy.run(market(3, 4))
    arrays = [key for key, value in strategy.content()["state"].items() if "base64" in str(value)]
    no_numbers = [
        (f"state.{key}", lambda array: np.full_like(array, np.nan), f"{key} must be")
        for key in set(arrays) - {"quote", "members"}
    ]
    check_files_of(strategy, tmp_path / "s.json", ANY_STRATEGY + no_numbers)


def test_what_only_one_strategy_has_is_checked(tmp_path):
    path = tmp_path / "s.json"
    table = [("state.shares", np.array([1.0, 0.0]), "shares must be above 0; got 0")]
    check_files_of(SoftBayes(2), path, table)
    table = [("state.tolls", REMOVED, r"the state must be .*tolls; got held, log_wealth")]
    check_files_of(UniversalPortfolio(3, n_points=64, cost=0.01), path, table)
    mixture = StrategyMixture(2, mix=["hold", "eg"])
    mixture.run(market(5, 2))
    table = [
        ("state.members", lambda members: members[::-1], "another one than buy and hold"),
        ("state.members.0.state.t", 4, "has traded 4 days; expected 5"),
    ]
    check_files_of(mixture, path, table)
    limited = LimitedPortfolio(3, of="pamr", max_turnover=0.2)
    limited.run(market(5, 3))
    check_files_of(
        limited, path, [("state.held", np.full(3, 0.25), "held must sum to 1; got 0.75")]
    )


def test_a_state_is_not_taken_for_another_strategy(tmp_path):
    UniformRebalancing(4).save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match=r"holds a 'driftgames\.UniformRebalancing'"):
        BuyAndHold.load(tmp_path / "state.json")
