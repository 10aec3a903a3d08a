"""Products and Cholesky's method against plain NumPy; the weights are tested with the sets."""

import numpy as np
import pytest

from driftgames._kernels.moments import cholesky, row_products, solve_factored


@pytest.mark.parametrize("shape", [(1, 3), (2, 9), (3, 20), (5, 8), (6, 100), (9, 17)])
def test_row_products_are_those_of_numpy(shape):
    A = np.random.default_rng(0).normal(size=shape)
    assert row_products(A) == pytest.approx(A @ A.T, rel=1e-12, abs=1e-12)
    assert np.array_equal(row_products(A), row_products(A).T)


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
