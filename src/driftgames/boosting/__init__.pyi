from driftgames.boosting.estimators.adaboost import AdaBoostClassifier as AdaBoostClassifier
from driftgames.boosting.estimators.base import BaseBooster as BaseBooster
from driftgames.boosting.estimators.boost_by_majority import (
    BoostByMajorityClassifier as BoostByMajorityClassifier,
)
from driftgames.boosting.estimators.nh_boost import NHBoostClassifier as NHBoostClassifier
from driftgames.boosting.estimators.potential_boost import (
    NHBoostDTClassifier as NHBoostDTClassifier,
)
from driftgames.boosting.estimators.potential_boost import (
    PotentialBoostClassifier as PotentialBoostClassifier,
)
from driftgames.boosting.estimators.registry import BOOSTERS as BOOSTERS
from driftgames.boosting.fit.rounds import NoEdgeWarning as NoEdgeWarning
from driftgames.boosting.model.additive import AdditiveModel as AdditiveModel
from driftgames.boosting.model.explanation import Explanation as Explanation
from driftgames.boosting.model.explanation import ShapeFunction as ShapeFunction
from driftgames.boosting.model.stumps import Stumps as Stumps
from driftgames.boosting.model.trees import Trees as Trees
