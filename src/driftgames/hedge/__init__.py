"""Learning from expert advice: a distribution over actions in every round, losses in return.

Every learner here is a set of chips on a line: an action moves by its loss less the learner's,
and an action further ahead has more weight. `Hedge` is the paper's algorithm for any potential;
its default is NormalHedge.DT, which has no learning rate and no horizon. `NormalHedge`,
`AdaNormalHedge`, `AdaHedge`, `BOA` and `Squint` are related algorithms, `AdaNormalHedgeTV`,
`AdaFixedShare` and `FixedShare` track what changes, `TwoExperts` is the optimum for two actions,
and `RandomizedHedge` plays one drawn action per round. Each states the largest regret that it can
have (`bound`) beside the regret that it has (`certificate`). `ExpertMixture` combines forecasters
behind the interface of scikit-learn, and `best_combination` is what it is measured against.
`AdaptiveIntervals` puts intervals around forecasts, `SignedIntervals` with a level for each side.
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
