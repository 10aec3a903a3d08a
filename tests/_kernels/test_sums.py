"""Sums over chips have one order: chip i goes to lane i % 8, and the lanes fold as a tree."""

import math
from fractions import Fraction

import numpy as np
import pytest

from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, any_of, first, load, load_mask
from driftgames._kernels.sums import dot, lowest, matvec, total, vecmat

SIZES = [0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 1001]


def _fold(lanes):
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [lanes[i] + lanes[half + i] for i in range(half)]
    return lanes[0]


def _in_order(terms):
    """Return the sum as it is defined, in plain Python."""
    lanes = [0.0] * LANES
    for i, term in enumerate(terms):
        lanes[i % LANES] += term
    return _fold(lanes)


def _fused(x, y):
    """Return the inner product as it is defined, each step rounded once."""
    lanes = [0.0] * LANES
    for i, (a, b) in enumerate(zip(x, y, strict=True)):
        lanes[i % LANES] = float(Fraction(a) * Fraction(b) + Fraction(lanes[i % LANES]))
    return _fold(lanes)


@pytest.mark.parametrize("n", SIZES)
def test_sums_have_the_order_that_is_defined(n):
    rng = np.random.default_rng(n)
    # terms of many sizes, so that another order gives other bits
    x, y = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n), rng.normal(size=n)
    assert total(x) == _in_order(x.tolist())
    assert dot(x, y) == _fused(x.tolist(), y.tolist())
    assert lowest(x) == (x.min() if n else math.inf)


def test_another_order_would_give_other_bits():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000) * 10.0 ** rng.integers(-8, 8, 1000)
    assert total(x) != sum(x.tolist())
    assert total(x) != total(x[::-1].copy())


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 5), (20, 9), (7, 16), (6, 36), (5, 17)])
def test_products_with_a_matrix_are_made_of_the_same_sums(shape):
    rng = np.random.default_rng(1)
    A, x, p = rng.normal(size=shape), rng.normal(size=shape[1]), rng.normal(size=shape[0])
    for matrix in (A, np.asfortranarray(A)):
        assert matvec(matrix, x).tolist() == [dot(np.ascontiguousarray(row), x) for row in A]
        assert vecmat(p, matrix).tolist() == [_fused_in_order(p, column) for column in A.T]


def _fused_in_order(x, y):
    """Return a sum of products in the order of the entries, each step rounded once."""
    result = 0.0
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        result = float(Fraction(a) * Fraction(b) + Fraction(result))
    return result


@pytest.mark.parametrize("n", [1, 5, 8, 12, 17])
def test_a_row_of_nan_stays_in_its_row(n):
    """Loads reach into the next row."""
    for bad in range(6):
        A = np.ones((6, n))
        A[bad] = np.nan
        assert np.flatnonzero(np.isnan(matvec(A, np.ones(n)))).tolist() == [bad]
        column = np.ones((6, n))
        column[:, n // 2] = np.inf
        assert np.flatnonzero(np.isinf(vecmat(np.ones(6), column))).tolist() == [n // 2]


@kernel
def _widened(x, out):
    for i in range(0, x.size, LANES):
        group = load(x, i, -1.0)
        out[i // LANES, 0] = any_of(group < 0.0)
        out[i // LANES, 1] = any_of(~first(x.size - i))


@kernel
def _is_any(x):
    found = False
    for i in range(0, x.size, LANES):
        found |= any_of(load_mask(x, i))
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 16])
def test_lanes_beyond_the_end_hold_the_pad(n, dtype):
    out = np.zeros((-(-n // LANES), 2), dtype=bool)
    _widened(np.ones(n, dtype=dtype), out)
    assert out[:-1].any() == False  # noqa: E712
    assert out[-1].tolist() == [n % LANES != 0] * 2


@pytest.mark.parametrize("n", [1, 7, 8, 9, 17])
def test_a_mask_is_false_beyond_the_end(n):
    awake = np.zeros(n + 8, dtype=bool)
    awake[n:] = True
    assert not _is_any(awake[:n])
    assert _is_any(awake[: n + 1])
