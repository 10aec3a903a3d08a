"""Trees on bins: what the engine grows, and the way to trees on feature values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import NO_TREES, Trees
from driftgames.core.typing import FloatArray


class BinnedTree(NamedTuple):
    """A tree on bins: the root first, and two nodes more for each question in order of growing.

    A question is (feature, cut, whether missing values go left, left node): bins up to the cut go
    to the left node, others to the node behind it. A leaf has the question (-1, 0, 0, 0), and a
    vote of -1 or +1 for each label.
    """

    questions: npt.NDArray[np.int32]
    votes: npt.NDArray[np.int8]
    gains: FloatArray

    def part(self, begin: int, end: int) -> BinnedTree:
        """Return the nodes from ``begin`` to ``end``: one of several trees."""
        return BinnedTree(self.questions[begin:end], self.votes[begin:end], self.gains[begin:end])

    @classmethod
    def leaf(cls, votes: Array) -> BinnedTree:
        """Return a tree of one leaf."""
        question = np.array([[-1, 0, 0, 0]], dtype=np.int32)
        return cls(question, np.array([votes], dtype=np.int8), np.zeros(1))

    def __len__(self) -> int:
        return len(self.questions)


def to_trees(chosen: Sequence[BinnedTree], cuts: Cuts) -> Trees:
    """Return trees on bins as trees on feature values."""
    if not chosen:
        return NO_TREES
    questions = np.concatenate([tree.questions for tree in chosen])
    feature, cut, missing_left, left = questions.astype(np.int64).T
    threshold, asks = np.zeros(feature.size), left > 0
    threshold[asks] = cuts.values(feature[asks], cut[asks])
    votes = np.concatenate([tree.votes for tree in chosen])
    return Trees(
        np.array([len(tree) for tree in chosen]),
        feature,
        threshold,
        missing_left,
        left,
        votes[:, 0] if votes.shape[1] == 1 else votes,
        np.concatenate([tree.gains for tree in chosen]),
    )


def to_stumps(chosen: Sequence[BinnedTree], cuts: Cuts) -> Stumps:
    """Return exhaustive stumps on bins as stumps on feature values."""
    if not chosen:
        return Stumps.none()
    feature, cut, missing_left = np.stack([tree.questions[0, :3] for tree in chosen]).T
    left = np.array([tree.votes[1, 0] for tree in chosen])
    threshold = cuts.values(feature.astype(np.int64), cut.astype(np.int64))
    return Stumps(feature, threshold, left, np.where(missing_left, left, -left))
