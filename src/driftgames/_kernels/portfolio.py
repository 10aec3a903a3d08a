"""Loops over trading days: universal portfolios, exponentiated gradient, online Newton step.

The portfolios of a universal portfolio lie in tiles of `LANES`, ``tiles[tile, asset, lane]``,
so that one tile stays in the first-level cache while a day passes over it; spare lanes of the
last tile carry no prior mass, whose logarithm is minus infinity. Each day is worked out on its
own and in one place, so that a run that is stopped and resumed gives the same bits as one that
is not.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._kernels.exponential import exp
from driftgames._kernels.jit import bits_of, exact_kernel, float_of, kernel, scalar
from driftgames._support.checks import FloatArray

LANES = 64

_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
_MANTISSA = (1 << 52) - 1
_LN2 = 0.6931471805599453


@scalar
def log(x: float) -> float:
    """Return the natural logarithm of a normal float above 0, as arithmetic that vectorises.

    ``x = 2**k m`` with ``m`` between ``sqrt(1/2)`` and ``sqrt(2)``, and ``log(m)`` is
    ``2 atanh(r)`` with ``r = (m - 1) / (m + 1)``. The coefficients are those of
    ``2 atanh(r) / r`` in ``z = r**2``::

        mp.dps = 40; top = mp.mpf("0.029438")
        mp.chebyfit(lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z), [mp.mpf("1e-12"), top], 8)
    """
    shifted = bits_of(x) - _SQRT_HALF_BITS
    k = shifted >> 52
    m = float_of((shifted & _MANTISSA) + _SQRT_HALF_BITS)
    r = (m - 1.0) / (m + 1.0)
    z = r * r
    q = 0.14809750333451574
    q = q * z + 0.15312524326040824
    q = q * z + 0.18183631822957766
    q = q * z + 0.22222197054101914
    q = q * z + 0.2857142876066624
    q = q * z + 0.39999999999302227
    q = q * z + 0.6666666666666765
    q = q * z + 2.0
    return float(r * q + k * _LN2)


@kernel
def universal(
    tiles: FloatArray,
    log_prior: FloatArray,
    positions: FloatArray,
    relatives: FloatArray,
    portfolios: FloatArray,
) -> None:
    """Move the positions through the days and write one more portfolio than there are days.

    ``positions[tile, lane]`` is the learner's log-wealth less the portfolio's; the weight of a
    portfolio is ``exp(log_prior - position)``, which sums to 1 for the learner who plays the
    mean. Of a portfolio without mass ``exp(-position)`` alone may be beyond all floats.
    """
    n_tiles, n_assets, _ = tiles.shape
    quads = n_assets - n_assets % 4
    gains = np.empty(LANES)
    mean = np.empty(n_assets)
    for day in range(relatives.shape[0] + 1):
        learner = 0.0
        if day > 0:
            for k in range(n_assets):
                learner += relatives[day - 1, k] * portfolios[day - 1, k]
            learner = math.log(learner)
        total = 0.0
        mean[:] = 0.0
        for tile in range(n_tiles):
            P = tiles[tile]
            s = positions[tile]
            if day > 0:
                x = relatives[day - 1]
                gains[:] = 0.0
                for k in range(0, quads, 4):
                    a, b, c, d = x[k], x[k + 1], x[k + 2], x[k + 3]
                    for j in range(LANES):
                        gains[j] += (a * P[k, j] + b * P[k + 1, j]) + (
                            c * P[k + 2, j] + d * P[k + 3, j]
                        )
                for k in range(quads, n_assets):
                    for j in range(LANES):
                        gains[j] += x[k] * P[k, j]
                for j in range(LANES):
                    s[j] += learner - log(gains[j])
            for j in range(LANES):
                gains[j] = exp(log_prior[tile, j] - s[j])
            for j in range(LANES):
                total += gains[j]
            for k in range(0, quads, 4):
                a, b, c, d = 0.0, 0.0, 0.0, 0.0
                for j in range(LANES):
                    a += gains[j] * P[k, j]
                    b += gains[j] * P[k + 1, j]
                    c += gains[j] * P[k + 2, j]
                    d += gains[j] * P[k + 3, j]
                mean[k] += a
                mean[k + 1] += b
                mean[k + 2] += c
                mean[k + 3] += d
            for k in range(quads, n_assets):
                a = 0.0
                for j in range(LANES):
                    a += gains[j] * P[k, j]
                mean[k] += a
        for k in range(n_assets):
            portfolios[day, k] = mean[k] / total


@exact_kernel
def exponentiated_gradient(
    logits: FloatArray, relatives: FloatArray, eta: float, portfolios: FloatArray
) -> None:
    """Move the logits through the days and write one more portfolio than there are days."""
    n_assets = logits.size
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * relatives[day - 1, k]
            for k in range(n_assets):
                logits[k] += eta * relatives[day - 1, k] / gain
        highest = logits.max()
        total = 0.0
        for k in range(n_assets):
            portfolios[day, k] = exp(logits[k] - highest)
            total += portfolios[day, k]
        for k in range(n_assets):
            portfolios[day, k] /= total


@exact_kernel
def online_newton_step(
    curvature: FloatArray,
    gradients: FloatArray,
    start: FloatArray,
    relatives: FloatArray,
    beta: float,
    delta: float,
    mix: float,
    portfolios: FloatArray,
) -> None:
    """Move curvature and gradients through the days; one more portfolio than there are days.

    ``start`` is where the search for the next portfolio begins, and holds it at the end; a
    search that begins at its own result ends there, to the bit.
    """
    n_assets = gradients.size
    pull = np.empty(n_assets)
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            x = relatives[day - 1]
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * x[k]
            for k in range(n_assets):
                gradients[k] += (1.0 + 1.0 / beta) * x[k] / gain
                for j in range(n_assets):
                    curvature[k, j] += (x[k] / gain) * (x[j] / gain)
        for k in range(n_assets):
            pull[k] = delta * gradients[k]
        lowest_on_simplex(curvature, pull, start)
        for k in range(n_assets):
            portfolios[day, k] = (1.0 - mix) * start[k] + mix / n_assets


@exact_kernel
def lowest_on_simplex(A: FloatArray, pull: FloatArray, q: FloatArray) -> None:
    """Move ``q`` to the lowest point of ``q.A.q / 2 - pull.q`` on the simplex.

    A primal active-set method for positive definite ``A``: solve on the assets held, give up
    the first that falls to zero on the way, and take up the one that would help most. It is
    quick from a good start.
    """
    n = q.size
    free = np.empty(n, dtype=np.int64)
    held = q > 0.0
    solved = np.empty((2, n))
    factor = np.empty((n, n))
    scale = 0.0
    for k in range(n):
        scale = max(scale, abs(pull[k]), A[k, k])
    for _ in range(20 * n):
        m = 0
        for k in range(n):
            if held[k]:
                free[m] = k
                m += 1
        _solve_held(A, pull, free[:m], factor, solved)
        ones, pulled = 0.0, 0.0
        for i in range(m):
            ones += solved[1, i]
            pulled += solved[0, i]
        level = (1.0 - pulled) / ones
        share, first = 1.0, -1
        for i in range(m):
            target = solved[0, i] + level * solved[1, i]
            solved[0, i] = target
            here = q[free[i]]
            if target <= 0.0 and here <= share * (here - target):
                share, first = here / (here - target) if here > target else 0.0, free[i]
        total = 0.0
        for i in range(m):
            k = free[i]
            # a whole step lands on the solution itself, so that a second search moves nothing
            q[k] = solved[0, i] if first < 0 else max(q[k] + share * (solved[0, i] - q[k]), 0.0)
            if k == first:
                q[k], held[k] = 0.0, False
            total += q[k]
        for k in range(n):
            q[k] /= total
        if first >= 0:
            continue
        best, lowest = -1, -1e-13 * scale
        for k in range(n):
            if not held[k]:
                slope = -pull[k] - level
                for i in range(m):
                    slope += A[k, free[i]] * q[free[i]]
                if slope < lowest:
                    best, lowest = k, slope
        if best < 0:
            return
        held[best] = True


@exact_kernel
def _solve_held(
    A: FloatArray,
    pull: FloatArray,
    free: npt.NDArray[np.int64],
    factor: FloatArray,
    solved: FloatArray,
) -> None:
    """Solve ``A z = pull`` and ``A z = 1`` on the assets held, by Cholesky's method."""
    m = free.size
    for i in range(m):
        for j in range(i + 1):
            total = A[free[i], free[j]]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            factor[i, j] = total / factor[j, j] if i > j else math.sqrt(total)
    for right in range(2):
        z = solved[right]
        for i in range(m):
            total = pull[free[i]] if right == 0 else 1.0
            for k in range(i):
                total -= factor[i, k] * z[k]
            z[i] = total / factor[i, i]
        for i in range(m - 1, -1, -1):
            total = z[i]
            for k in range(i + 1, m):
                total -= factor[k, i] * z[k]
            z[i] = total / factor[i, i]
