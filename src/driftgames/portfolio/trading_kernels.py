"""Loops over trading days: what trades cost, and the strategies beside the universal portfolio."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import choose, fma, size
from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import allocating_kernel, kernel
from driftgames._kernels.simplex import lowest_on_simplex
from driftgames.core.typing import FloatArray

MOST_STEPS = 60  # of Newton's method; a handful is enough for any cost


@kernel
def trade(
    portfolios: FloatArray,
    relatives: FloatArray,
    cost: float,
    held: FloatArray,
    log_wealth: float,
    out: FloatArray,
    turnover: FloatArray,
) -> None:
    """Write the log-wealth at the end of each day, and what was traded at its beginning.

    ``held``, the shares, moves through the days.
    """
    n_assets = held.size
    for day in range(relatives.shape[0]):
        b, x = portfolios[day], relatives[day]
        left = 1.0
        if cost > 0.0:
            left = left_after_trading(b, held, cost)
            log_wealth += log(left)
        turnover[day] = 0.0
        for k in range(n_assets):
            turnover[day] += size(fma(left, b[k], -held[k]))
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
    for _ in range(MOST_STEPS):
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
        highest = logits[0]
        for k in range(1, n_assets):
            highest = max(highest, logits[k])
        total = 0.0
        for k in range(n_assets):
            portfolios[day, k] = exp(logits[k] - highest)
            total += portfolios[day, k]
        for k in range(n_assets):
            portfolios[day, k] /= total


@allocating_kernel
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
def soft_bayes(
    shares: FloatArray, played: float, relatives: FloatArray, portfolios: FloatArray
) -> None:
    """Move the shares through the days after ``played`` earlier ones; one more portfolio."""
    n_assets = shares.size
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            t = played + day
            rate = np.sqrt(log(n_assets) / (2.0 * n_assets * t))
            kept = np.sqrt(t / (t + 1.0))
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * relatives[day - 1, k]
            for k in range(n_assets):
                moved = portfolios[day - 1, k] * (1.0 - rate + rate * relatives[day - 1, k] / gain)
                shares[k] = kept * moved + (1.0 - kept) / n_assets
        total = 0.0
        for k in range(n_assets):
            total += shares[k]
        for k in range(n_assets):
            portfolios[day, k] = shares[k] / total
