"""Our elementary functions against mpmath, at the extremes too."""

import math

import mpmath
import numpy as np
import pytest

from driftgames._kernels.elementary import (
    exp,
    exp_all,
    expm1,
    expm1_all,
    log,
    log1p,
    log_all,
    scaled_erfc,
    scaled_kummer,
    sinh,
)
from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.templates import Part, as_part, instantiate

WORST = 5e-15

part = Part("part")


@kernel
def _in_lanes(x, out):
    for i in range(0, x.size, LANES):
        store(out, i, part.each(load(x, i, 1.0)))


@kernel
def _one_by_one(x, out):
    for i in range(x.size):
        out[i] = part.each(x[i])


FUNCTIONS = {f.__name__: f for f in (exp, expm1, sinh, log, log1p, scaled_erfc, scaled_kummer)}
LOOPS = {
    name: [instantiate(loop, part=as_part("part", each=f)) for loop in (_in_lanes, _one_by_one)]
    for name, f in FUNCTIONS.items()
}


def _apply(name, x):
    """Return the function of every entry, which lanes and floats must agree on to the bit."""
    lanes, floats = np.empty_like(x), np.empty_like(x)
    LOOPS[name][0](x, lanes)
    LOOPS[name][1](x, floats)
    np.testing.assert_array_equal(lanes.view(np.int64), floats.view(np.int64))
    return lanes


def _worst(name, exact, x):
    with mpmath.workdps(40):
        pairs = zip(_apply(name, x), x, strict=True)
        return max(float(abs(mpmath.mpf(y) / exact(mpmath.mpf(at)) - 1)) for y, at in pairs)


def _points(rng, low, high, count=1500):
    # a count that no vector width divides, so that the scalar tail of the loop is tried too
    return np.concatenate([rng.uniform(low, high, count - 1), [low]])


@pytest.mark.parametrize("reach", [1e-3, 1.0, 700.0])
def test_exp_is_right_to_fifteen_digits(reach):
    x = _points(np.random.default_rng(1), -reach, reach)
    assert _worst("exp", mpmath.exp, x) < WORST


def test_exp_is_right_where_the_argument_is_split():
    # half-way between multiples of ln 2 the remainder is largest and may fall either way
    k = np.arange(-1020, 1020) + 0.5
    x = np.concatenate([np.nextafter(k * math.log(2), side) for side in (-np.inf, np.inf)])
    assert _worst("exp", mpmath.exp, x) < WORST


def test_exp_at_its_extremes():
    x = np.array([709.0, -708.0, -709.3, -710.0, -745.0, -1e300, -np.inf, 0.0, -0.0, 5e-324])
    y = _apply("exp", x)
    assert y[0] == pytest.approx(math.exp(709.0), rel=WORST)
    assert y[1] == pytest.approx(math.exp(-708.0), rel=WORST)
    assert (y[2:7] == 0.0).all()
    assert (y[7:] == 1.0).all()


@pytest.mark.parametrize("reach", [1e-300, 1e-17, 1e-8, 1e-3, 0.3, 30.0, 700.0])
def test_expm1_does_not_cancel_near_zero(reach):
    rng = np.random.default_rng(2)
    x = np.concatenate([_points(rng, -reach, 0.0, 500), _points(rng, 0.0, reach, 500)])
    assert _worst("expm1", mpmath.expm1, x[x != 0.0]) < WORST


def test_expm1_at_its_extremes():
    y = _apply("expm1", np.array([0.0, -710.0, -np.inf, 709.0]))
    assert y[0] == 0.0
    assert (y[1:3] == -1.0).all()
    assert y[3] == pytest.approx(math.expm1(709.0), rel=WORST)


@pytest.mark.parametrize("reach", [1e-300, 1e-8, 0.1, 2 / 3])
def test_sinh_is_right_up_to_two_thirds(reach):
    x = _points(np.random.default_rng(3), -reach, reach)
    assert _worst("sinh", mpmath.sinh, x) < WORST


