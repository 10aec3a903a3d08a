"""Online boosters by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from driftgames.core.registry import choose
from driftgames.online_boosting.adaboost_ol import AdaBoostOL
from driftgames.online_boosting.base import OnlineBooster
from driftgames.online_boosting.bbm import OnlineBBM

ONLINE_BOOSTERS: Mapping[str, Callable[[int, float], OnlineBooster]] = {
    "bbm": OnlineBBM,
    "adaboost.ol": lambda n_learners, edge: AdaBoostOL(n_learners),
}
"""Name to ``factory(n_learners, edge)``; AdaBoost.OL ignores the edge."""


def make_booster(algorithm: str, n_learners: int, edge: float = 0.1) -> OnlineBooster:
    """Return a new online booster.

    >>> make_booster("adaboost.ol", 5)
    <AdaBoost.OL: 5 weak learners, 0 examples>
    """
    return choose("algorithm", algorithm, ONLINE_BOOSTERS)(n_learners, edge)
