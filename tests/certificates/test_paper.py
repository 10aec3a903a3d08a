"""The bounds of the paper against mpmath, where floats cancel and where they overflow."""

import importlib
import inspect
import math

import pytest
from mpmath import mp

from driftgames.certificates import bounds


def exact_theorem_5(horizon, epsilon, n_arms, eta):
    with mp.workdps(60):
        rate = mp.mpf(eta)
        growth = mp.log(mp.cosh(rate) + n_arms * mp.exp(rate) * rate**2 / 2)
        return float((horizon * growth - mp.log(mp.mpf(epsilon))) / rate)


@pytest.mark.parametrize("part", ["bandits", "coin_betting", "experts", "paper", "portfolios"])
def test_the_package_has_every_bound(part):
    module = importlib.import_module(f"driftgames.certificates.bounds.{part}")
    functions = inspect.getmembers(module, inspect.isfunction)
    own = {name for name, each in functions if each.__module__ == module.__name__}
    assert {name for name in own if not name.startswith("_")} <= set(bounds.__all__)


@pytest.mark.parametrize("n_arms", [1, 2, 1000])
@pytest.mark.parametrize(
    "eta", [1e-150, 1e-9, 1e-7, 1e-3, 0.5, 0.999, 1.0, 1.001, 20.0, 1e3, 1e200]
)
@pytest.mark.parametrize(("horizon", "epsilon"), [(1, 1.0), (10**4, 0.1), (10**16, 5e-324)])
def test_theorem_5_is_that_of_mpmath_for_every_learning_rate(horizon, epsilon, n_arms, eta):
    found = float(bounds.theorem_5(horizon, epsilon, n_arms, eta))
    assert found == pytest.approx(exact_theorem_5(horizon, epsilon, n_arms, eta), rel=1e-14)


@pytest.mark.parametrize("horizon", [10**2, 10**8, 10**14, 10**16, 10**18])
def test_theorem_5_at_the_tuned_rate_keeps_below_the_tuned_bound(horizon):
    n_arms, epsilon = 10, 0.1
    eta = math.sqrt(2 * math.log(1 / epsilon) / (horizon * (1 + n_arms * math.sqrt(math.e))))
    found = float(bounds.theorem_5(horizon, epsilon, n_arms, eta))
    assert 0.7 < found / float(bounds.theorem_5_tuned(horizon, epsilon, n_arms)) <= 1.0


def test_hoeffdings_bound_is_above_the_value_of_the_relaxed_game_for_the_reason_of_the_paper():
    """A sum of T + 1 coins reaches R + 1 with probability at most exp(-(R+1)^2 / 2(T+1))."""
    assert bounds.relaxed_game_hoeffding(4, 2) == pytest.approx(2 * math.exp(-9 / 10))
    for T in range(1, 40):
        for R in range(T % 2, T + 1, 2):
            heads = sum(math.comb(T + 1, j) for j in range((T - R) // 2 + 1)) / 2 ** (T + 1)
            assert bounds.relaxed_game_value(T, R) == pytest.approx(2 * heads)
            assert bounds.relaxed_game_value(T, R) <= bounds.relaxed_game_hoeffding(T, R)
    # one coin less or one step less would not be a bound
    assert bounds.relaxed_game_value(1, 1) == 0.5
    assert 2 * math.exp(-(2**2) / (2 * 1)) < 0.5


@pytest.mark.parametrize(("T", "R"), [(1000, 40), (1001, 7), (1500, 0)])
def test_the_value_of_a_long_relaxed_game_is_the_same_tail(T, R):
    """From 1,000 rounds on the sum of binomials is taken from the beta function."""
    tail = sum(math.comb(T + 1, j) for j in range((T - R) // 2 + 1))
    assert bounds.relaxed_game_value(T, R) == pytest.approx(tail / 2**T, rel=1e-10)
