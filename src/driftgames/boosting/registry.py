"""Every booster by name: what runs on all of them starts here."""

from __future__ import annotations

from driftgames.boosting.adaboost import AdaBoostClassifier
from driftgames.boosting.base import BaseBooster
from driftgames.boosting.boost_by_majority import BoostByMajorityClassifier
from driftgames.boosting.nh_boost import NHBoostClassifier
from driftgames.boosting.potential_boost import NHBoostDTClassifier, PotentialBoostClassifier

BOOSTERS: dict[str, type[BaseBooster]] = {
    "nh-boost.dt": NHBoostDTClassifier,
    "nh-boost": NHBoostClassifier,
    "adaboost": AdaBoostClassifier,
    "boost-by-majority": BoostByMajorityClassifier,
    "potential boost": PotentialBoostClassifier,
}
"""Name to class; every argument has a default. The command line offers all but the last."""
