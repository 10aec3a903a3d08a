"""NormalHedge solves for the scale of its weights in every round."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

from driftgames._kernels.normal_hedge import solve_exponent, weigh_normal_hedge
from driftgames.hedge import NormalHedge


def _by_hand(positions):
    """Return the weights of Table 1, with c from a bracketing search."""
    regret = np.maximum(-positions, 0.0)
    if regret.max() <= 0:
        return np.full(regret.size, 1 / regret.size)
    square = (regret / regret.max()) ** 2

    def excess(u):
        return u + math.log(np.mean(np.exp(u * (square - 1)))) - 1

    low, high = 1.0 - 1e-9, 1.0 + math.log(regret.size) + 1e-9
    u = brentq(excess, low, high, xtol=1e-15)
    w = regret * np.exp(u * (square - 1))
    return w / w.sum()


def test_the_weights_are_those_of_table_1():
    learner = NormalHedge(6)
    for row in np.random.default_rng(0).random((200, 6)):
        np.testing.assert_allclose(
            learner.distribution(), _by_hand(learner.positions), rtol=1e-8, atol=1e-12
        )
        learner.update(row)


@given(x=arrays(np.float64, st.integers(1, 50), elements=st.floats(0, 1)))
def test_the_search_ends_at_the_solution_from_any_start(x):
    x[0] = 1.0
    for guess in (0.0, 1.0, 1.0 + math.log(x.size) / 2, 1e9):
        u = solve_exponent(x, None, guess)
        assert 1.0 <= u <= 1.0 + math.log(x.size)
        assert np.mean(np.exp(u * x**2)) == pytest.approx(math.e, rel=1e-11)


@given(
    x=arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 1)),
    seed=st.integers(0, 2**32 - 1),
)
def test_counts_stand_for_chips_at_the_same_place(x, seed):
    x[0] = 1.0
    counts = np.random.default_rng(seed).integers(0, 5, x.size)
    counts[0] += 1
    u = solve_exponent(x, counts.astype(np.float64), 0.0)
    assert u == pytest.approx(solve_exponent(np.repeat(x, counts), None, 0.0), rel=1e-12)


def test_a_ratio_without_chips_changes_nothing_and_its_weight_stays_finite():
    x, counts = np.array([1.0, 0.5]), np.array([1.0, 3.0])
    u = solve_exponent(x, counts, 0.0)
    far = math.sqrt(1.0 + 710.0 / u)  # exp(u (far^2 - 1)) overflows
    weights, more = np.append(x, far), np.append(counts, 0.0)
    found, _ = weigh_normal_hedge(weights, more, 0.0)
    assert found == u
    np.testing.assert_allclose(weights, [1.0, 0.5 * math.exp(-0.75 * u), far], rtol=1e-14)


def test_uniform_where_no_regret_is_positive():
    learner = NormalHedge(3)
    assert learner.distribution().tolist() == [1 / 3] * 3
    for _ in range(5):
        learner.update([0.4, 0.4, 0.4])
        np.testing.assert_allclose(learner.distribution(), 1 / 3)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-20, 1e-3])
def test_no_size_of_regret_underflows(size):
    learner = NormalHedge(3)
    learner.update([0.0, size / 2, size])
    p = learner.distribution()
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1.0)
    assert p[0] == pytest.approx(1.0)
    assert p[2] == 0.0


def test_actions_behind_the_learner_weigh_exactly_nothing():
    learner = NormalHedge(4)
    learner.run(np.random.default_rng(1).random((50, 4)))
    assert ((learner.distribution() == 0) == (learner.positions >= 0)).all()
