"""The rows of trees with a vote for each label: they are divided, and their weights added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from driftgames.boosting import pair_kernels as kernels
from driftgames.boosting.best_first import Question, count_parts
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, DenseBins
from driftgames.boosting.tree_growth import TreeShape
from driftgames.boosting.tree_kernels import divide
from driftgames.boosting.trees import Tree
from driftgames.core.typing import IntArray

_BINS = np.arange(256)


class PairRows:
    """The rows while trees grow: they are divided, and their sums are the answers.

    Rows whose pairs all weigh zero are not touched. Of the two sides of a question, the smaller
    is summed and the other is the difference. Threads share the blocks of labels.
    """

    def __init__(
        self, data: BinnedTrainingSet, labels: IntArray, n_classes: int, shape: TreeShape
    ) -> None:
        self._data = data
        self._labels = labels
        self._n_classes = n_classes
        self._n_blocks, self._n_parts = count_parts(n_classes, shape)
        self._sizes = shape.sizes(data)
        self._weights = np.zeros((self._n_blocks, data.n_rows, kernels.LANES), dtype=np.int64)
        self._own = np.empty(data.n_rows, dtype=np.int64)
        self._heavy = np.empty(data.n_rows + 1, dtype=np.uint32)
        self._scratch = np.empty(data.n_rows, dtype=np.uint32)
        self._nodes: dict[int, tuple[Array, IntArray]] = {}

    def begin(self, weights: IntArray) -> tuple[IntArray, IntArray]:
        """Begin a tree for these weights of pairs; return the sums and the totals of its root."""
        given = self._labels, self._n_classes, self._weights, self._own, self._heavy
        rows = self._heavy[: kernels.pack(weights, *given)]
        self._nodes = {1: (rows, self._sum(rows))}
        return self._nodes[1][1], self.totals(1)

    def divide(self, questions: Sequence[Question]) -> list[tuple[IntArray, IntArray]]:
        """Divide nodes; return the sums of the two sides of each. Those of the node are lost."""
        for node, *asked in questions:
            rows, sums = self._nodes.pop(node)
            goes = goes_left(self._data, *asked)
            at = divide(rows, self._data.column(asked[0]), goes, self._scratch)
            sides = rows[:at], rows[at:]
            less = int(at > rows.size - at)  # the smaller side, the left one of equals
            smaller = self._sum(sides[less])
            sums -= smaller
            self._nodes[2 * node + less] = sides[less], smaller
            self._nodes[2 * node + 1 - less] = sides[1 - less], sums
        return [(self._nodes[2 * q.node][1], self._nodes[2 * q.node + 1][1]) for q in questions]

    def _sum(self, rows: Array) -> IntArray:
        """Return the sums of these rows in each bin; each thread adds up some of the blocks."""
        data, n = self._data, self._n_blocks
        sums = np.zeros((self._n_parts, data.n_codes, kernels.LANES), dtype=np.int64)
        codes = data.bins.codes
        add_block: Callable[..., None]
        add_own: Callable[..., None]
        if isinstance(data.bins, DenseBins):
            begins = data.offsets
            add_block, add_own = kernels.sum_dense, kernels.sum_own_dense
        else:
            begins = data.bins.starts
            add_block, add_own = kernels.sum_sparse, kernels.sum_own_sparse

        def add(share: int) -> None:
            for part in range(share, self._n_parts - n + 1, data.n_shares):
                if part < n:
                    add_block(rows, self._weights[part], begins, codes, sums[part])
                elif part == n:
                    add_own(rows, self._own, self._labels, begins, codes, sums[n : 2 * n])
                else:
                    first = np.zeros_like(self._labels)
                    add_own(rows, self._sizes, first, begins, codes, sums[2 * n :])

        data.run(add)
        return sums

    def totals(self, node: int) -> IntArray:
        """Return the sums of the rows of a node over all bins of a feature."""
        totals = np.zeros((self._n_parts, kernels.LANES), dtype=np.int64)
        of_rows = self._weights, self._labels, self._own, self._sizes
        kernels.add_up(self._nodes[node][0], *of_rows, totals)
        return totals

    def leaves(self, tree: Tree) -> Array:
        """Return the leaf of every row in a tree."""
        data, found = self._data, np.empty(self._data.n_rows, dtype=np.uint32)
        children = np.zeros((len(tree), 256), dtype=np.uint32)
        for n, node in enumerate(tree):
            if node.left:
                children[n] = node.left + 1 - goes_left(data, *node[:3])
        asked = sorted({node.feature for node in tree if node.left})
        slots = np.array([asked.index(node.feature) if node.left else -1 for node in tree])
        columns = np.empty((len(asked), data.n_rows), dtype=np.uint8)
        for slot, j in enumerate(asked):
            columns[slot] = data.column(j)
        kernels.find_leaves(columns, slots, children, found)
        return found


def goes_left(data: BinnedTrainingSet, feature: int, cut: int, missing_left: int) -> Array:
    """Return 1 for each bin of a feature that goes left, else 0."""
    goes = (cut >= _BINS).view(np.uint8)
    if data.cuts.missing[feature]:
        goes[data.offsets[feature + 1] - data.offsets[feature] - 1] = missing_left
    return goes
