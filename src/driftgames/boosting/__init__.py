"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by their positions, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right if the hypothesis is right on it, else to the
left (`driftgames.boosting.rounds`). With one vote per round an example's position is its number of
mistakes, so the exhaustive stump is found by counting: integers, a small table of weights, and only
the examples that change position are touched. Stumps add up to one step function per feature: the
model predicts with it, and it explains the predictions. With ``max_depth`` above 1 the weak
hypotheses are trees, grown on the same integers (`driftgames.boosting.tree_growth`).
"""

from driftgames.boosting.adaboost import AdaBoostClassifier
from driftgames.boosting.additive import AdditiveModel, Explanation, ShapeFunction
from driftgames.boosting.base import BaseBooster
from driftgames.boosting.boost_by_majority import BoostByMajorityClassifier
from driftgames.boosting.nh_boost import NHBoostClassifier
from driftgames.boosting.potential_boost import NHBoostDTClassifier, PotentialBoostClassifier
from driftgames.boosting.rounds import NoEdgeWarning
from driftgames.boosting.stumps import Stumps
from driftgames.boosting.trees import Trees

__all__ = [
    "BOOSTERS",
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
    "Trees",
]

BOOSTERS: dict[str, type[BaseBooster]] = {
    "nh-boost.dt": NHBoostDTClassifier,
    "nh-boost": NHBoostClassifier,
    "adaboost": AdaBoostClassifier,
    "boost-by-majority": BoostByMajorityClassifier,
    "potential boost": PotentialBoostClassifier,
}
"""Name to class; every argument has a default. The command line offers all but the last."""
