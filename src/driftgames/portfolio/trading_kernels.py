"""The loop over trading days: what trades cost, and what the assets held become."""

from __future__ import annotations

from driftgames._kernels.arithmetic import choose, fma, size
from driftgames._kernels.elementary import log
from driftgames._kernels.jit import kernel
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
