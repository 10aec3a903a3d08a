"""Lemmas 1, 2 and 4 and the recipe, over the positions that a game can reach."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames._kernels.elementary import scaled_kummer_all
from driftgames.potentials import POTENTIALS, BackwardHeat, Exponential, NormalHedgeDT, TwoNorm

HORIZON, EPSILON = 60, 0.1
EVERY_POTENTIAL = pytest.mark.parametrize("name", POTENTIALS)


def made(name, horizon=HORIZON):
    return POTENTIALS[name](horizon, EPSILON)


def reachable(t, finest=8):
    return np.linspace(-t, t, 2 * finest * t + 1)


@EVERY_POTENTIAL
def test_alg3_recipe_inequality_holds_at_every_reachable_position(name):
    phi = made(name)
    for t in range(2, HORIZON + 1):
        s = reachable(t - 1)
        left = phi.value(s - 1, t, horizon=HORIZON) + phi.value(s + 1, t, horizon=HORIZON)
        right = 2 * phi.value(s, t - 1, horizon=HORIZON)
        assert np.isfinite(left).all()
        assert np.isfinite(right).all()
        assert (left <= right * (1 + 1e-12) + 1e-12).all()


@EVERY_POTENTIAL
def test_alg3_recipe_inequality_holds_at_the_start_for_chips_at_zero(name):
    phi = made(name)
    ends = phi.value([-1.0, 1.0], 1, horizon=HORIZON)
    assert ends.sum() <= 2 * phi.value([0.0], 0, horizon=HORIZON)[0] * (1 + 1e-12)


@EVERY_POTENTIAL
def test_alg3_potentials_are_convex_nonincreasing_and_nonnegative(name):
    phi = made(name)
    for t in range(1, HORIZON + 1):
        values = phi.value(reachable(t), t, horizon=HORIZON)
        slack = 1e-12 * values.max()
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert (np.diff(values) <= slack).all()
        assert (np.diff(values, 2) >= -slack).all()
        assert values[0] > values[-1]  # not the same everywhere


@given(s=st.floats(-2000, 2000), t=st.integers(2, 2000))
def test_lem1_two_norm_inequality_is_exact_below_minus_one(s, t):
    phi = TwoNorm()
    left = phi.value([s - 1, s + 1], t, horizon=2000).sum()
    right = 2 * phi.value([s], t - 1, horizon=2000)[0]
    assert left <= right * (1 + 1e-14)
    if s <= -1:
        assert left == pytest.approx(right, rel=1e-12)


@given(t=st.integers(2, 10**6), share=st.floats(-1, 1), near=st.booleans())
def test_backward_heat_inequality_holds_in_every_round(t, share, near):
    phi = BackwardHeat()
    s = share * min(t - 1, 5 * t**0.5 if near else 600 * t**0.5, 1000)
    scale = phi.log_scale([s], t)
    ends = phi.value([s - 1, s + 1], t, log_scale=scale)
    # a game of t rounds: sqrt(T) - sqrt(t) is left out on both sides, to see small differences
    left = ends.sum()
    right = 2 * phi.value([s], t - 1, horizon=t, log_scale=scale)[0]
    assert np.isfinite(left)
    assert left <= right * (1 + 1e-13)


def test_backward_heat_no_faster_clock_obeys_the_recipe():
    """With d t in the place of 2 t, and d below 2, a coin outruns the normal variable."""
    t, d, s = 10**4, 1.9, -300.0

    def value(s, t):
        x = s * s / (d * t)
        return t**0.5 * (scaled_kummer_all(x) * np.exp(x) - 1.0)

    assert value(s - 1, t) + value(s + 1, t) > 2 * value(s, t - 1)
    phi = BackwardHeat()
    left = phi.value([s - 1, s + 1], t).sum()
    assert left <= 2 * phi.value([s], t - 1, horizon=t)[0] * (1 + 1e-13)


@pytest.mark.parametrize("horizon", [10, 1000, 10**6])
@pytest.mark.parametrize("epsilon", [1.0, 0.1, 1e-3, 1e-9])
def test_backward_heat_promises_less_regret_than_normal_hedge_dt(horizon, epsilon):
    bound = BackwardHeat().bound(horizon, epsilon)
    assert bound < NormalHedgeDT().bound(horizon, epsilon)
    assert bound > np.sqrt(2 * horizon * np.log(1 / epsilon))  # EXP tuned to T and epsilon


@given(
    t=st.integers(2, 400),
    share=st.floats(-1, 1),
    d=st.floats(3, 20),
)
def test_lem2_normal_hedge_dt_inequality_holds_for_every_d_from_3(t, share, d):
    phi = NormalHedgeDT(d=d)
    s = share * (t - 1)
    left = phi.value([s - 1, s + 1], t, horizon=400).sum()
    right = 2 * phi.value([s], t - 1, horizon=400)[0]
    assert np.isfinite(left)
    assert left <= right * (1 + 1e-12)


def test_lem2_inequality_fails_for_some_d_below_3():
    """The lemma's d >= 3 is no decoration: at d = 2 the inequality breaks."""
    phi = NormalHedgeDT(d=2.0)
    broken = False
    for t in range(2, 30):
        s = reachable(t - 1)
        left = phi.value(s - 1, t, horizon=30) + phi.value(s + 1, t, horizon=30)
        broken = broken or bool((left > 2 * phi.value(s, t - 1, horizon=30) * (1 + 1e-9)).any())
    assert broken


