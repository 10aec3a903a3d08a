"""Portfolios: a distribution over assets every day, and wealth that grows by what they gain.

`UniversalPortfolio` is Hedge with one chip for every constant rebalanced portfolio. The
strategies that it is usually compared with are beside it, all by name in `STRATEGIES`, and
`best_constant_rebalanced` is what regret is measured against. `run` trades a data frame and reports
turnover and costs. [LS14, Sec. 4]
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
