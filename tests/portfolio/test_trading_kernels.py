"""What trades cost and what wealth becomes, against plain NumPy."""

import numpy as np
import pytest

from driftgames.portfolio.trading_kernels import left_after_trading, trade


@pytest.mark.parametrize("cost", [1e-4, 0.02, 0.5])
def test_what_is_left_after_trading_solves_its_equation(cost):
    rng = np.random.default_rng(1)
    for _ in range(200):
        b, held = rng.dirichlet(np.ones(5), size=2)
        left = left_after_trading(b, held, cost)
        assert left == pytest.approx(1 - cost * np.abs(left * b - held).sum(), abs=1e-14)
        assert (1 - cost) / (1 + cost) - 1e-14 <= left <= 1
    assert left_after_trading(b, b, cost) == 1.0
    assert left_after_trading(b, np.zeros(5), cost) == pytest.approx(1 / (1 + cost), abs=1e-15)


def test_trading_multiplies_the_gains_and_what_costs_leave():
    rng = np.random.default_rng(2)
    b, x = rng.dirichlet(np.ones(3), size=6), np.exp(rng.normal(0, 0.3, size=(6, 3)))
    held, (wealth, turnover) = np.zeros(3), np.empty((2, 6))
    trade(b, x, 0.01, held, 0.5, wealth, turnover)
    total, own = np.exp(0.5), np.zeros(3)
    for day in range(6):
        left = left_after_trading(b[day], own, 0.01)
        assert turnover[day] == pytest.approx((1 - left) / 0.01, rel=1e-10)
        total *= left * (b[day] @ x[day])
        own = b[day] * x[day] / (b[day] @ x[day])
        assert wealth[day] == pytest.approx(np.log(total), abs=1e-13)
    assert held == pytest.approx(own)
