"""The best constant rebalanced portfolio in hindsight: what the others are compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames._kernels.portfolio import lowest_on_simplex
from driftgames.certificates.bounds.portfolios import universal_portfolio
from driftgames.core.typing import FloatArray
from driftgames.oco.trading import check_relatives

_MOST_STEPS = 200


@dataclass(frozen=True)
class BestConstantRebalanced:
    """The best constant rebalanced portfolio of some days.

    Parameters
    ----------
    portfolio : array
        What it holds.
    wealth : float
        What 1 becomes with it.
    log_wealth : float
        The logarithm of that.
    gap : float
        How much log-wealth could be missing to the very best: a bound, not an estimate.
    horizon : int
        How many days there were.
    """

    portfolio: FloatArray
    wealth: float
    log_wealth: float
    gap: float
    horizon: int

    @property
    def universal_bound(self) -> float:
        """How far the log-wealth of Cover's universal portfolio may lie below, at most.

        That is the one with the whole integral; what a run with points has promised is
        `UniversalPortfolio.regret_bound`.
        """
        return float(universal_portfolio(self.horizon, self.portfolio.size))


def best_constant_rebalanced(
    relatives: npt.ArrayLike, *, tolerance: float = 1e-10
) -> BestConstantRebalanced:
    r"""Return the portfolio that would have made most of these days.

    .. math:: b^* = \arg\max_b \sum_t \ln(b\cdot x_t)

    Newton's method on the simplex. With the gradient g at b, concavity bounds what is missing
    by :math:`\max_i g_i - T`, and the search ends when that is below ``tolerance`` times the
    number of days.

    Examples
    --------
    >>> best = best_constant_rebalanced([[2.0, 0.5], [0.5, 2.0]])
    >>> best.portfolio, round(best.wealth, 4)
    (array([0.5, 0.5]), 1.5625)
    """
    X = check_relatives(relatives)
    if X.shape[0] == 0:
        raise ValueError("relatives must cover at least one day; got none")
    # each day's factor is put back at the end; without it no day is too large or too small
    scales = X.max(axis=1)
    X = X / scales[:, np.newaxis]
    horizon, n = X.shape
    b = np.full(n, 1.0 / n)
    value = float(np.log(X @ b).sum())
    gap = math.inf
    for _ in range(_MOST_STEPS):
        ratios = X / (X @ b)[:, np.newaxis]
        gradient = ratios.sum(axis=0)
        gap = max(float(gradient.max()) - horizon, 0.0)
        if gap <= tolerance * horizon:
            break
        curvature = ratios.T @ ratios
        curvature[np.diag_indices(n)] += 1e-12 * np.trace(curvature)  # for fewer days than assets
        target = b.copy()
        lowest_on_simplex(curvature, curvature @ b + gradient, target)
        moved = _climb(X, b, target, value, float(gradient @ (target - b)))
        if moved is None:
            break
        b, value = moved
    log_wealth = value + float(np.log(scales).sum())
    wealth = math.exp(log_wealth) if log_wealth < 709 else math.inf
    return BestConstantRebalanced(b, wealth, log_wealth, gap, horizon)


def _climb(
    X: FloatArray, b: FloatArray, target: FloatArray, value: float, slope: float
) -> tuple[FloatArray, float] | None:
    """Return the first point on the way back from ``target`` that is high enough."""
    share = 1.0
    while share > 1e-12:
        tried = b + share * (target - b)
        reached = float(np.log(X @ tried).sum())
        if reached >= value + 0.25 * share * slope and reached > value:
            return tried, reached
        share /= 2
    return None
