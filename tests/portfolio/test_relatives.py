"""Price relatives, and the errors of bad prices."""

import numpy as np
import pytest

from driftgames.portfolio import price_relatives


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
