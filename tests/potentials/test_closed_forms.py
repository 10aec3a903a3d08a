"""EXP, 2-norm and NormalHedge.DT: values, weights, extremes and bad input."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftgames.certificates import bounds
from driftgames.potentials import (
    POTENTIALS,
    BackwardHeat,
    Exponential,
    NoBoundError,
    NormalHedgeDT,
    Potential,
    TwoNorm,
    normalise,
)

CLOSED_FORMS = [
    Exponential(0.05),
    Exponential(3.0),
    TwoNorm(),
    NormalHedgeDT(),
    NormalHedgeDT(7.0),
    BackwardHeat(),
]
EVERY_FORM = pytest.mark.parametrize("phi", CLOSED_FORMS, ids=repr)


@EVERY_FORM
@settings(max_examples=40)
@given(s=st.lists(st.floats(-30, 30), min_size=1, max_size=20), t=st.integers(31, 90))
def test_weights_are_half_the_difference_of_values(phi, s, t):
    s = np.array(s)
    scale = phi.log_scale(s, t)
    difference = (phi.value(s - 1, t) - phi.value(s + 1, t)) / 2 * math.exp(-scale)
    rounding = 1e-15 * phi.value(s - 1, t) * math.exp(-scale)
    assert (np.abs(phi.weights(s, t) - difference) <= rounding * 8 + 1e-300).all()


@EVERY_FORM
def test_shards_that_share_a_log_scale_weigh_as_one_population(phi):
    s = np.random.default_rng(0).normal(-3, 6, 40)
    shared = max(phi.log_scale(s[:7], 50), phi.log_scale(s[7:], 50))
    shards = np.concatenate([phi.weights(s[:7], 50, shared), phi.weights(s[7:], 50, shared)])
    np.testing.assert_array_equal(shards, phi.weights(s, 50, phi.log_scale(s, 50)))


def test_normal_hedge_dt_weight_is_exactly_zero_from_one_on():
    weights = NormalHedgeDT().weights([np.nextafter(1.0, 0.0), 1.0, 1.5, 40.0], t=7)
    assert weights[0] > 0
    np.testing.assert_array_equal(weights[1:], 0.0)
    assert not np.signbit(weights[1:]).any()


# mpmath.mp.dps = 50
# w = (exp(min(s - 1, 0)**2 / (d*t)) - exp(min(s + 1, 0)**2 / (d*t))) / 2, log_scale at the lowest
@pytest.mark.parametrize("t", [1, 2, 1000, 2200, 10**6])
@pytest.mark.parametrize("lowest", [-1.0, -0.999, -0.01])
def test_normal_hedge_dt_weights_equal_mpmath_at_extreme_positions(t, lowest):
    s = np.array([lowest * t, lowest * t + 1e-3, -0.9, -1e-9, 0.0, 0.5, 1 - 1e-9])
    phi = NormalHedgeDT()
    with mpmath.workdps(50):
        scale = mpmath.mpf(float(s.min() - 1)) ** 2 / (3 * t) if s.min() < 1 else mpmath.mpf(0)
        expected = [
            (
                mpmath.exp(min(mpmath.mpf(float(x)) - 1, 0) ** 2 / (3 * t) - scale)
                - mpmath.exp(min(mpmath.mpf(float(x)) + 1, 0) ** 2 / (3 * t) - scale)
            )
            / 2
            for x in s
        ]
        expected = np.array([float(x) for x in expected])
    found = phi.weights(s, t)
    assert np.isfinite(found).all()
    # the exponent itself carries rounding of its own size
    exponent = (s - 1) ** 2 / (3 * t)
    tolerance = expected * (1e-14 + 4e-16 * (exponent + exponent.max())) + 1e-305
    assert (np.abs(found - expected) <= tolerance).all()


def test_backward_heat_bound_equals_mpmath_down_to_the_smallest_float():
    # with mp.workdps(40):
    #     G = lambda x: mp.nsum(lambda k: x**k / ((2 * k - 1) * mp.factorial(k)), [1, mp.inf])
    #     mp.sqrt(2 * mp.findroot(lambda x: mp.log(G(x)) + mp.log(epsilon), -mp.log(epsilon) + 7))
    wanted = {
        0.5: 1.723695927582736,
        1e-10: 7.342111646393749,
        1e-300: 37.363478450592575,
        1e-308: 37.853971566781846,
        5e-324: 38.775085499573648,
    }
    for epsilon, root in wanted.items():
        assert float(BackwardHeat().bound(1, epsilon)) == pytest.approx(root, rel=1e-12)


@pytest.mark.parametrize("t", [1, 2, 1000, 10**6])
@pytest.mark.parametrize("lowest", [-1.0, -0.999, -0.01])
def test_backward_heat_weights_equal_mpmath_at_extreme_positions(t, lowest):
    s = np.array([lowest * t, lowest * t + 1e-3, -0.9, -1e-9, 0.0, 0.5, 1 - 1e-9])
    phi = BackwardHeat()

    def kummer(x):  # G of the docstring, times exp(-scale)
        y = mpmath.sqrt(x)
        rising = y * mpmath.sqrt(mpmath.pi) * mpmath.erfi(y)
        return (rising - mpmath.exp(x) + 1) * mpmath.exp(-scale)

    with mpmath.workdps(60):
        root = mpmath.sqrt(t)
        scale = mpmath.mpf(float(s.min() - 1)) ** 2 / (2 * t) + mpmath.log(t) / 2
        places = [[min(mpmath.mpf(float(x)) + move, 0) for x in s] for move in (-1, 1)]
        left, right = ([kummer(x**2 / (2 * t)) for x in row] for row in places)
        expected = np.array([float(root * (a - b) / 2) for a, b in zip(left, right, strict=True)])
        heavier = np.array([float(root * a) for a in left])
    found = phi.weights(s, t)
    assert np.isfinite(found).all()
    # a difference of two terms: the error is relative to the larger one
    exponent = (s - 1) ** 2 / (2 * t)
    tolerance = heavier * (1e-14 + 4e-16 * (exponent + exponent.max())) + 1e-305
    assert (np.abs(found - expected) <= tolerance).all()


@pytest.mark.parametrize("phi", [Exponential(0.7), Exponential(50.0)], ids=repr)
def test_exponential_weights_equal_mpmath_at_extreme_positions(phi):
    s = np.array([-1e6, -1e6 + 0.5, -999.0, 0.0, 5.0])
    with mpmath.workdps(50):
        eta, low = mpmath.mpf(phi.eta), mpmath.mpf(-1e6)
        expected = [
            float((mpmath.exp(-eta * (x - low)) - mpmath.exp(-eta * (x + 2 - low))) / 2)
            for x in map(mpmath.mpf, s.tolist())
        ]
    np.testing.assert_allclose(phi.weights(s, 5), expected, rtol=1e-8, atol=1e-300)


def test_potential_values_pinned():
    """The digits are mpmath's, to 50 places."""
    np.testing.assert_allclose(
        NormalHedgeDT().value([-3.0, -0.5, 0.0, 2.0], 5, horizon=9),
        [1.2219785696743034, 0.41666609967005542, 0.39985976928379445, 0.39985976928379445],
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        Exponential(0.4).value([-3.0, 2.0], 5, horizon=9),
        [4.5349494712399785, 0.61373867115398946],
        rtol=1e-13,
    )
    np.testing.assert_array_equal(TwoNorm().value([-3.0, 2.0], 5, horizon=9), [13.0, 4.0])
    np.testing.assert_allclose(
        BackwardHeat().value([-3.0, -0.5, 0.0, 2.0], 5, horizon=9),
        [3.1427221554690097, 0.82006781552357856, 0.7639320225002103, 0.7639320225002103],
        rtol=1e-13,
    )


