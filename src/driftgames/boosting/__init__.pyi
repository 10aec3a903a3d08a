from driftgames.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
from driftgames.boosting.additive import AdditiveModel as AdditiveModel
from driftgames.boosting.additive import Explanation as Explanation
from driftgames.boosting.additive import ShapeFunction as ShapeFunction
from driftgames.boosting.base import BaseBooster as BaseBooster
from driftgames.boosting.boost_by_majority import (
    BoostByMajorityClassifier as BoostByMajorityClassifier,
)
from driftgames.boosting.nh_boost import NHBoostClassifier as NHBoostClassifier
from driftgames.boosting.potential_boost import NHBoostDTClassifier as NHBoostDTClassifier
from driftgames.boosting.potential_boost import (
    PotentialBoostClassifier as PotentialBoostClassifier,
)
from driftgames.boosting.registry import BOOSTERS as BOOSTERS
from driftgames.boosting.rounds import NoEdgeWarning as NoEdgeWarning
from driftgames.boosting.stumps import Stumps as Stumps
from driftgames.boosting.trees import Trees as Trees
