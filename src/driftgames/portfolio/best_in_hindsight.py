"""The best constant rebalanced portfolio in hindsight, which regret is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy.typing as npt

from driftgames._kernels.simplex import most_log_wealth
from driftgames.certificates.bounds.portfolios import universal_portfolio
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import FloatArray
from driftgames.portfolio.relatives import check_relatives


@dataclass(frozen=True, eq=False)
class BestConstantRebalanced(Displayed):
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
    variability : float
        The lowest relative of a day over the highest, at the least of all days.
    """

    portfolio: FloatArray
    wealth: float
    log_wealth: float
    gap: float
    horizon: int
    variability: float

    def _columns(self) -> Fields:
        return {"asset": range(self.portfolio.size), "share": self.portfolio}

    def _sketch(self) -> Sketch:
        held = {str(k): float(share) for k, share in enumerate(self.portfolio) if share > 0}
        return Sketch(bars=held)

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
    portfolio, log_wealth, gap = most_log_wealth(X, tolerance)
    wealth = math.exp(log_wealth) if log_wealth < 709 else math.inf
    variability = float((X.min(axis=1) / X.max(axis=1)).min())
    return BestConstantRebalanced(portfolio, wealth, log_wealth, gap, X.shape[0], variability)