def test_normal_hedge_dt_flat_start():
    phi = NormalHedgeDT()
    one_less_b = sum(math.expm1(4 / (3 * t)) for t in range(1, 11)) / 2
    np.testing.assert_allclose(phi.value([-5.0, 0.0, 5.0], 0, horizon=10), one_less_b)


@pytest.mark.parametrize("name", POTENTIALS)
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 0.9])
def test_bound_solves_theorem_2(name, epsilon):
    """Every closed form is where Phi_T(-R) meets Phi_0(0) / epsilon."""
    phi = POTENTIALS[name](300, 0.05)
    assert phi.bound(300, epsilon) == pytest.approx(Potential.bound(phi, 300, epsilon), rel=1e-9)


def test_bounds_without_a_closed_form_are_solved_for_many_epsilons_as_for_one():
    class Logistic(Potential):
        """Phi(s) = 1 / (1 + e^s) in every round: no position reaches 1."""

        adaptive = False

        def value(self, positions, t, *, horizon=None, log_scale=0.0):
            return 1 / (1 + np.exp(np.asarray(positions)))

    epsilons = np.linspace(0.3, 1.0, 57)
    phi = Logistic()  # not convex: it has no bound, and the search alone is tested
    found = [phi._solve_bounds(t, epsilons) for t in (5, 9)]
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(epsilons > 0.5, -np.log(2 * epsilons - 1), np.inf)
    exact[exact > 20] = np.inf  # beyond four times as much as any regret
    for t, row in zip((5, 9), found, strict=True):
        np.testing.assert_allclose(row, exact, atol=1e-12)
        alone = [phi._solve_bounds(t, epsilons[i : i + 1])[0] for i in range(epsilons.size)]
        assert row.tolist() == pytest.approx(alone)


