"""Every portfolio strategy by name; their modules are imported when one is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftgames import portfolio

if TYPE_CHECKING:
    from driftgames.portfolio import PortfolioStrategy, UniversalPortfolio

Factory = Callable[..., "PortfolioStrategy"]


def _without_points(kind: Callable[[], Factory]) -> Factory:
    def factory(n_assets: int, *, random_state: int = 0, **settings: Any) -> PortfolioStrategy:
        return kind()(n_assets, **settings)

    return factory


def _normal_hedge_dt(n_assets: int, **settings: Any) -> UniversalPortfolio:
    from driftgames.potentials import NormalHedgeDT

    given = {"potential": NormalHedgeDT(), "span": 0.7, **settings}
    return portfolio.UniversalPortfolio(n_assets, **given)


STRATEGIES: dict[str, Factory] = {
    "universal": lambda n_assets, **settings: portfolio.UniversalPortfolio(n_assets, **settings),
    "uniform": _without_points(lambda: portfolio.UniformRebalancing),
    "hold": _without_points(lambda: portfolio.BuyAndHold),
    "eg": _without_points(lambda: portfolio.ExponentiatedGradient),
    "ons": _without_points(lambda: portfolio.OnlineNewtonStep),
    "soft-bayes": _without_points(lambda: portfolio.SoftBayes),
    "olmar": _without_points(lambda: portfolio.OLMAR),
    "pamr": _without_points(lambda: portfolio.PAMR),
    "mix": lambda n_assets, **settings: portfolio.StrategyMixture(n_assets, **settings),
    "normalhedge.dt": _normal_hedge_dt,
}
"""Name to ``factory(n_assets, cost=0.0, random_state=0, **settings)``.

``settings`` are the other keywords of the strategy. A strategy without points of its own ignores
``random_state``.
"""
