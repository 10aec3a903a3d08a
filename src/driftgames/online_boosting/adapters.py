"""What both adapters share: boosters by name, labels as signs, how often to draw an example."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from driftgames.core.checks import shown
from driftgames.core.registry import choose
from driftgames.core.typing import FloatArray, IntArray
from driftgames.online_boosting.adaboost_ol import AdaBoostOL
from driftgames.online_boosting.bbm import OnlineBBM
from driftgames.online_boosting.online_booster import OnlineBooster

ONLINE_BOOSTERS: Mapping[str, Callable[[int, float], OnlineBooster]] = {
    "bbm": OnlineBBM,
    "adaboost.ol": lambda n_learners, edge: AdaBoostOL(n_learners),
}
"""Name to ``factory(n_learners, edge)``; AdaBoost.OL ignores the edge."""

WEIGHTING = {"auto": None, "weight": True, "draw": False}
"""Whether weak learners are given weights; None if it depends on whether they take them."""


def make_booster(algorithm: str, n_learners: int, edge: float = 0.1) -> OnlineBooster:
    """Return a new online booster.

    >>> make_booster("adaboost.ol", 5)
    <AdaBoost.OL: 5 weak learners, 0 examples>
    """
    return choose("algorithm", algorithm, ONLINE_BOOSTERS)(n_learners, edge)


def takes_weights(weighting: str, learn: Callable[..., Any], name: str) -> bool:
    """Return whether a weak learner is given weights, as its argument ``name``."""
    wanted = choose("weighting", weighting, WEIGHTING)
    return name in inspect.signature(learn).parameters if wanted is None else wanted


def drawn_times(weights: FloatArray, rng: np.random.Generator) -> IntArray:
    """Return how often each example is learnt: as often as its weight says, on average."""
    return np.asarray(rng.poisson(weights), dtype=np.int64)


class TwoLabels:
    """The labels of a stream in the order of their first example; the first is +1.

    Truth values are known at once: True is +1 and False is -1.

    >>> labels = TwoLabels()
    >>> labels.sign_of("spam"), labels.sign_of("ham"), labels.sign_of("spam")
    (1, -1, 1)
    >>> labels.sign_of("eggs")
    Traceback (most recent call last):
    ...
    ValueError: online boosting is for two labels, 'spam' and 'ham'; got 'eggs'
    """

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def sign_of(self, label: Any) -> int:
        """Return +1 for the first label and -1 for the second."""
        if label not in self.seen:
            if len(self.seen) == 2:
                first, second = map(shown, self.seen)
                raise ValueError(
                    f"online boosting is for two labels, {first} and {second}; got {shown(label)}"
                )
            self.seen += [True, False] if isinstance(label, bool | np.bool_) else [label]
        return 1 if label == self.seen[0] else -1

    def guess(self, prediction: Any) -> int:
        """Return the sign of a prediction; a weak learner without one says +1."""
        return -1 if len(self.seen) == 2 and prediction == self.seen[1] else 1
