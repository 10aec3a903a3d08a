"""Several classes on shares of the examples: trees with a vote for each label in every leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.pair_growth import PairGrower, PairNode
from driftgames.boosting.shared_trees import Divide, GrowingLeaf, SharedGrower
from driftgames.boosting.tree_growth import TreeShape
from driftgames.core.typing import IntArray


class SharedPairGrower(SharedGrower):
    """Grows the trees of `PairGrower` from sums that shares answer with."""

    def __init__(
        self, data: BinnedTrainingSet, n_classes: int, shape: TreeShape, divide: Divide
    ) -> None:
        super().__init__(shape, divide)
        self._pairs = PairGrower(data, np.empty(0, dtype=np.int64), n_classes, shape)
        self._above = np.full(n_classes, -1)

    def _vote(self, totals: IntArray, above: Any) -> Any:
        return self._pairs.votes(totals, self._above if above is None else above)

    def _norm(self, totals: IntArray) -> int:
        return self._pairs.weight(totals)

    def _value(self, leaf: GrowingLeaf) -> int:
        return int(np.abs(self._pairs.signed(leaf.totals)).sum())

    def _may_divide(self, leaf: GrowingLeaf) -> bool:
        return self._pairs.may_split(leaf.depth, leaf.totals)

    def _find(self, leaf: GrowingLeaf) -> None:
        if leaf.sums is None or not self._may_divide(leaf):
            return
        sums, totals = np.ascontiguousarray(leaf.sums[:, :-1]), np.ascontiguousarray(leaf.totals)
        leaf.gain, found, leaf.left = self._pairs.find(sums, totals)
        if leaf.gain > 0:
            leaf.question = int(found[0]), int(found[1]), int(found[2])

    def _question(self, leaf: GrowingLeaf, left: int, norm: int) -> PairNode:
        assert leaf.question is not None
        return PairNode(*leaf.question, left, gain=leaf.gain / norm)

    def _constrain(self, leaf: GrowingLeaf) -> None:
        """Leave the votes as they are: constraints are for two classes."""

    def _end(self, leaf: GrowingLeaf) -> PairNode:
        return PairNode(votes=tuple(leaf.vote.tolist()))
