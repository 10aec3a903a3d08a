"""The vectorised exp, expm1 and sinh against mpmath, at the extremes too."""

import math

import mpmath
import numpy as np
import pytest

from driftgames._kernels.exponential import exp, expm1, sinh
from driftgames._kernels.jit import kernel

WORST = 3e-15


@kernel
def _exps(x, out):
    for i in range(x.size):
        out[i] = exp(x[i])


@kernel
def _expm1s(x, out):
    for i in range(x.size):
        out[i] = expm1(x[i])


@kernel
def _sinhs(x, out):
    for i in range(x.size):
        out[i] = sinh(x[i])


def _apply(loop, x):
    out = np.empty_like(x)
    loop(x, out)
    return out


def _worst(loop, exact, x):
    with mpmath.workdps(40):
        pairs = zip(_apply(loop, x), x, strict=True)
        return max(float(abs(mpmath.mpf(y) / exact(mpmath.mpf(at)) - 1)) for y, at in pairs)


def _points(rng, low, high, count=1500):
    # a count that no vector width divides, so that the scalar tail of the loop is tried too
    return np.concatenate([rng.uniform(low, high, count - 1), [low]])


@pytest.mark.parametrize("reach", [1e-3, 1.0, 700.0])
def test_exp_is_right_to_fifteen_digits(reach):
    x = _points(np.random.default_rng(1), -reach, reach)
    assert _worst(_exps, mpmath.exp, x) < WORST


def test_exp_is_right_where_the_argument_is_split():
    # half-way between multiples of ln 2 the remainder is largest and may fall either way
    k = np.arange(-1020, 1020) + 0.5
    x = np.concatenate([np.nextafter(k * math.log(2), side) for side in (-np.inf, np.inf)])
    assert _worst(_exps, mpmath.exp, x) < WORST


def test_exp_at_its_extremes():
    x = np.array([709.0, -708.0, -709.3, -710.0, -745.0, -1e300, -np.inf, 0.0, -0.0, 5e-324])
    y = _apply(_exps, x)
    assert y[0] == pytest.approx(math.exp(709.0), rel=WORST)
    assert y[1] == pytest.approx(math.exp(-708.0), rel=WORST)
    assert (y[2:7] == 0.0).all()
    assert (y[7:] == 1.0).all()


@pytest.mark.parametrize("reach", [1e-300, 1e-17, 1e-8, 1e-3, 0.3, 30.0, 700.0])
def test_expm1_does_not_cancel_near_zero(reach):
    rng = np.random.default_rng(2)
    x = np.concatenate([_points(rng, -reach, 0.0, 500), _points(rng, 0.0, reach, 500)])
    assert _worst(_expm1s, mpmath.expm1, x[x != 0.0]) < WORST


def test_expm1_at_its_extremes():
    y = _apply(_expm1s, np.array([0.0, -710.0, -np.inf, 709.0]))
    assert y[0] == 0.0
    assert (y[1:3] == -1.0).all()
    assert y[3] == pytest.approx(math.expm1(709.0), rel=WORST)


@pytest.mark.parametrize("reach", [1e-300, 1e-8, 0.1, 2 / 3])
def test_sinh_is_right_up_to_two_thirds(reach):
    x = _points(np.random.default_rng(3), -reach, reach)
    assert _worst(_sinhs, mpmath.sinh, x) < WORST


def test_the_scalar_and_the_vectorised_loop_agree_to_the_bit():
    x = np.random.default_rng(4).uniform(-20.0, 20.0, 64)
    one_by_one = [_apply(_exps, x[i : i + 1])[0] for i in range(x.size)]
    assert (np.array(one_by_one) == _apply(_exps, x)).all()
