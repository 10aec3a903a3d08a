"""Exact arithmetic with integers of 63 bits: products of 126 bits, and quotients rounded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel


@inner_kernel
def same_products(a: int, b: int, c: int, d: int) -> bool:
    """Return whether ``a b = c d``, for nonnegative integers below 2**63."""
    u, v, x, y = np.uint64(a), np.uint64(b), np.uint64(c), np.uint64(d)
    return bool(u * v == x * y and _high_product(u, v) == _high_product(x, y))


@inner_kernel
def _high_product(a: Any, b: Any) -> Any:
    """Return the upper 64 bits of the product of two unsigned numbers of 64 bits."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low = (a & mask) * (b & mask)
    middle = (a >> half) * (b & mask) + (low >> half)
    other = (a & mask) * (b >> half) + (middle & mask)
    return (a >> half) * (b >> half) + (middle >> half) + (other >> half)


@inner_kernel
def ratio(a: int, b: int) -> float:
    """Return ``a / b`` rounded correctly, as Python does, for ``0 < a <= b < 2**63``.

    Numba's own division rounds both integers to floats first.
    """
    one = np.uint64(1)
    rest, divisor = np.uint64(a), np.uint64(b)
    exponent = 0
    while rest < divisor:  # a / b = (rest / divisor) / 2**exponent, at least 1 and below 2
        rest <<= one
        exponent += 1
    quotient = np.uint64(0)
    for _ in range(54):  # one bit more than a float holds
        quotient <<= one
        if rest >= divisor:
            rest -= divisor
            quotient |= one
        rest <<= one
    mantissa = quotient >> one
    if quotient & one and (rest != np.uint64(0) or mantissa & one):  # half rounds to even
        mantissa += one
    return math.ldexp(float(mantissa), -52 - exponent)


@inner_kernel
def floor_ratio(a: int, b: int, bits: int) -> int:
    """Return ``floor(a 2**bits / b)`` for ``0 <= a <= b < 2**63`` and at most 62 bits."""
    one = np.uint64(1)
    rest, divisor = np.uint64(a), np.uint64(b)
    quotient = np.uint64(0)
    for _ in range(bits + 1):
        quotient <<= one
        if rest >= divisor:
            rest -= divisor
            quotient |= one
        rest <<= one
    return int(quotient)
