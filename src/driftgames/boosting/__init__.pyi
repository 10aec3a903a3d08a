from driftgames.boosting.booster import BaseBooster as BaseBooster
from driftgames.boosting.by_name import BOOSTERS as BOOSTERS
from driftgames.boosting.data.checks import DataWarning as DataWarning
from driftgames.boosting.estimators import AdaBoostClassifier as AdaBoostClassifier
from driftgames.boosting.estimators import BoostByMajorityClassifier as BoostByMajorityClassifier
from driftgames.boosting.estimators import NHBoostClassifier as NHBoostClassifier
from driftgames.boosting.estimators import (
    NHBoostDTClassifier as NHBoostDTClassifier,
)
from driftgames.boosting.estimators import (
    PotentialBoostClassifier as PotentialBoostClassifier,
)
from driftgames.boosting.fit.fit_booster import NoEdgeWarning as NoEdgeWarning
from driftgames.boosting.model.additive import AdditiveModel as AdditiveModel
from driftgames.boosting.model.explanation import Explanation as Explanation
from driftgames.boosting.model.explanation import ShapeFunction as ShapeFunction
from driftgames.boosting.model.stumps import Stumps as Stumps
from driftgames.boosting.model.trees import Trees as Trees
from driftgames.boosting.plain import WeakLearnerBooster as WeakLearnerBooster
from driftgames.boosting.regression.distribution import (
    PredictedDistribution as PredictedDistribution,
)
from driftgames.boosting.regression.regressor import NHBoostDTRegressor as NHBoostDTRegressor
