"""Learning from expert advice: a distribution over actions in every round, losses in return.

Every learner here is a set of chips on a line: an action moves by its loss less the learner's,
and an action further ahead has more weight. `Hedge` is the paper's algorithm for any potential;
its default is NormalHedge.DT, which has no learning rate and no horizon. `NormalHedge`,
`AdaNormalHedge`, `AdaHedge` and `Squint` are related algorithms, `AdaNormalHedgeTV` and
`FixedShare` track what changes, `TwoExperts` is the optimum for two actions, and
`RandomizedHedge` plays one drawn action per round. Each states the largest regret that it can have
(`bound`) beside the regret that it has (`certificate`). `ExpertMixture` combines forecasters
behind the interface of scikit-learn, and `best_combination` is what it is measured against.
`AdaptiveIntervals` puts intervals around any forecasts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from driftgames.hedge.ada_hedge import AdaHedge
from driftgames.hedge.ada_normal_hedge import AdaNormalHedge
from driftgames.hedge.ada_normal_hedge_tv import AdaNormalHedgeTV
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.fixed_share import FixedShare
from driftgames.hedge.hedge import Hedge, RandomizedHedge
from driftgames.hedge.hindsight import BestCombination, best_combination
from driftgames.hedge.intervals import AdaptiveIntervals
from driftgames.hedge.normal_hedge import NormalHedge
from driftgames.hedge.registry import LEARNERS
from driftgames.hedge.run import Run
from driftgames.hedge.squint import Squint
from driftgames.hedge.two_experts import TwoExperts

if TYPE_CHECKING:
    from driftgames.hedge.mixture import ExpertMixture as ExpertMixture
    from driftgames.hedge.series import SeriesMixture as SeriesMixture

__all__ = [
    "LEARNERS",
    "AdaHedge",
    "AdaNormalHedge",
    "AdaNormalHedgeTV",
    "AdaptiveIntervals",
    "BestCombination",
    "ExpertLearner",
    "ExpertMixture",
    "FixedShare",
    "Hedge",
    "NormalHedge",
    "RandomizedHedge",
    "Run",
    "SeriesMixture",
    "Squint",
    "TwoExperts",
    "best_combination",
]


def __getattr__(name: str) -> object:
    homes = {"ExpertMixture": "mixture", "SeriesMixture": "series"}
    if name not in homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # scikit-learn is loaded only for the mixtures
    return getattr(import_module(f"driftgames.hedge.{homes[name]}"), name)
