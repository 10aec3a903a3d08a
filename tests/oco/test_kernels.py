"""The kernels of portfolios and of least squares, against plain NumPy."""

import numpy as np
import pytest

from driftgames._kernels.least_squares import (
    cholesky,
    pairwise_dots,
    row_products,
    solve_factored,
)
from driftgames._kernels.portfolio import left_after_trading, trade


@pytest.mark.parametrize("shape", [(1, 3), (2, 9), (3, 20), (5, 8), (6, 100), (9, 17)])
def test_row_products_are_those_of_numpy(shape):
    A = np.random.default_rng(0).normal(size=shape)
    assert row_products(A) == pytest.approx(A @ A.T, rel=1e-12, abs=1e-12)
    assert np.array_equal(row_products(A), row_products(A).T)
    assert pairwise_dots(A, 2 * A) == pytest.approx(2 * (A**2).sum(axis=1))


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_cholesky_factors_and_solves(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n + 3))
    A, y = A @ A.T, rng.normal(size=n)
    L = cholesky(A, 0.0)
    assert pytest.approx(A, abs=1e-10) == L @ L.T
    assert np.array_equal(L, np.tril(L))
    assert A @ solve_factored(L, y) == pytest.approx(y, abs=1e-8)


def test_cholesky_leaves_out_what_depends_on_earlier_rows():
    """The covariance of the simplex has one flat direction."""
    A = np.eye(4) - 0.25
    L = cholesky(A, 1e-12)
    assert L[3] == pytest.approx(np.zeros(4))
    assert L[:3] @ L[:3].T == pytest.approx(A[:3, :3], abs=1e-14)


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
    held, wealth = np.zeros(3), np.empty(6)
    trade(b, x, 0.01, held, 0.5, wealth)
    total, own = np.exp(0.5), np.zeros(3)
    for day in range(6):
        total *= left_after_trading(b[day], own, 0.01) * (b[day] @ x[day])
        own = b[day] * x[day] / (b[day] @ x[day])
        assert wealth[day] == pytest.approx(np.log(total), abs=1e-13)
    assert held == pytest.approx(own)
