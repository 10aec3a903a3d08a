"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by their positions, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right if the hypothesis is right on it, else to the
left (`driftgames.boosting.rounds`). With one vote per round an example's position is its number of
mistakes, so the exhaustive stump is found by counting: integers, a small table of weights, and only
the examples that change position are touched. Stumps add up to one step function per feature: the
model predicts with it, and it explains the predictions. With ``max_depth`` above 1 the weak
hypotheses are trees, grown on the same integers (`driftgames.boosting.tree_growth`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftgames.core.lazy import lazy_names

if TYPE_CHECKING:  # for type checkers; `_NAMES` makes `BOOSTERS` quick to read
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

_NAMES = {
    "adaboost": "AdaBoostClassifier",
    "additive": "AdditiveModel Explanation ShapeFunction",
    "base": "BaseBooster",
    "boost_by_majority": "BoostByMajorityClassifier",
    "nh_boost": "NHBoostClassifier",
    "potential_boost": "NHBoostDTClassifier PotentialBoostClassifier",
    "registry": "BOOSTERS",
    "rounds": "NoEdgeWarning",
    "stumps": "Stumps",
    "trees": "Trees",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
