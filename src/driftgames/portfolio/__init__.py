"""Portfolios: a distribution over assets every day, and wealth that grows by what they gain.

`UniversalPortfolio` is Hedge with one chip for every constant rebalanced portfolio. The
strategies that it is usually compared with are beside it, all by name in `STRATEGIES`, and
`best_constant_rebalanced` is what regret is measured against. `run` trades a data frame and reports
turnover and costs. [LS14, Sec. 4]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftgames.core.lazy import lazy_names

if TYPE_CHECKING:  # for type checkers; `_NAMES` makes `STRATEGIES` quick to read
    from driftgames.portfolio.baselines import BuyAndHold as BuyAndHold
    from driftgames.portfolio.baselines import ExponentiatedGradient as ExponentiatedGradient
    from driftgames.portfolio.baselines import OnlineNewtonStep as OnlineNewtonStep
    from driftgames.portfolio.baselines import SoftBayes as SoftBayes
    from driftgames.portfolio.baselines import UniformRebalancing as UniformRebalancing
    from driftgames.portfolio.best_in_hindsight import (
        BestConstantRebalanced as BestConstantRebalanced,
    )
    from driftgames.portfolio.best_in_hindsight import (
        best_constant_rebalanced as best_constant_rebalanced,
    )
    from driftgames.portfolio.registry import STRATEGIES as STRATEGIES
    from driftgames.portfolio.relatives import price_relatives as price_relatives
    from driftgames.portfolio.report import PortfolioReport as PortfolioReport
    from driftgames.portfolio.report import run as run
    from driftgames.portfolio.strategy import PortfolioRun as PortfolioRun
    from driftgames.portfolio.strategy import PortfolioStrategy as PortfolioStrategy
    from driftgames.portfolio.strategy import Quote as Quote
    from driftgames.portfolio.universal import UniversalPortfolio as UniversalPortfolio

_NAMES = {
    "baselines": "BuyAndHold ExponentiatedGradient OnlineNewtonStep SoftBayes UniformRebalancing",
    "best_in_hindsight": "BestConstantRebalanced best_constant_rebalanced",
    "registry": "STRATEGIES",
    "relatives": "price_relatives",
    "report": "PortfolioReport run",
    "strategy": "PortfolioRun PortfolioStrategy Quote",
    "universal": "UniversalPortfolio",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