def test_lem2_inequality_at_the_first_round_is_needed_at_zero_only():
    phi = NormalHedgeDT()
    flat = phi.value([0.0], 0, horizon=1)[0]
    assert phi.value([-3.0, -1.0], 1, horizon=1).sum() > 2 * flat
    assert phi.value([-1.0, 1.0], 1, horizon=1).sum() <= 2 * flat


def test_lem3_recursions_give_the_derivatives_of_h():
    """Eq. (4) against derivatives by mpmath, at a point of no special kind."""
    import mpmath

    alpha, beta = alpha_beta(5)
    s, c = mpmath.mpf("-1.7"), mpmath.mpf("4.3")

    def h(x, y):
        return 2 * x / y * mpmath.exp(x**2 / y)

    with mpmath.workdps(60):
        for k in range(6):
            terms = [s ** (2 * j + 1) / c ** (k + j + 1) for j in range(k + 1)]
            by_c = (-1) ** k * sum(a * x for a, x in zip(alpha[k], terms, strict=True))
            by_s = sum(b * x for b, x in zip(beta[k], terms, strict=True))
            scale = mpmath.exp(s**2 / c)
            assert mpmath.almosteq(scale * by_c, mpmath.diff(h, (s, c), (0, k)), 1e-20)
            assert mpmath.almosteq(scale * by_s, mpmath.diff(h, (s, c), (2 * k, 0)), 1e-20)


def test_lem4_holds_with_exact_integers_up_to_k_60():
    alpha, beta = alpha_beta(60)
    for k in range(61):
        for a, b in zip(alpha[k], beta[k], strict=True):
            assert Fraction(b, factorial(2 * k)) <= Fraction(3**k * a, factorial(k))


def test_lem4_needs_d_of_3():
    alpha, beta = alpha_beta(1)
    assert Fraction(beta[1][0], 2) == 3 * alpha[1][0]  # equality, so nothing below 3 will do


def alpha_beta(most):
    """The integers of Eq. (5), row by row."""
    alpha, beta = [[2]], [[2]]
    for k in range(most):
        a = [0, *alpha[-1], 0]  # a[j + 1] is alpha_{k, j}
        b = [0, *beta[-1], 0, 0]
        alpha.append([a[j] + (k + j + 1) * a[j + 1] for j in range(k + 2)])
        beta.append(
            [
                4 * b[j] + (8 * j + 6) * b[j + 1] + (2 * j + 3) * (2 * j + 2) * b[j + 2]
                for j in range(k + 2)
            ]
        )
    return alpha, beta


def test_exponential_recipe_holds_with_equality():
    phi = Exponential(0.37)
    s = reachable(9)
    left = phi.value(s - 1, 10, horizon=20) + phi.value(s + 1, 10, horizon=20)
    np.testing.assert_allclose(left, 2 * phi.value(s, 9, horizon=20), rtol=1e-13)
