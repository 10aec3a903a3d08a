"""NormalHedge's weights against their definition, in many digits. [LS14, Alg. 7]"""

import mpmath
import numpy as np
import pytest

from driftgames.boosting.engine.rules import NormalHedgeRule

# the round, the sum of the edges, and the mass at 0, 1, 2, ... mistakes
CASES = {
    "two levels": (3, 0.4, [5, 7, 1]),
    "most above zero": (40, 3.0, [900] * 17 + [30, 10, 4, 1]),
    "a gap": (60, 8.0, [100] * 25 + [0] * 10 + [1, 1]),
    "one outlier": (200, 20.0, [10**6] * 90 + [0] * 50 + [1]),
    "an empty end": (30, 5.0, [50] * 10 + [9, 3, 0, 0, 0]),
    "all below zero": (10, 9.0, [3, 2, 2, 1, 1, 1]),
}


def defined_weights(t, edge_sum, masses):
    """``-[s]_- exp([s]_-^2 / c)`` relative to the largest exponent, ``sum_i exp(...) = N e``."""
    below = [min(mpmath.mpf(t - 1) / 2 - mpmath.mpf(edge_sum) - k, 0) for k in range(len(masses))]
    highest = max(s**2 for s, mass in zip(below, masses, strict=True) if mass)

    def excess(rate):
        terms = [mass * mpmath.exp(s**2 * rate) for s, mass in zip(below, masses, strict=True)]
        return mpmath.log(mpmath.fsum(terms) / sum(masses)) - 1

    at_most = (1 + mpmath.log(sum(masses))) / highest  # one example there alone sums to N e
    rate = mpmath.findroot(excess, (mpmath.mpf(0), at_most), solver="anderson")
    return [float(-s * mpmath.exp((s**2 - highest) * rate)) for s in below]


@pytest.mark.parametrize(("t", "edge_sum", "masses"), CASES.values(), ids=CASES)
def test_nh_boost_solves_for_c_to_the_last_digits(t, edge_sum, masses):
    with mpmath.workdps(40):
        expected = np.array(defined_weights(t, edge_sum, masses))
    held = np.array(masses)
    weights = NormalHedgeRule().weights(np.arange(held.size), t, edge_sum, held)
    assert np.count_nonzero(weights[held > 0]) >= 2
    np.testing.assert_allclose(weights[held > 0], expected[held > 0], rtol=1e-11, atol=0)


def test_nh_boost_is_uniform_in_round_1_and_if_no_example_is_below_zero():
    rule, ones = NormalHedgeRule(), np.ones(3, dtype=np.int64)
    assert not rule.weights(np.arange(1), 1, 0.0, np.array([5])).any()
    assert not rule.weights(np.arange(3), 9, 0.5, ones).any()
    assert rule.weights(np.arange(3), 4, 0.5, ones).any()
