"""Loops over trading days: universal portfolios, exponentiated gradient, online Newton step.

The portfolios of a universal portfolio lie in tiles of `WIDTH`, ``tiles[tile, asset, place]``,
four `Lanes` wide, so that four sums are under way at once; spare places of the last tile carry
no prior mass, whose logarithm is minus infinity. Each day is worked out on its own and in one
place, so that a run that is stopped and resumed gives the same bits as one that is not. Sums
over portfolios have the order of `driftgames._kernels.lanes`, sums over assets that of the
assets.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, size
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.lanes import LANES, any_of, fold, load, spread, store
from driftgames.core.typing import FloatArray

WIDTH = 4 * LANES

_MOST_STEPS = 60  # of Newton's method; a handful is enough for any cost


@kernel
def trade(
    portfolios: FloatArray,
    relatives: FloatArray,
    cost: float,
    held: FloatArray,
    log_wealth: float,
    out: FloatArray,
) -> None:
    """Write the log-wealth at the end of each day and move ``held``, the shares, through them."""
    n_assets = held.size
    for day in range(relatives.shape[0]):
        b, x = portfolios[day], relatives[day]
        if cost > 0.0:
            log_wealth += log(left_after_trading(b, held, cost))
        gain = 0.0
        for k in range(n_assets):
            gain = fma(b[k], x[k], gain)
        for k in range(n_assets):
            held[k] = b[k] * x[k] / gain
        log_wealth += log(gain)
        out[day] = log_wealth


@kernel
def left_after_trading(b: FloatArray, held: FloatArray, cost: float) -> float:
    """Return the share w of wealth that is left when ``held`` is traded for ``b``.

    It solves ``w = 1 - cost * sum |w b - held|``, by Newton's method from above: the equation
    is convex and linear in pieces, so the last step is exact.
    """
    left = 1.0
    for _ in range(_MOST_STEPS):
        traded, slope = 0.0, 0.0
        for k in range(b.size):
            bought = fma(left, b[k], -held[k])
            traded += size(bought)
            slope += choose(bought > 0.0, b[k], -b[k])
        lower = left - fma(cost, traded, left - 1.0) / fma(cost, slope, 1.0)
        if not lower < left:
            break
        left = lower
    return left


@kernel
def universal(
    tiles: FloatArray,
    log_prior: FloatArray,
    positions: FloatArray,
    relatives: FloatArray,
    portfolios: FloatArray,
) -> None:
    """Move the positions through the days and write one more portfolio than there are days.

    ``positions[tile, place]`` is the learner's log-wealth less the portfolio's; the weight of a
    portfolio is ``exp(log_prior - position)``, which sums to 1 for the learner who plays the
    mean. Of a portfolio without mass ``exp(-position)`` alone may be beyond all floats.
    """
    n_tiles, n_assets, _ = tiles.shape
    means = np.empty((n_assets, LANES))
    for day in range(relatives.shape[0] + 1):
        learner = 0.0
        if day > 0:
            for k in range(n_assets):
                learner = fma(relatives[day - 1, k], portfolios[day - 1, k], learner)
            learner = log(learner)
        weight = spread(0.0)
        means[:] = 0.0
        for tile in range(n_tiles):
            P, s, q = tiles[tile], positions[tile], log_prior[tile]
            if day > 0:
                g0, g1, g2, g3 = _gains(P, relatives[day - 1])
                store(s, 0, load(s, 0, 0.0) + (learner - log(g0)))
                store(s, 8, load(s, 8, 0.0) + (learner - log(g1)))
                store(s, 16, load(s, 16, 0.0) + (learner - log(g2)))
                store(s, 24, load(s, 24, 0.0) + (learner - log(g3)))
            w0 = exp(load(q, 0, 0.0) - load(s, 0, 0.0))
            w1 = exp(load(q, 8, 0.0) - load(s, 8, 0.0))
            w2 = exp(load(q, 16, 0.0) - load(s, 16, 0.0))
            w3 = exp(load(q, 24, 0.0) - load(s, 24, 0.0))
            weight = weight + w0 + w1 + w2 + w3
            _add_up(P, w0, w1, w2, w3, means)
        _write_mean(means, fold(weight), portfolios[day])


@kernel
def universal_net(
    tiles: FloatArray,
    log_prior: FloatArray,
    positions: FloatArray,
    tolls: FloatArray,
    offset: FloatArray,
    cost: float,
    relatives: FloatArray,
    portfolios: FloatArray,
) -> None:
    """Do what `universal` does with portfolios that pay for their own rebalancing.

    ``tolls`` holds the logarithm of what each portfolio keeps when it trades for the next day.
    ``positions`` are the common ``offset`` less a portfolio's log-wealth; the offset follows
    the mean wealth, so that weights stay floats.
    """
    n_tiles, n_assets, _ = tiles.shape
    means = np.empty((n_assets, LANES))
    mean_log = 0.0
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            offset[0] += mean_log
        weight = spread(0.0)
        means[:] = 0.0
        for tile in range(n_tiles):
            P, s, q, toll = tiles[tile], positions[tile], log_prior[tile], tolls[tile]
            if day > 0:
                x = relatives[day - 1]
                g0, g1, g2, g3 = _gains(P, x)
                _pay(P, x, cost, mean_log, 0, g0, s, toll)
                _pay(P, x, cost, mean_log, 8, g1, s, toll)
                _pay(P, x, cost, mean_log, 16, g2, s, toll)
                _pay(P, x, cost, mean_log, 24, g3, s, toll)
            w0 = exp(load(q, 0, 0.0) + load(toll, 0, 0.0) - load(s, 0, 0.0))
            w1 = exp(load(q, 8, 0.0) + load(toll, 8, 0.0) - load(s, 8, 0.0))
            w2 = exp(load(q, 16, 0.0) + load(toll, 16, 0.0) - load(s, 16, 0.0))
            w3 = exp(load(q, 24, 0.0) + load(toll, 24, 0.0) - load(s, 24, 0.0))
            weight = weight + w0 + w1 + w2 + w3
            _add_up(P, w0, w1, w2, w3, means)
        total = fold(weight)
        mean_log = log(total)
        _write_mean(means, total, portfolios[day])


@scalar
def _gains(P: FloatArray, x: FloatArray) -> tuple[float, float, float, float]:
    """Return what each portfolio of a tile makes of 1 in a day, in four `Lanes`."""
    g0, g1, g2, g3 = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for k in range(P.shape[0]):
        row, factor = P[k], spread(x[k])
        g0 = fma(factor, load(row, 0, 0.0), g0)
        g1 = fma(factor, load(row, 8, 0.0), g1)
        g2 = fma(factor, load(row, 16, 0.0), g2)
        g3 = fma(factor, load(row, 24, 0.0), g3)
    return g0, g1, g2, g3


@scalar
def _add_up(P: FloatArray, w0: float, w1: float, w2: float, w3: float, means: FloatArray) -> None:
    """Add the weighted portfolios of a tile to the means, asset by asset."""
    for k in range(P.shape[0]):
        row, mean = P[k], means[k]
        so_far = fma(w0, load(row, 0, 0.0), load(mean, 0, 0.0))
        so_far = fma(w1, load(row, 8, 0.0), so_far)
        so_far = fma(w2, load(row, 16, 0.0), so_far)
        store(mean, 0, fma(w3, load(row, 24, 0.0), so_far))


@scalar
def _write_mean(means: FloatArray, total: float, portfolio: FloatArray) -> None:
    for k in range(portfolio.size):
        portfolio[k] = fold(load(means[k], 0, 0.0)) / total


@scalar
def _pay(
    P: FloatArray,
    x: FloatArray,
    cost: float,
    mean_log: float,
    first: int,
    gains: float,
    positions: FloatArray,
    tolls: FloatArray,
) -> None:
    """Move eight positions by a day and its toll, and work out the next toll.

    It is `left_after_trading` for portfolios that trade back to themselves.
    """
    moved = mean_log - load(tolls, first, 0.0) - log(gains)
    store(positions, first, load(positions, first, 0.0) + moved)
    left, inverse = spread(1.0), 1.0 / gains
    for _ in range(_MOST_STEPS):
        traded, slope = spread(0.0), spread(0.0)
        for k in range(P.shape[0]):
            share = load(P[k], first, 0.0)
            bought = share * (left - x[k] * inverse)
            traded = traded + size(bought)
            slope = slope + choose(bought > 0.0, share, -share)
        lower = left - fma(cost, traded, left - 1.0) / fma(cost, slope, 1.0)
        falls = lower < left
        if not any_of(falls):
            break
        left = choose(falls, lower, left)
    store(tolls, first, log(left))


@kernel
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


@kernel
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


@kernel
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


@kernel
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
