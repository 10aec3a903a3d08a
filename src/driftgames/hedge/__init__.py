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

from typing import TYPE_CHECKING

from driftgames.core.lazy import lazy_names

if TYPE_CHECKING:  # for type checkers; `_NAMES` makes `LEARNERS` quick to read
    from driftgames.hedge.ada_hedge import AdaHedge as AdaHedge
    from driftgames.hedge.ada_normal_hedge import AdaNormalHedge as AdaNormalHedge
    from driftgames.hedge.ada_normal_hedge_tv import AdaNormalHedgeTV as AdaNormalHedgeTV
    from driftgames.hedge.base import ExpertLearner as ExpertLearner
    from driftgames.hedge.fixed_share import FixedShare as FixedShare
    from driftgames.hedge.hedge import Hedge as Hedge
    from driftgames.hedge.hindsight import BestCombination as BestCombination
    from driftgames.hedge.hindsight import best_combination as best_combination
    from driftgames.hedge.intervals import AdaptiveIntervals as AdaptiveIntervals
    from driftgames.hedge.mixture import ExpertMixture as ExpertMixture
    from driftgames.hedge.normal_hedge import NormalHedge as NormalHedge
    from driftgames.hedge.randomized import RandomizedHedge as RandomizedHedge
    from driftgames.hedge.registry import LEARNERS as LEARNERS
    from driftgames.hedge.run import Run as Run
    from driftgames.hedge.series import SeriesMixture as SeriesMixture
    from driftgames.hedge.squint import Squint as Squint
    from driftgames.hedge.two_experts import TwoExperts as TwoExperts

_NAMES = {
    "ada_hedge": "AdaHedge",
    "ada_normal_hedge": "AdaNormalHedge",
    "ada_normal_hedge_tv": "AdaNormalHedgeTV",
    "base": "ExpertLearner",
    "fixed_share": "FixedShare",
    "hedge": "Hedge",
    "hindsight": "BestCombination best_combination",
    "intervals": "AdaptiveIntervals",
    "mixture": "ExpertMixture",
    "normal_hedge": "NormalHedge",
    "randomized": "RandomizedHedge",
    "registry": "LEARNERS",
    "run": "Run",
    "series": "SeriesMixture",
    "squint": "Squint",
    "two_experts": "TwoExperts",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
