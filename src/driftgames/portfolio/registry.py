"""Every portfolio strategy by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from driftgames.portfolio.baselines import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewtonStep,
    SoftBayes,
    UniformRebalancing,
)
from driftgames.portfolio.strategy import PortfolioStrategy
from driftgames.portfolio.universal import UniversalPortfolio
from driftgames.potentials import NormalHedgeDT

Factory = Callable[..., PortfolioStrategy]


def _without_points(strategy: type[PortfolioStrategy]) -> Factory:
    def factory(n_assets: int, *, random_state: int = 0, **settings: Any) -> PortfolioStrategy:
        return strategy(n_assets, **settings)

    return factory


STRATEGIES: dict[str, Factory] = {
    "universal": UniversalPortfolio,
    "uniform": _without_points(UniformRebalancing),
    "hold": _without_points(BuyAndHold),
    "eg": _without_points(ExponentiatedGradient),
    "ons": _without_points(OnlineNewtonStep),
    "soft-bayes": _without_points(SoftBayes),
    "normalhedge.dt": partial(UniversalPortfolio, potential=NormalHedgeDT(), span=0.7),
}
"""Name to ``factory(n_assets, cost=0.0, random_state=0, **settings)``.

``settings`` are the other keywords of the strategy. A strategy without points of its own ignores
``random_state``.
"""
