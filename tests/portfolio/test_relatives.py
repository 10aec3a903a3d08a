"""Price relatives, and the errors of bad prices."""

import numpy as np
import pytest

from driftgames.portfolio import UniversalPortfolio, best_constant_rebalanced, price_relatives


def test_relatives_are_ratios_of_consecutive_prices():
    prices = np.array([[1.0, 4.0], [2.0, 2.0], [1.0, 3.0]])
    assert np.array_equal(price_relatives(prices), [[2.0, 0.5], [0.5, 1.5]])


def test_the_first_day_counts_when_the_prices_before_it_are_given():
    prices = np.array([[1.1, 4.0], [2.2, 2.0]])
    assert np.array_equal(price_relatives(prices, before=1.0)[0], prices[0])
    assert np.array_equal(price_relatives(prices, before=[1.1, 2.0])[0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ([[1.0, np.nan], [1.0, 1.0]], r"prices must be finite; got nan at index \(0, 1\)"),
        ([[1.0, 0.0], [1.0, 1.0]], "prices must be above 0; got 0 in row 0, column 1"),
        ([[1.0, 1.0], [-2.0, 1.0]], "prices must be above 0; got -2 in row 1, column 0"),
        ([[1.0], [2.0]], "prices must be of at least two assets; got 1"),
        ([[1.0, 2.0]], "prices must cover at least two days"),
        ([1.0, 2.0], "prices must have a row per day"),
        ([["a", "b"]], "prices must be numbers"),
    ],
)
def test_bad_prices_say_what_is_wrong(prices, message):
    with pytest.raises(ValueError, match=message):
        price_relatives(prices)


@pytest.mark.parametrize(
    "prices",
    [
        [[100.0, 50.0], [101.0, 51.0]] * 100,
        [[2.5, 2.2], [2.4, 2.3]],
        [[100.0, 0.5], [101.0, 0.6]],
        [[100.0, 50.0]],
    ],
)
def test_prices_in_the_place_of_relatives_are_refused(prices):
    strategy = UniversalPortfolio(2)
    before = strategy.copy()
    for call in (strategy.run, best_constant_rebalanced):
        with pytest.raises(ValueError, match=r"for a table of prices use run\(price_relatives\("):
            call(prices)
    with pytest.raises(ValueError, match="relatives must be prices over those of the day before"):
        strategy.update([100.0, 50.0])
    assert strategy == before


def test_a_wild_market_is_still_a_market():
    for days in ([[3.0, 0.2], [0.5, 4.0]], [[12.0, 1.0], [0.1, 1.0]], [[2.5, 2.5]]):
        UniversalPortfolio(2).run(days)
