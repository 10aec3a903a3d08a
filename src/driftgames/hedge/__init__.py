"""Learning from expert advice: a distribution over actions in every round, losses in return.

Every learner here is a set of chips on a line: an action moves by its loss less the learner's,
and the further it is ahead the more it weighs. `Hedge` is the paper's, for any potential, and
with none given it is NormalHedge.DT, which needs neither a learning rate nor a horizon.
`NormalHedge`, `AdaNormalHedge`, `AdaHedge` and `Squint` are what people use around it, and
`RandomizedHedge` plays one drawn action a round. Each says how far behind the best actions it
can be (`bound`) and how far behind it is (`certificate`). `ExpertMixture` puts any of them
behind the interface of scikit-learn, to combine forecasters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftgames.hedge.ada_hedge import AdaHedge
from driftgames.hedge.ada_normal_hedge import AdaNormalHedge
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.hedge import Hedge
from driftgames.hedge.normal_hedge import NormalHedge
from driftgames.hedge.randomized import RandomizedHedge
from driftgames.hedge.registry import LEARNERS
from driftgames.hedge.run import Run
from driftgames.hedge.squint import Squint

if TYPE_CHECKING:
    from driftgames.hedge.mixture import ExpertMixture as ExpertMixture

__all__ = [
    "LEARNERS",
    "AdaHedge",
    "AdaNormalHedge",
    "ExpertLearner",
    "ExpertMixture",
    "Hedge",
    "NormalHedge",
    "RandomizedHedge",
    "Run",
    "Squint",
]


def __getattr__(name: str) -> object:
    # the mixture is an estimator of scikit-learn, which the learners do without
    if name == "ExpertMixture":
        from driftgames.hedge.mixture import ExpertMixture

        return ExpertMixture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
