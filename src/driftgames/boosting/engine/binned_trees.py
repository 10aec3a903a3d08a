"""Trees on bins: what learns them, what they are, and the way to trees on feature values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import NO_TREES, Trees
from driftgames.core.typing import FloatArray, IntArray


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


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """Binned rows in memory, and trees of a shape as the weak learner for them.

    ``sample_weights`` are in the order of the binned rows; rows of weight zero are held out.
    ``labels`` number the classes in that order if there are more than two. With ``gaps`` they count
    the thresholds below an outcome, and ``n_classes`` is the number of thresholds.
    """

    data: BinnedData
    shape: TreeShape
    sample_weights: IntArray
    labels: IntArray | None = None
    n_classes: int = 2
    n_threads: int = 1
    gaps: IntArray | None = None

    @classmethod
    def of(
        cls,
        data: BinnedData,
        shape: TreeShape,
        labels: IntArray | None,
        n_classes: int,
        n_threads: int = 1,
        gaps: IntArray | None = None,
    ) -> TreeLearner:
        """Return the learner of examples whose classes have these numbers, in their own order."""
        if (n_classes == 2 and gaps is None) or labels is None:
            labels = None
        elif data.order is not None:
            labels = labels[data.order]
        return cls(data, shape, data.sample_weights, labels, n_classes, n_threads, gaps)

    @property
    def mass(self) -> int:
        """The sample weight of all examples."""
        return int(self.sample_weights.sum())

    @property
    def masses(self) -> list[int]:
        """The sample weight of each class."""
        if self.labels is None:
            halves = np.split(self.sample_weights, [self.data.split])
            return [int(half.sum()) for half in halves]
        return [int(self.sample_weights[self.labels == k].sum()) for k in range(self.n_classes)]

    @property
    def judged_mass(self) -> int:
        """The sample weight of all that a vote may get wrong: the examples, or all their pairs."""
        return self.mass * (1 if self.gaps is None else int(self.gaps.sum()))

    @property
    def default_vote(self) -> FloatArray:
        """The vote where no hypothesis votes; that for a threshold tells how much lies above it."""
        if self.gaps is None or self.labels is None:
            return vote_by_mass(self.masses)
        above = [int(self.sample_weights[self.labels > k].sum()) for k in range(self.n_classes)]
        return 2 * np.array(above) / self.mass - 1

    def to_values(self, trees: Sequence[BinnedTree]) -> Stumps | Trees:
        """Return trees of this learner on feature values."""
        return to_hypotheses(trees, self.shape, self.n_classes, self.data.cuts)


def vote_by_mass(masses: Sequence[int]) -> FloatArray:
    """Return the vote where no hypothesis votes, from the mass of each class.

    For two classes it is the share of class 1 less that of class 0, for more twice the share of
    each class less 1.
    """
    if len(masses) == 2:
        return np.array([(masses[1] - masses[0]) / sum(masses)])
    return np.array([2 * each / sum(masses) - 1 for each in masses])


def to_hypotheses(
    trees: Sequence[BinnedTree], shape: TreeShape, n_classes: int, cuts: Cuts
) -> Stumps | Trees:
    """Return trees on bins as the model keeps them: `Stumps` of two classes, or `Trees`."""
    return to_stumps(trees, cuts) if shape.is_stump and n_classes == 2 else to_trees(trees, cuts)


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
