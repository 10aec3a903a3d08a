"""The engine: it owns the arrays of one fit, and plays rounds on rows in memory.

Who owns what:

- `BinnedRows` belong to the data. All fits on it read them, and none writes.
- `RowState`, `Positions` and `Nodes` belong to one fit. A thread writes the parts of its own share;
  thread 0 alone writes what they have in common, while the others wait.
- `Record` is what comes out: trees and numbers of rounds.

Dense and sparse rows, and two classes and several, are compiled apart from the same source
(`compiled_steps`). The rule that weighs the examples is called by its address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftgames._kernels.barrier import new_barrier, run_together
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array, BitArray, DenseBins
from driftgames.boosting.growth import (
    class_sides,
    pair_sides,
    rounds,
)
from driftgames.boosting.growth.binned_trees import BinnedTree
from driftgames.boosting.growth.compiled_steps import Kind, compile_following, compile_writing
from driftgames.boosting.growth.nodes import (
    LISTED,
    N_NODES,
    N_STORED,
    Nodes,
    make_nodes,
    widen,
)
from driftgames.boosting.growth.positions import Rule
from driftgames.boosting.growth.rows import BLOCK, BinnedRows, RowState
from driftgames.boosting.growth.shape import TreeShape
from driftgames.core.typing import IntArray

_LEAVES = 32  # for how many leaves arrays are made at first
_CHUNK_NODES = 1 << 12  # nodes for which a record has room at least
_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Numbers(Struct):
    """A keeper of no positions: only the numbers that a tree needs."""

    at: Array


class Engine:
    """Grows trees on binned rows in memory; subclasses keep the positions of the rows.

    ``sample_weights`` are in the order of the binned rows; rows of weight zero are held out.
    ``labels`` number the classes in that order if there are more than two.
    """

    keeper: Any

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
        n_rounds: int = 1,
    ) -> None:
        self.data = data
        dense, pairs = isinstance(data.bins, DenseBins), n_classes > 2
        self.kind = Kind(dense, pairs)
        self._whole = data.integer_weights
        self.n_threads = n_threads
        self.rows = as_rows(data, labels)
        n_labels, lanes = (n_classes, pair_sides.LANES) if pairs else (1, class_sides.LANES)
        n_blocks = -(-n_labels // lanes)
        n_parts = 2 * n_blocks + shape.has_least_size
        numbers = tuple(shape.numbers(int(sample_weights.sum())))
        widest = 2 ** min(max(numbers[0], 0), _LEAVES.bit_length())  # of a limited depth
        room = min(_LEAVES, *(n for n in (numbers[1], widest) if n > 1))
        self.nodes = make_nodes(numbers, n_parts, n_labels, lanes, data.n_codes, n_threads, room)
        sizes = _NONE
        if shape.min_weight_fraction_leaf > 0:
            sizes = sample_weights
        elif shape.has_least_size:
            sizes = np.ones(data.n_rows, dtype=np.int64)
        n_rows, n_features = data.n_rows, data.implicit.size
        weights = marks = np.zeros(n_rows, dtype=np.int64)
        if pairs:
            weights = np.zeros((n_blocks, n_rows, lanes), dtype=np.int64)
        if isinstance(data.bins, DenseBins):
            columns, column_of = data.bins.columns, np.arange(n_features)
        else:  # columns take no more memory than the rows themselves
            spare = data.bins.codes.nbytes + 2**20  # but there is room for one large tree
            n_columns = min(max(spare // max(n_rows, 1), 1), n_features)
            columns = np.empty((n_columns, n_rows), dtype=np.uint8)
            column_of = np.full(n_features, -1)
        self.state = RowState(
            sample_weights=sample_weights,
            sizes=sizes,
            levels=np.full(n_rows * n_labels, start, dtype=np.uint32),
            weights=weights,
            own=np.zeros(n_rows if pairs else 0, dtype=np.int64),
            marks=marks,
            # every share has room for one row more: see `rows.list_rows`
            lists=np.empty((n_threads, 3, n_rows // n_threads + 2 * BLOCK + 1), dtype=np.uint32),
            bounds=np.zeros((n_threads, self.nodes.gains.size, 4, 2), dtype=np.int64),
            parts=np.zeros((n_threads, n_parts, lanes), dtype=np.int64),
            columns=columns,
            column_of=column_of,
            owners=np.append(np.full(len(columns), -1), 0),
            goes_left=np.zeros(256, dtype=np.uint8),
            asked_column=np.zeros(1, dtype=np.int64),
        )
        self._record = rounds.make_record(n_rounds, _CHUNK_NODES, n_labels)
        self._barrier = new_barrier()

    def _run(self, loop: Callable[..., int], until: int, rule: Rule) -> bool:
        """Play with a compiled loop; return False if a tree had no edge."""
        status = rounds.RECORD_FULL
        while status not in (rounds.PLAYED, rounds.NO_EDGE):
            status = self._call(loop, until, rule)
            if status == rounds.TALLY_FULL:
                self._widen_tally()
            elif status == rounds.NODES_FULL:
                self.widen_nodes()
            if status in (rounds.NODES_FULL, rounds.RECORD_FULL):
                self._make_room()
        return bool(status == rounds.PLAYED)

    def _call(self, loop: Callable[..., int], until: int, rule: Rule) -> int:
        """Run a compiled loop in all threads; return how it ended."""
        given = *self.arrays(), self._record, rule, self._barrier
        n = self.n_threads
        if n > 1:
            loop(0, 1, 0, *given)  # no round: it is compiled here, where it can be interrupted
        return run_together(lambda p: loop(p, n, until, *given), n)[0]

    def widen_nodes(self) -> None:
        """Make room for trees of twice as many leaves."""
        self.nodes = widen(self.nodes)
        bounds = self.state.bounds
        wider = np.concatenate([bounds, bounds, bounds[:, :1]], axis=1)
        self.state = replace(self.state, bounds=wider)

    def _make_room(self) -> None:
        """Make room in the record for one tree more at least."""
        needed = int(self.keeper.at[N_STORED]) + self.nodes.gains.size
        wider = {}
        for name in ("questions", "votes", "gains", "order", "place"):
            old = getattr(self._record, name)
            if old.shape[0] < needed:
                wider[name] = np.zeros((2 * needed, *old.shape[1:]), old.dtype)
                wider[name][: old.shape[0]] = old
        self._record = replace(self._record, **wider)

    def _widen_tally(self) -> None:
        raise AssertionError("no tally is kept")

    def arrays(self) -> tuple[BinnedRows, RowState, Any, Nodes]:
        """Return the arrays that the loops of a tree work on."""
        return self.rows, self.state, self.keeper, self.nodes

    def place(self, tree: BinnedTree) -> None:
        """Take a tree as grown, and send the rows to its leaves if they are listed."""
        self._take(tree)
        if self.keeper.at[LISTED]:
            compile_following(self.kind)(self.n_threads, *self.arrays())

    def follow(self, tree: BinnedTree) -> None:
        """Send the rows to the leaves of a tree."""
        self._take(tree)
        compile_following(self.kind)(self.n_threads, *self.arrays())

    def _take(self, tree: BinnedTree) -> None:
        while self.nodes.gains.size < len(tree):
            self.widen_nodes()
        self.nodes.at[N_NODES] = len(tree)
        self.nodes.questions[: len(tree)] = tree.questions
        self.nodes.votes[: len(tree)] = tree.votes

    def leaf_votes(self) -> BitArray:
        """Return the vote on every row, or pair, in its leaf: 1 for +1 and 0 for -1."""
        votes = np.empty(self.state.levels.size, dtype=np.uint8)
        compile_writing(self.kind)(self.state, self.nodes, votes)
        return votes


def as_rows(data: BinnedData, labels: IntArray | None) -> BinnedRows:
    """Return binned rows as the loops see them."""
    bins = data.bins
    split = data.split if labels is None else data.n_rows
    shared = split, _NONE if labels is None else labels, data.feature_bins, data.counts
    if isinstance(bins, DenseBins):
        lists = _NONE, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
        return BinnedRows(*shared, data.offsets, bins.codes.reshape(-1), *lists)
    return BinnedRows(
        *shared, bins.starts, bins.codes, bins.list_starts, bins.listed, bins.listed_bins
    )
