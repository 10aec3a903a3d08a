"""The best constant rebalanced portfolio."""

import math

import numpy as np
import pytest

from driftgames.portfolio import UniformRebalancing, best_constant_rebalanced


def test_no_portfolio_is_better():
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(0, 0.2, size=(60, 4)))
    best = best_constant_rebalanced(X)
    tried = rng.dirichlet(np.ones(4) / 2, size=20_000)
    wealths = np.log(tried @ X.T).sum(axis=1)
    assert best.log_wealth >= wealths.max()
    assert best.log_wealth == pytest.approx(math.log(np.prod(X @ best.portfolio)))
    assert best.portfolio.min() >= 0
    assert best.portfolio.sum() == pytest.approx(1.0)


def test_the_gap_bounds_what_is_missing():
    X = np.exp(np.random.default_rng(1).normal(0, 0.2, size=(50, 3)))
    rough, fine = (best_constant_rebalanced(X, tolerance=tol) for tol in (1e-2, 1e-13))
    assert fine.log_wealth - rough.log_wealth <= rough.gap
    assert fine.gap < 1e-8


@pytest.mark.parametrize(
    "relatives",
    [
        np.array([[3.0, 1.0, 0.5]]),  # fewer days than assets
        np.repeat([[1.1, 1.1]], 20, axis=0),  # assets that are the same
        np.exp(np.random.default_rng(2).normal(0, 1e-9, size=(30, 3))),
        np.exp(np.random.default_rng(3).normal(0, 20.0, size=(30, 3))),
    ],
    ids=["one day", "twins", "still", "wild"],
)
def test_degenerate_markets_have_an_answer(relatives):
    best = best_constant_rebalanced(relatives)
    assert best.gap <= 1e-9 * len(relatives)
    uniform = np.log(UniformRebalancing(relatives.shape[1]).run(relatives).final_wealth)
    assert best.log_wealth >= uniform - 1e-12


def test_wealth_beyond_floats_is_infinite_and_its_logarithm_is_not():
    best = best_constant_rebalanced(np.full((2000, 2), 2.0))
    assert best.wealth == math.inf
    assert best.log_wealth == pytest.approx(2000 * math.log(2))


def test_no_days_are_refused():
    with pytest.raises(ValueError, match="at least one day"):
        best_constant_rebalanced(np.empty((0, 2)))
