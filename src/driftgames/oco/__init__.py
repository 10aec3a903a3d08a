"""Online convex optimization: one chip for every point of a convex set. [LS14, Sec. 4]

`ContinuousHedge` plays the mean of a density over a set; how that density is integrated is a
strategy of its own (`Grid`, `Points`, `HitAndRun`). In many dimensions no number of chips is
enough, and `CoinBetting` keeps its bound there: it bets on the gradients of the losses. With
the set of all portfolios and the loss of wealth `ContinuousHedge` becomes the
`UniversalPortfolio`, and the strategies that people compare it with are beside it.
"""

from driftgames.oco.baselines import (
    BuyAndHold,
    ExponentiatedGradient,
    OnlineNewtonStep,
    UniformRebalancing,
)
from driftgames.oco.certificate import ContinuousCertificate, RegretCertificate, best_epsilon
from driftgames.oco.coin_betting import CoinBetting
from driftgames.oco.comparator import BestConstantRebalanced, best_constant_rebalanced
from driftgames.oco.continuous_hedge import ContinuousHedge
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.hit_and_run import HitAndRun
from driftgames.oco.integration import Grid, IntegrationWarning, Points, Precision
from driftgames.oco.losses import DifferentiableLoss, LinearLoss, LogWealthLoss, QuadraticLoss
from driftgames.oco.moments import match_moments
from driftgames.oco.polytope import Polytope
from driftgames.oco.portfolio import UniversalPortfolio
from driftgames.oco.sets import Ball, Box, Interval, Simplex
from driftgames.oco.trading import PortfolioRun, PortfolioStrategy, Quote, price_relatives

__all__ = [
    "Ball",
    "BestConstantRebalanced",
    "Box",
    "BuyAndHold",
    "CoinBetting",
    "ContinuousCertificate",
    "ContinuousHedge",
    "ConvexSet",
    "DifferentiableLoss",
    "ExponentiatedGradient",
    "Grid",
    "HitAndRun",
    "IntegrationWarning",
    "Interval",
    "LinearLoss",
    "LogWealthLoss",
    "OnlineNewtonStep",
    "Points",
    "Polytope",
    "PortfolioRun",
    "PortfolioStrategy",
    "Precision",
    "QuadraticLoss",
    "Quote",
    "RegretCertificate",
    "Simplex",
    "UniformRebalancing",
    "UniversalPortfolio",
    "best_constant_rebalanced",
    "best_epsilon",
    "match_moments",
    "price_relatives",
]