def test_bounds_broadcast_over_horizons_and_epsilons():
    for phi in CLOSED_FORMS:
        table = phi.bound(np.array([[1], [50]]), [0.1, 1.0])
        assert table.shape == (2, 2)
        assert table[1, 0] == phi.bound(50, 0.1)


def test_cor2_printed_bound_is_above_the_exact_one():
    horizons = np.array([1, 2, 10, 1000, 10**5])[:, np.newaxis]
    epsilons = [0.001, 0.1, 1.0]
    exact, printed = (
        NormalHedgeDT().bound(horizons, epsilons),
        bounds.corollary_2(horizons, epsilons),
    )
    assert (exact <= printed * (1 + 1e-12)).all()
    assert (printed <= 1.3 * exact).all()


@pytest.mark.parametrize("eta", [1e-12, 1e-7, 0.3, 0.999, 1.0, 40.0, 800.0])
def test_the_bound_of_exp_keeps_its_digits_for_every_eta(eta):
    with mpmath.workdps(50):
        exact = 10**6 * mpmath.log(mpmath.cosh(mpmath.mpf(eta))) / eta
    assert Exponential(eta).bound(10**6, 1.0) == pytest.approx(float(exact), rel=1e-13)


def test_tuned_exponential_is_below_its_printed_bound():
    for T, epsilon in [(10, 0.5), (1000, 0.01), (10**6, 1e-6)]:
        exact = Exponential.tuned(T, epsilon).bound(T, epsilon)
        assert exact <= bounds.exponential_weights(T, epsilon)
        assert exact >= 0.9 * bounds.exponential_weights(T, epsilon)


@pytest.mark.parametrize("phi", CLOSED_FORMS, ids=repr)
def test_a_million_rounds_of_the_worst_chip_stay_finite_and_normalised(phi):
    for t in (10, 10**3, 2100, 2200, 10**4, 10**6):
        p = phi.distribution([-float(t), -t / 2, 0.0, t / 2, float(t)], t + 1)
        assert np.isfinite(p).all()
        assert p.sum() == pytest.approx(1.0, abs=1e-12)
        assert p[0] == p.max()


