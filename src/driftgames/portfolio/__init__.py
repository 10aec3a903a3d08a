"""Portfolios: a distribution over assets every day, and wealth that grows by what they gain.

`UniversalPortfolio` is Hedge with one chip for every constant rebalanced portfolio. The
strategies that it is usually compared with are beside it, all by name in `STRATEGIES`, and
`best_constant_rebalanced` is what regret is measured against. `run` trades a data frame and reports
turnover and costs. [LS14, Sec. 4]
"""

from driftgames.portfolio.baselines import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewtonStep,
    SoftBayes,
    UniformRebalancing,
)
from driftgames.portfolio.best_in_hindsight import BestConstantRebalanced, best_constant_rebalanced
from driftgames.portfolio.portfolio_run import PortfolioRun
from driftgames.portfolio.registry import STRATEGIES
from driftgames.portfolio.relatives import price_relatives
from driftgames.portfolio.report import PortfolioReport, run
from driftgames.portfolio.strategy import PortfolioStrategy, Quote
from driftgames.portfolio.universal import UniversalPortfolio

__all__ = [
    "STRATEGIES",
    "BestConstantRebalanced",
    "BuyAndHold",
    "ExponentiatedGradient",
    "OnlineNewtonStep",
    "PortfolioReport",
    "PortfolioRun",
    "PortfolioStrategy",
    "Quote",
    "SoftBayes",
    "UniformRebalancing",
    "UniversalPortfolio",
    "best_constant_rebalanced",
    "price_relatives",
    "run",
]