@pytest.mark.parametrize("reach", [1e-9, 0.3, 1.0])
def test_log_keeps_its_digits_near_one(reach):
    x = 1.0 + _points(np.random.default_rng(5), -0.9 * reach, reach)
    assert _worst("log", mpmath.log, x[x != 1.0]) < WORST
    assert _apply("log", np.ones(1))[0] == 0.0


def test_log_is_right_over_all_normal_floats():
    x = 10.0 ** _points(np.random.default_rng(6), -307.0, 308.0)
    halves = np.sqrt(0.5) * 2.0 ** np.arange(-1000, 1000)  # where the mantissa changes its side
    both_sides = [np.nextafter(halves, side) for side in (0.0, np.inf)]
    assert _worst("log", mpmath.log, np.concatenate([x, halves, *both_sides])) < WORST


@pytest.mark.parametrize("reach", [1e-300, 1e-17, 1e-8, 0.3, 0.999])
def test_log1p_does_not_cancel_near_zero(reach):
    x = _points(np.random.default_rng(7), -reach, reach)
    assert _worst("log1p", mpmath.log1p, x[x != 0.0]) < WORST


def test_scaled_erfc_is_right_from_zero_to_its_asymptote():
    x = np.concatenate([_points(np.random.default_rng(8), 0.0, 12.0), 10.0 ** np.arange(1.5, 9)])

    def exact(at):
        if at < 50:
            return mpmath.exp(at * at) * mpmath.erfc(at)
        series = sum((-1) ** n * mpmath.fac2(2 * n - 1) / (2 * at * at) ** n for n in range(8))
        return series / (at * mpmath.sqrt(mpmath.pi))

    assert _worst("scaled_erfc", exact, x) < WORST


def test_functions_of_arrays_honour_zero_infinity_and_the_smallest_floats():
    assert exp_all([-np.inf, 0.0, 710.0, np.inf]).tolist() == [0.0, 1.0, np.inf, np.inf]
    assert expm1_all([-np.inf, 0.0, 710.0]).tolist() == [-1.0, 0.0, np.inf]
    assert log_all([0.0, 1.0, np.inf]).tolist() == [-np.inf, 0.0, np.inf]
    assert log_all([5e-324])[0] == pytest.approx(math.log(5e-324), rel=WORST)
    table = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(exp_all(table)[1], exp_all(table[1]))
    np.testing.assert_array_equal(exp_all(table.T), exp_all(table).T)


def test_expm1_is_right_where_the_argument_is_split():
    x = np.concatenate([np.linspace(0.2, 0.8, 2001), -np.linspace(0.2, 0.8, 2001)])
    assert _worst("expm1", mpmath.expm1, x) < WORST


def test_functions_of_arrays_keep_nan_and_say_where_there_is_no_logarithm():
    for function in (exp_all, expm1_all, log_all):
        assert np.isnan(function([np.nan])[0])
    assert np.isnan(log_all([-1.0])[0])


@pytest.mark.parametrize(("low", "high"), [(-300, -9), (-9, -2), (-2, 1), (1, 2), (2, 4), (4, 150)])
def test_scaled_kummer_is_right_to_fifteen_digits(low, high):
    def exact(x):
        if x < 1:
            return mpmath.exp(-x) * sum(
                x**k / ((2 * k - 1) * mpmath.factorial(k)) for k in range(1, 30)
            )
        return mpmath.exp(-x) - mpmath.hyp1f1(1, mpmath.mpf(1) / 2, -x)

    x = 10 ** _points(np.random.default_rng(9), low, high, 250)
    assert _worst("scaled_kummer", exact, x) < WORST


def test_scaled_kummer_at_its_extremes():
    y = _apply("scaled_kummer", np.array([0.0, -0.0, 1e-320, 1e300]))
    np.testing.assert_array_equal(y[:3], 0.0)
    assert y[3] == pytest.approx(5e-301, rel=WORST)
