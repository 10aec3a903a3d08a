"""Online convex optimization: one chip for every point of a convex set. [LS14, Sec. 4]

`ContinuousHedge` plays the mean of a density over a set; how that density is integrated is a
strategy of its own (`Grid`, `Points`, `HitAndRun`). In many dimensions no number of chips is
enough, and `CoinBetting` keeps its bound there: it bets on the gradients of the losses. With
the set of all portfolios and the loss of wealth `ContinuousHedge` is Cover's universal portfolio,
which `driftgames.portfolio` has.
"""

from driftgames._kernels.moments import match_moments
from driftgames.oco.coin_betting import CoinBetting
from driftgames.oco.continuous_certificate import ContinuousCertificate, best_epsilon
from driftgames.oco.continuous_hedge import ContinuousHedge
from driftgames.oco.convex_set import ConvexSet
from driftgames.oco.hit_and_run import HitAndRun
from driftgames.oco.integration import Grid, IntegrationWarning, Points, Precision
from driftgames.oco.learner import ConvexLearner, ConvexRun
from driftgames.oco.losses import DifferentiableLoss, LinearLoss, LogWealthLoss, QuadraticLoss
from driftgames.oco.polytope import Polytope
from driftgames.oco.sets import Ball, Box, Interval, Simplex

__all__ = [
    "Ball",
    "Box",
    "CoinBetting",
    "ContinuousCertificate",
    "ContinuousHedge",
    "ConvexLearner",
    "ConvexRun",
    "ConvexSet",
    "DifferentiableLoss",
    "Grid",
    "HitAndRun",
    "IntegrationWarning",
    "Interval",
    "LinearLoss",
    "LogWealthLoss",
    "Points",
    "Polytope",
    "Precision",
    "QuadraticLoss",
    "Simplex",
    "best_epsilon",
    "match_moments",
]
