"""The engine: it owns the arrays of one fit, and grows trees on rows in memory.

Who owns what:

- `BinnedRows` belong to the data. All fits on it read them, and none writes.
- `RowState`, `Positions` and `Nodes` belong to one fit. A thread writes the parts of its own share;
  thread 0 alone writes what they have in common, while the others wait.
- `Record` is what comes out: trees and numbers of rounds.

The loops are templates: they are compiled for two classes or several, and for dense or sparse rows.
The rule that weighs the examples is called by its address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from driftgames._kernels.structs import new_counters
from driftgames._kernels.templates import instantiate
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import BitArray, DenseBins
from driftgames.boosting.growth import dense_rows, several_classes, sparse_rows, two_classes
from driftgames.boosting.growth import rows as row_steps
from driftgames.boosting.growth.binned_trees import BinnedTree
from driftgames.boosting.growth.nodes import Nodes, make_nodes, widen_nodes
from driftgames.boosting.growth.positions import Positions
from driftgames.boosting.growth.rows import BLOCK, BinnedRows, RowState
from driftgames.boosting.growth.shape import TreeShape
from driftgames.core.typing import IntArray

F = TypeVar("F", bound=Callable[..., Any])

_LEAVES = 32  # for how many leaves arrays are made at first
_NONE = np.empty(0, dtype=np.int64)


class Engine:
    """Grows trees on binned rows in memory; subclasses keep the positions of the rows.

    ``sample_weights`` are in the order of the binned rows; rows of weight zero are held out.
    ``labels`` number the classes in that order if there are more than two.
    """

    positions: Positions

    def __init__(
        self,
        data: BinnedData,
        shape: TreeShape,
        sample_weights: IntArray,
        *,
        labels: IntArray | None = None,
        n_classes: int = 2,
        n_threads: int = 1,
        start: int = 0,
    ) -> None:
        self.data = data
        self.has_pairs = n_classes > 2
        self.n_threads = n_threads
        self._parts = {
            "sides": several_classes if self.has_pairs else two_classes,
            "layout": dense_rows if isinstance(data.bins, DenseBins) else sparse_rows,
        }
        self.rows = as_rows(data, labels)
        mass = int(sample_weights.sum())
        room = _n_leaves_at_first(*shape.numbers(mass)[:2])
        self.nodes = make_nodes(shape, mass, n_classes, data.n_codes, n_threads, room)
        n_labels, (n_parts, lanes) = self.nodes.votes.shape[1], self.nodes.totals.shape[1:]
        sizes = _NONE
        if shape.min_weight_fraction_leaf > 0:
            sizes = sample_weights
        elif shape.has_least_size:
            sizes = np.ones(data.n_rows, dtype=np.int64)
        n_rows, n_features = data.n_rows, data.implicit.size
        weights = has_weight = np.zeros(n_rows, dtype=np.int64)
        if self.has_pairs:
            weights = np.zeros((-(-n_labels // lanes), n_rows, lanes), dtype=np.int64)
        if isinstance(data.bins, DenseBins):
            columns, column_of = data.bins.columns, np.arange(n_features)
        else:  # columns take no more memory than the rows themselves
            spare = data.bins.codes.nbytes + 2**20  # but there is room for one large tree
            n_columns = min(max(spare // max(n_rows, 1), 1), n_features)
            columns = np.empty((n_columns, n_rows), dtype=np.uint8)
            column_of = np.full(n_features, -1)
        groups = n_threads, self.nodes.gains.size, 4
        self.state = RowState(
            sample_weights=sample_weights,
            sizes=sizes,
            levels=np.full(n_rows * n_labels, start, dtype=np.uint32),
            weights=weights,
            label_weights=np.zeros(n_rows if self.has_pairs else 0, dtype=np.int64),
            has_weight=has_weight,
            # every share has room for one row more: see `rows.list_rows`
            lists=np.empty((n_threads, 3, n_rows // n_threads + 2 * BLOCK + 1), dtype=np.uint32),
            begins=np.zeros(groups, dtype=np.int64),
            ends=np.zeros(groups, dtype=np.int64),
            share_totals=np.zeros((n_threads, n_parts, lanes), dtype=np.int64),
            columns=columns,
            column_of=column_of,
            features_held=np.full(len(columns), -1),
            counters=new_counters(*row_steps.COUNTERS),
            goes_left=np.zeros(256, dtype=np.uint8),
        )

    def compile(self, function: F) -> F:
        """Return a kernel for the classes and the layout of the rows."""
        return instantiate(function, **self._parts)

    def make_room(self, n_nodes: int, n_slots: int = 0) -> None:
        """Make room for a tree of so many nodes, of which so many keep their sums."""
        while self.nodes.gains.size < n_nodes or self.nodes.free.size < n_slots:
            self.nodes = widen_nodes(self.nodes)
            wider = {}
            for name in ("begins", "ends"):
                old = getattr(self.state, name)
                wider[name] = np.concatenate([old, old, old[:, :1]], axis=1)
            self.state = replace(self.state, **wider)

    def rest(self) -> None:
        """Free the sums of leaves, the largest of the arrays; the next round makes them anew."""
        sums = self.nodes.sums
        self.nodes = replace(self.nodes, sums=np.empty((len(sums), 0, *sums.shape[2:]), sums.dtype))

    def wake(self) -> None:
        """Make room for the sums of leaves, if there is none after a `rest`."""
        sums, n_slots = self.nodes.sums, self.nodes.free.size
        if sums.shape[1] < n_slots:
            shape = len(sums), n_slots, *sums.shape[2:]
            self.nodes = replace(self.nodes, sums=np.empty(shape, sums.dtype))

    def arrays(self) -> tuple[BinnedRows, RowState, Positions, Nodes]:
        """Return the arrays that the loops of a tree work on."""
        return self.rows, self.state, self.positions, self.nodes

    @property
    def is_listed(self) -> bool:
        """Whether the rows are listed, and not only counted."""
        return bool(self.positions.counters[0].listed)

    def place(self, tree: BinnedTree) -> None:
        """Take a tree as grown, and send the rows to its leaves if they are listed."""
        self._take(tree)
        if self.is_listed:
            self._follow()

    def follow(self, tree: BinnedTree) -> None:
        """Send the rows to the leaves of a tree."""
        self._take(tree)
        self._follow()

    def _follow(self) -> None:
        self.compile(row_steps.follow)(self.n_threads, *self.arrays())

    def _take(self, tree: BinnedTree) -> None:
        n = len(tree)
        self.make_room(n)
        nodes = self.nodes
        nodes.counters[0].n_nodes = n
        columns = nodes.feature, nodes.cut, nodes.missing_left, nodes.left
        for column, values in zip(columns, tree.questions.T, strict=True):
            column[:n] = values
        nodes.votes[:n] = tree.votes

    def leaf_votes(self) -> BitArray:
        """Return the vote on every row, or pair, in its leaf: 1 for +1 and 0 for -1."""
        votes = np.empty(self.state.levels.size, dtype=np.uint8)
        self._parts["sides"].write_votes(self.state, self.nodes, votes)
        return votes


def _n_leaves_at_first(max_depth: int, max_leaves: int) -> int:
    """Return for how many leaves to make room, where -1 is no limit."""
    widest = 2 ** min(max(max_depth, 0), _LEAVES.bit_length())
    return min(_LEAVES, *(n for n in (max_leaves, widest) if n > 1))


def as_rows(data: BinnedData, labels: IntArray | None) -> BinnedRows:
    """Return binned rows as the loops see them."""
    bins = data.bins
    split = data.split if labels is None else data.n_rows
    shared = split, _NONE if labels is None else labels, data.feature_bins, data.counts
    if isinstance(bins, DenseBins):
        lists = _NONE, _NONE, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
        return BinnedRows(*shared, bins.codes.reshape(-1), *lists)
    return BinnedRows(
        *shared, bins.codes, bins.starts, bins.list_starts, bins.listed, bins.listed_bins
    )
