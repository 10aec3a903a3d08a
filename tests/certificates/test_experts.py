"""Bounds of the learners beyond the paper: formulas, shapes, and what they rest on."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from driftgames.certificates import bounds


def _every(horizon, epsilon):
    return [
        bounds.normal_hedge(horizon, epsilon, 10),
        bounds.ada_normal_hedge(horizon, epsilon),
        bounds.ada_hedge(horizon, epsilon, 10),
        bounds.squint(horizon, epsilon),
    ]


def test_they_broadcast_over_horizons_and_epsilons():
    horizons, epsilons = np.array([[1], [10], [10], [1000]]), np.array([0.1, 0.5, 1.0])
    for bound in _every(horizons, epsilons):
        assert bound.shape == (4, 3)
        assert np.isfinite(bound).all()
        assert (bound > 0).all()
        assert (np.diff(bound, axis=0) >= 0).all()  # longer games cost more
        assert (np.diff(bound, axis=1) <= 0).all()  # coarser epsilons less
    for bound in _every(100, 0.1):
        assert bound.shape == ()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="horizon must be an integer >= 1"):
        bounds.squint(0, 0.1)
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]"):
        bounds.ada_normal_hedge(10, 0.0)
    with pytest.raises(ValueError, match="n_actions must be an integer >= 1"):
        bounds.normal_hedge(10, 0.5, 0)


def test_a_single_action_has_no_regret():
    assert bounds.normal_hedge(100, 1.0, 1) == 0.0
    assert bounds.ada_hedge([5, 100], 1.0, 1).tolist() == [0.0, 0.0]


def test_normal_hedge_takes_the_best_delta():
    T, n = 10**7, 20

    def at(delta):
        price = 16 * math.log(n) ** 2 / delta * (10.2 / delta**2 + math.log(n))
        return math.sqrt((1 + math.log(n)) * (3 * (1 + 50 * delta) * T + price))

    best = float(bounds.normal_hedge(T, 1 / n, n))
    assert best == pytest.approx(min(map(at, np.geomspace(1e-4, 0.5, 5000))), rel=1e-6)
    assert best <= min(map(at, np.geomspace(1e-4, 0.5, 5000)))
    T = 10  # so short that the best delta is the largest allowed
    assert bounds.normal_hedge(T, 1 / n, n) == pytest.approx(at(0.5), rel=1e-12)
    # and in the long run the price of N is forgotten
    assert bounds.normal_hedge(10**14, 1 / n, n) == pytest.approx(
        math.sqrt(3 * 10**14 * (1 + math.log(n))), rel=0.05
    )


def test_ada_hedge_is_twice_its_gap_for_the_best_action():
    assert bounds.ada_hedge(50, 1 / 8, 8, gap=3.0) == pytest.approx(6.0)
    log_n = math.log(8)
    published = math.sqrt(400 * log_n) + 4 / 3 * log_n + 2
    assert bounds.ada_hedge(400, 1 / 8, 8) == pytest.approx(published)


def test_easier_runs_promise_less():
    assert bounds.ada_normal_hedge(100, 0.1, spread=4.0) == pytest.approx(
        float(bounds.ada_normal_hedge(100, 0.1)) / 5
    )
    assert bounds.squint(100, 0.1, variance=1.0) < bounds.squint(100, 0.1)
    assert bounds.ada_normal_hedge(100, 0.1, spread=100.0) == bounds.ada_normal_hedge(100, 0.1)
    assert bounds.squint(100, 0.1, variance=100.0) == bounds.squint(100, 0.1)


@pytest.mark.parametrize("T", [1, 10, 1000, 10**6])
@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-4])
def test_squint_covers_all_that_its_potential_allows(T, epsilon):
    # sum_i q_i Phi(R_i, V_i) <= 0 and Phi >= -(1/2 + ln(T + 1)) leave Phi <= that / epsilon
    allowed = (0.5 + math.log(T + 1)) / epsilon

    def short(R, V):
        near = min(0.5, 4.0 / (1.0 + abs(R)))
        value = sum(
            quad(lambda x: math.expm1(x * R - x * x * V) / x, a, b, limit=200)[0]
            for a, b in ((1e-12, near), (near, 0.5))
            if b > a
        )
        return value - allowed

    for share in (0.0, 0.01, 1.0):
        V = share * T
        largest = brentq(short, 0.0, 4 * float(bounds.squint(T, epsilon, variance=V)), args=(V,))
        assert largest <= bounds.squint(T, epsilon, variance=V)
