"""Print a digest of what learners on convex sets and portfolios do; `test_same_bits` runs it."""

import hashlib
import json
import sys

import numpy as np

from driftgames.oco import (
    Ball,
    Box,
    BuyAndHold,
    CoinBetting,
    ContinuousHedge,
    ExponentiatedGradient,
    Grid,
    HitAndRun,
    LinearLoss,
    LogWealthLoss,
    OnlineNewtonStep,
    Points,
    QuadraticLoss,
    Simplex,
    UniversalPortfolio,
)
from driftgames.potentials import NormalHedgeDT


def market(n, days=60):
    """Relatives without exp: a product of quotients of integers."""
    rng = np.random.default_rng(n)
    return rng.integers(80, 125, size=(days, n)) / 100.0


def digest(*arrays):
    joined = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return hashlib.sha256(joined).hexdigest()[:16]


def traded(strategy):
    run = strategy.run(market(strategy.n_assets))
    return digest(run.log_wealth, run.wealth, run.portfolios, strategy.predict())


def played(learner, *, log_wealth=False):
    rng = np.random.default_rng(1)
    n = learner.predict().size
    losses = []
    for t in range(30):
        g = rng.random(n)
        if log_wealth:
            losses.append(LogWealthLoss(0.5 + g))
        elif t % 3:
            losses.append(LinearLoss(g / n))
        else:
            losses.append(QuadraticLoss(np.eye(n) / (4 * n), g / (4 * n)))
    own = learner.run(losses)
    return digest(own, learner.predict(), getattr(learner, "positions", np.zeros(0)))


def results():
    square, simplex = Box([0.0, 0.0], [1.0, 1.0]), Simplex(7)
    return {
        "universal, 2 assets": traded(UniversalPortfolio(2, n_points=100)),
        "universal, 7 assets": traded(UniversalPortfolio(7, n_points=256)),
        "universal, costs": traded(UniversalPortfolio(7, n_points=256, cost=0.01)),
        "universal, NormalHedge.DT": traded(
            UniversalPortfolio(5, n_points=64, potential=NormalHedgeDT(), span=0.7)
        ),
        "buy and hold": traded(BuyAndHold(5, cost=0.01)),
        "exponentiated gradient": traded(ExponentiatedGradient(5, cost=0.01)),
        "online Newton step": traded(OnlineNewtonStep(5)),
        "grid": played(ContinuousHedge(square, integration=Grid(27))),
        "points": played(ContinuousHedge(simplex, integration=Points(256, matched=True))),
        "points, log-wealth": played(
            ContinuousHedge(simplex, integration=Points(64), loss_range=(-1.0, 1.0)),
            log_wealth=True,
        ),
        "hit-and-run": played(ContinuousHedge(simplex, integration=HitAndRun(64, n_steps=3))),
        "coin betting, box": played(CoinBetting(Box(np.zeros(9), np.ones(9)))),
        "coin betting, simplex": played(CoinBetting(simplex)),
        "coin betting, ball": played(CoinBetting(Ball(np.zeros(9)))),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(results()))
