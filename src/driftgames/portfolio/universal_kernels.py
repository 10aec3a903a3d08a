"""Loops over trading days that weigh many constant rebalanced portfolios.

The portfolios lie in tiles of `WIDTH`, ``tiles[tile, asset, place]``, four `Lanes` wide, so that
four sums are under way at once. Spare places of the last tile have no prior mass: its logarithm
is minus infinity. The arithmetic of a day does not depend on the other days of a call, so a run
that is stopped and resumed gives the same bits. Sums over portfolios have the order of
`driftgames._kernels.lanes`; sums over assets have the order of the assets.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import choose, fma, size
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import allocating_kernel, scalar
from driftgames._kernels.lanes import LANES, any_of, fold, load, spread, store
from driftgames.core.typing import FloatArray
from driftgames.portfolio.trading_kernels import MOST_STEPS

WIDTH = 4 * LANES


@allocating_kernel
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


@allocating_kernel
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
    for _ in range(MOST_STEPS):
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
