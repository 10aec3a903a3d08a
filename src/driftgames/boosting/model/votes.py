"""The votes of weak hypotheses, whatever they are, and the class that votes are for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array, BitArray
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.tree_model import PairModel, TreeModel
from driftgames.boosting.model.trees import Trees
from driftgames.core.checks import shown
from driftgames.core.typing import FloatArray

IS_LABEL = np.array([False, True])
"""The classes of the question whether an example has a label."""


@dataclass(frozen=True, eq=False)
class EstimatorVotes:
    """The votes of fitted classifiers of another library, added up."""

    estimators: Sequence[Any]
    vote_weights: FloatArray
    classes: Array

    def scores(
        self, X: Any, *, n_threads: int, divisor: float | None = None, finite: bool = False
    ) -> Array:
        """Add up the votes in the order of the rounds; the keywords are as in `AdditiveModel`."""
        n_classes = self.classes.size
        scores = np.zeros(X.shape[0] if n_classes == 2 else (X.shape[0], n_classes))
        for weight, estimator in zip(self.vote_weights, self.estimators, strict=True):
            scores += weight * cast_votes(estimator, X, self.classes)
        return np.asarray(scores / (divisor or 1.0))

    def share_gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Share the gains by the importances of each classifier; those of classes are equal."""
        shares = np.zeros(n_columns)
        for gain, h in zip(gains, self.estimators, strict=True):
            for each in h if isinstance(h, list) else [h]:
                shares += gain * each.feature_importances_
        return shares


def cast_votes(hypothesis: Any, X: Any, classes: Array, *, n_threads: int = 1) -> FloatArray:
    """Return the votes of one weak hypothesis: -1 or +1 on each row.

    With more than two classes there is a column for each. The hypothesis is one of `Stumps`, one of
    `Trees`, a fitted classifier, or a list of one such classifier for each class.
    """
    if isinstance(hypothesis, Stumps):
        return hypothesis.votes(X)[:, 0].astype(np.float64)
    if isinstance(hypothesis, Trees):
        of_tree = hypothesis, [1.0], X.shape[1]
        several = classes.size > 2
        tree = PairModel(*of_tree, classes.size) if several else TreeModel(*of_tree)
        return tree.scores(X, n_threads=n_threads).astype(np.float64)
    if isinstance(hypothesis, list):
        up: Array = np.column_stack([votes_of(each, X, IS_LABEL) for each in hypothesis])
    else:
        up = votes_of(hypothesis, X, classes)
    return np.where(up, 1.0, -1.0)


def split(hypotheses: Any) -> Iterator[Any]:
    """Yield the weak hypotheses one by one, as `cast_votes` takes them."""
    if isinstance(hypotheses, tuple):
        yield from hypotheses
        return
    for t in range(len(hypotheses)):
        yield hypotheses[t : t + 1]


def votes_of(hypothesis: Any, X: Any, classes: Array) -> BitArray:
    """Return a fitted classifier's vote on each row: 1 for ``classes[1]``, 0 for ``classes[0]``."""
    labels = np.asarray(hypothesis.predict(X))
    up = labels == classes[1]
    known = up | (labels == classes[0])
    if not np.all(known):
        raise ValueError(
            f"estimator must predict one of the classes {classes.tolist()}; "
            f"{type(hypothesis).__name__} predicted {shown(labels[~known][0])}"
        )
    return np.asarray(up, dtype=np.uint8)


def winners(votes: FloatArray) -> Array:
    """Return the number of the class that the votes on each row are for; a tie is for the first."""
    return (votes > 0).astype(np.intp) if votes.ndim == 1 else votes.argmax(axis=1)