def test_lagging_clock_weighs_all_chips_alike_until_it_starts():
    phi = NormalHedgeDT(d=4, lag=1)
    np.testing.assert_array_equal(phi.distribution([-3.0, 0.0, 7.0], 1), 1 / 3)
    s = [-3.0, -0.5, 0.0, 2.0]
    np.testing.assert_array_equal(phi.weights(s, 6), NormalHedgeDT(d=4).weights(s, 5))


@pytest.mark.parametrize("phi", [NormalHedgeDT(d=2.9), NormalHedgeDT(d=4, lag=1)], ids=repr)
def test_no_bound_says_why(phi):
    with pytest.raises(NoBoundError, match="Lemma 2"):
        phi.bound(10, 0.1)


def test_the_bound_begins_at_d_of_3_exactly():
    below = NormalHedgeDT(d=np.nextafter(3.0, 0.0))
    with pytest.raises(NoBoundError, match=r"d < 3 \(Lemma 2 needs d >= 3\); got 2\.99999"):
        below.bound(10, 0.1)
    # the cheaper form of the weight needs d >= 3 as well
    assert below.kernels is not NormalHedgeDT().kernels
    assert NormalHedgeDT(d=3).bound(10, 0.1) == NormalHedgeDT().bound(10, 0.1)
    assert NormalHedgeDT(d=3).kernels is NormalHedgeDT(d=5).kernels


def test_all_zero_weights_play_the_prior():
    phi = NormalHedgeDT()
    np.testing.assert_array_equal(phi.distribution([2.0, 3.0], 5), [0.5, 0.5])
    prior = np.array([0.2, 0.8])
    np.testing.assert_array_equal(phi.distribution([2.0, 3.0], 5, prior), prior)
    assert normalise(np.array([0.0, 2.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Exponential(0.0), "eta must be a finite number > 0; got 0.0"),
        (lambda: Exponential(math.nan), "eta must be a finite number > 0; got nan"),
        (lambda: NormalHedgeDT(d=-1), "d must be a finite number > 0; got -1"),
        (lambda: NormalHedgeDT(lag=-1), "lag must be an integer >= 0; got -1"),
        (lambda: Exponential.tuned(0, 0.1), "horizon must be an integer >= 1; got 0"),
        (lambda: Exponential.tuned(5, 1.0), "epsilon must be below 1"),
        (lambda: TwoNorm().bound(0, 0.1), "horizon must be an integer >= 1; got 0"),
        (lambda: TwoNorm().bound(2.5, 0.1), "horizon must be an integer >= 1; got 2.5"),
        (lambda: TwoNorm().bound(5, 0.0), r"epsilon must lie in \(0, 1\]; got .*0.0"),
        (lambda: TwoNorm().bound(5, [0.5, 1.5]), r"epsilon must lie in \(0, 1\]; got .*1.5"),
        (lambda: TwoNorm().weights([0.0, math.nan], 1), "positions must be finite; got nan at"),
        (lambda: TwoNorm().weights([[0.0]], 1), "positions must be one-dimensional"),
        (lambda: TwoNorm().weights(["a"], 1), "positions must be numbers"),
        (lambda: NormalHedgeDT().weights([0.0], 0), "t must be an integer >= 1; got 0"),
        (lambda: normalise([0.0, 0.0], [1.0]), r"prior must be of shape \(2,\); got shape \(1,\)"),
    ],
)
def test_bad_input_names_the_value_and_the_rule(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


@EVERY_FORM
@pytest.mark.parametrize(
    ("t", "horizon", "message"),
    [
        (10**400, None, r"t must be an integer below 2\*\*63"),
        (-1, None, "t must be an integer >= 0; got -1"),
        (1.5, None, "t must be an integer >= 0; got 1.5"),
        (3, 2, "horizon must be an integer >= 3; got 2"),
        (3, 10**400, r"horizon must be an integer below 2\*\*63"),
    ],
)
def test_a_clock_that_is_none_is_refused(phi, t, horizon, message):
    with pytest.raises(ValueError, match=message):
        phi.value([0.0, 1.0], t, horizon=horizon)
