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
    tolls: FloatArray | None,
    offset: FloatArray,
    cost: float,
    relatives: FloatArray,
    portfolios: FloatArray,
) -> None:
    """Move the positions through the days and write one more portfolio than there are days.

    ``positions[tile, place]`` is the learner's log-wealth less the portfolio's; the weight of a
    portfolio is ``exp(log_prior - position)``, which sums to 1 for the learner who plays the
    mean. Of a portfolio without mass ``exp(-position)`` alone may be beyond all floats.

    With ``tolls`` portfolios pay for their own rebalancing. These are the logarithms of what each
    keeps when it trades for the next day. The positions are then the common ``offset`` less a
    portfolio's log-wealth; the offset follows the mean wealth, so that weights stay floats.
    """
    n_tiles, n_assets, _ = tiles.shape
    means = np.empty((n_assets, LANES))
    common = 0.0  # what a day adds to all positions
    for day in range(relatives.shape[0] + 1):
        if day > 0 and tolls is None:
            gain = 0.0
            for k in range(n_assets):
                gain = fma(relatives[day - 1, k], portfolios[day - 1, k], gain)
            common = log(gain)
        elif day > 0:
            offset[0] += common
        weight = spread(0.0)
        means[:] = 0.0
        for tile in range(n_tiles):
            P, s, q = tiles[tile], positions[tile], log_prior[tile]
            if day > 0:
                x = relatives[day - 1]
                g0, g1, g2, g3 = _gains(P, x)
                _move(P, x, cost, common, 0, g0, s, tolls, tile)
                _move(P, x, cost, common, 8, g1, s, tolls, tile)
                _move(P, x, cost, common, 16, g2, s, tolls, tile)
                _move(P, x, cost, common, 24, g3, s, tolls, tile)
            w0 = _weight(q, s, tolls, tile, 0)
            w1 = _weight(q, s, tolls, tile, 8)
            w2 = _weight(q, s, tolls, tile, 16)
            w3 = _weight(q, s, tolls, tile, 24)
            weight = weight + w0 + w1 + w2 + w3
            _add_up(P, w0, w1, w2, w3, means)
        total = fold(weight)
        if tolls is not None:
            common = log(total)
        for k in range(n_assets):
            portfolios[day, k] = fold(load(means[k], 0, 0.0)) / total


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
def _weight(
    q: FloatArray, positions: FloatArray, tolls: FloatArray | None, tile: int, first: int
) -> float:
    """Return the weights of eight portfolios."""
    if tolls is None:
        return exp(load(q, first, 0.0) - load(positions, first, 0.0))
    return exp(load(q, first, 0.0) + load(tolls[tile], first, 0.0) - load(positions, first, 0.0))


@scalar
def _move(
    P: FloatArray,
    x: FloatArray,
    cost: float,
    common: float,
    first: int,
    gains: float,
    positions: FloatArray,
    tolls: FloatArray | None,
    tile: int,
) -> None:
    """Move eight positions by a day and its toll, and work out the next toll.

    It is `left_after_trading` for portfolios that trade back to themselves.
    """
    if tolls is None:
        store(positions, first, load(positions, first, 0.0) + (common - log(gains)))
        return
    toll = tolls[tile]
    moved = common - load(toll, first, 0.0) - log(gains)
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
    store(toll, first, log(left))
