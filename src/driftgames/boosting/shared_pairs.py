"""Several classes on shares of the examples: trees with a vote for each label in every leaf."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array
from driftgames.boosting.pair_growth import PairGrower, PairNode
from driftgames.boosting.pair_training_set import TreePairs
from driftgames.boosting.shared_sums import list_all_bins
from driftgames.boosting.shared_trees import Divide, DividedRows, GrowingLeaf, SharedGrower
from driftgames.boosting.tree_growth import TreeShape
from driftgames.core.typing import IntArray


class PairRows(DividedRows, TreePairs):
    """The rows of a share while trees grow, as pairs of an example and a label."""

    def best(self, weights: IntArray) -> Any:
        """Begin a tree for these weights; return the sums of all rows, and behind them the total.

        The answer is what `PairGrower` adds up: parts of blocks of labels, with every bin.
        """
        return self._begin([self._grower.begin(weights).rows])

    def _sum(self, rows: Sequence[Array]) -> IntArray:
        grower = self._grower
        sums, totals = grower.sum(rows[0]), grower.totals(rows[0])
        parts = zip(sums, totals, strict=True)
        answer = [np.vstack([list_all_bins(self._data, *part), part[1]]) for part in parts]
        grower.free(sums)
        return np.stack(answer)


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
