"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by where they stand, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right where the hypothesis is right and to the left
where it errs. With one vote per round an example's position is its number of mistakes, so the
exhaustive stump is found by counting: integers, a small table of weights, and no pass over the
data but for the examples that change place. Stumps add up to one step function per feature, which
is how the model predicts and how it explains itself.
"""

from driftgames.boosting.adaboost import AdaBoostClassifier
from driftgames.boosting.additive import AdditiveModel, Explanation, ShapeFunction
from driftgames.boosting.base import BaseBooster, NoEdgeWarning
from driftgames.boosting.boost_by_majority import BoostByMajorityClassifier
from driftgames.boosting.nh_boost import NHBoostClassifier
from driftgames.boosting.nh_boost_dt import NHBoostDTClassifier
from driftgames.boosting.potential_boost import PotentialBoostClassifier
from driftgames.boosting.stumps import Stumps

__all__ = [
    "AdaBoostClassifier",
    "AdditiveModel",
    "BaseBooster",
    "BoostByMajorityClassifier",
    "Explanation",
    "NHBoostClassifier",
    "NHBoostDTClassifier",
    "NoEdgeWarning",
    "PotentialBoostClassifier",
    "ShapeFunction",
    "Stumps",
]
