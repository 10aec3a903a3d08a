"""The tally of trees: it sums the root, and the rows in the wrong leaves move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.tally import LevelTally, add_class
from driftgames.boosting.growth.training_set import MistakeCounts
from driftgames.boosting.model.trees import Tree
from driftgames.core.typing import IntArray

if TYPE_CHECKING:
    from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
    from driftgames.boosting.growth.tree_growth import TreeGrower

_MOVE = 2.3  # entering a row in the tally takes so much longer than adding its weight
_COUNT = 0.3  # adding up a count, relative to adding a weight to a bin
_PATIENCE = 8  # a tally gives way when so many more rounds were costly than cheap
_FEW_CODES = 1 << 18  # with so few bins listed by rows, a tally saves nothing


def count_leaf_mistakes(
    data: BinnedTrainingSet, grower: TreeGrower, *, counts_rows: bool
) -> MistakeCounts:
    """Return a tally as long as it is cheaper than one number for each row.

    If the trees need the number of rows with weight in each bin, a tally cannot give it.
    """
    codes = data.bins.codes.size
    if data.integer_weights and not counts_rows and codes >= max(_FEW_CODES, 64 * data.n_codes):
        return LeafTally(data, grower)
    return LeafCounts(data, grower)


class LeafCounts(MistakeCounts):
    """One number of mistakes for each row; a tree's mistakes are the rows of its wrong leaves."""

    def __init__(self, data: BinnedTrainingSet, grower: TreeGrower) -> None:
        self._data = data
        self._grower = grower
        self._mistakes = np.zeros(data.n_rows, dtype=np.uint32)
        self._masses = np.zeros((2, 2), dtype=np.int64)
        self._masses[:, 0] = data.masses

    @classmethod
    def after(cls, tally: LeafTally) -> LeafCounts:
        """Return the counts that go on where a tally stops."""
        counts = cls(tally._training_set, tally._grower)
        counts._mistakes[:] = tally._mistakes()
        first, masses = tally.masses()
        counts._masses = np.append(np.zeros((2, first), np.int64), masses, axis=1)
        return counts

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        held = np.flatnonzero(self._masses.any(axis=0))
        first, last = int(held[0]), int(held[-1])
        return first, np.ascontiguousarray(self._masses[:, first : last + 1])

    def best(self, first: int, weights: Array) -> tuple[int, int, Tree]:
        """Return the tree for weights by number of mistakes."""
        if weights.dtype == np.int64:
            table = np.append(np.zeros(first, np.int64), weights)
            return self._grower.best(np.stack([table, table]), self._mistakes)
        weighted = self._data.sample_weights * weights[self._mistakes - first]
        return self._grower.best(np.rint(weighted).astype(np.int64))

    def move(self, tree: Tree) -> LeafCounts:
        """Count the mistakes of a tree."""
        last = int(np.flatnonzero(self._masses.any(axis=0))[-1])
        moved = self._grower.add_mistakes(tree, self._mistakes, last)
        if last + 2 > self._masses.shape[1]:
            self._masses = np.concatenate([self._masses, np.zeros_like(self._masses)], axis=1)
        self._masses[:, : last + 1] -= moved
        self._masses[:, 1 : last + 2] += moved
        return self


class LeafTally(LevelTally):
    """Examples that are counted by class, number of mistakes and bin, for trees of two classes.

    The sums of the root come from the counts. Weights must be integers.
    """

    def __init__(self, data: BinnedTrainingSet, grower: TreeGrower) -> None:
        super().__init__(data, grower.ranges, grower.run)
        self._grower = grower
        self._n_costly = 0

    def best(self, first: int, weights: IntArray) -> tuple[int, int, Tree]:
        """Return the tree for weights by number of mistakes."""
        tables = np.zeros((2, self._tally.shape[2]), dtype=np.int64)
        for c, (low, high) in enumerate(zip(self._low.tolist(), self._high.tolist(), strict=True)):
            begin = low + int(self._shift[c]) - first
            tables[c, low : high + 1] = weights[begin : begin + high + 1 - low]

        def fill_root(p: int, sums: IntArray) -> None:
            _weigh_classes(self._tally[p], self._low, self._high, tables, sums)

        return self._grower.best(tables, self._levels, fill_root)

    def move(self, tree: Tree) -> MistakeCounts:
        """Count the mistakes of a tree; give way to `LeafCounts` if they are cheaper now."""
        self._begin_move()
        sides = self._grower.sides(tree)
        moved = 0
        for c in range(2):
            right, wrong = (sum(len(rows) for of in sides for rows in of[c][k]) for k in range(2))
            self._rise[c] = wrong <= right
            moved += min(right, wrong)

        def enter(p: int) -> None:
            for c in range(2):
                for rows in sides[p][c][int(self._rise[c])]:
                    self._enter(p, c, rows)

        self._run(enter)
        self._end_move()
        data = self._training_set
        codes = data.bins.codes.size / data.n_rows
        costly = _MOVE * moved * codes + _COUNT * self._n_counts > self._grower.n_heavy * codes
        self._n_costly = max(self._n_costly + (1 if costly else -1), 0)
        return LeafCounts.after(self) if self._n_costly == _PATIENCE else self


@kernel
def _weigh_classes(tally: Array, low: Array, high: Array, tables: Array, out: Array) -> None:
    """Write the sum of the weights of each class in each bin; ``tables[c, r]`` weighs level r."""
    for c in range(2):
        sums = out[c]
        for b in range(sums.size):
            sums[b] = 0
        add_class(tally[c], low[c], high[c], np.int64(0), tables[c], np.int64(1), sums)
