"""The tally of stumps: it finds the best stump without a look at a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel
from driftgames.boosting.bins import Array, DenseBins, Stump
from driftgames.boosting.level_tally import LevelTally, add_class, enter_dense, enter_sparse
from driftgames.boosting.mistake_counts import MistakeCounts, RowCounts
from driftgames.boosting.stump_kernels import vote_by_bin
from driftgames.core.typing import IntArray

if TYPE_CHECKING:
    from driftgames.boosting.binned_training_set import BinnedTrainingSet

BLOCK = 4096
"""Rows that are collected before they are entered in the tally: their numbers stay in cache."""


class Tally(LevelTally):
    """Examples that are counted by class, number of mistakes and bin, for stumps.

    Parameters
    ----------
    training_set : BinnedTrainingSet
        The examples; their total mass must be below 2**31.
    most_counts : int, optional
        Where a round would add up more counts than this, `RowCounts` take over. Default: never.
    """

    def __init__(self, training_set: BinnedTrainingSet, most_counts: int | None = None) -> None:
        n_shares, split, n_rows = training_set.n_shares, training_set.split, training_set.n_rows
        self._bounds = np.stack([_ends(0, split, n_shares), _ends(split, n_rows, n_shares)], axis=1)
        ranges = [[(c, *ends) for c, ends in enumerate(each)] for each in self._bounds.tolist()]
        super().__init__(training_set, ranges, training_set.run)
        self._most_counts = most_counts
        self._buffers = np.empty((n_shares, BLOCK), dtype=np.uint32)
        self._sums = np.empty((n_shares, self._tally.shape[3] + 1), dtype=np.int64)
        self._votes = np.zeros(256, dtype=np.uint8)

    def best(self, first: int, weights: IntArray) -> tuple[int, int, Stump]:
        """Return ``max_h sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best stump.

        ``weights[k - first]`` is the weight of an example with ``k`` mistakes.
        """
        shift = self._shift - first

        def weigh(p: int) -> None:
            _weigh_tally(self._tally[p], self._low, self._high, shift, weights, self._sums[p])

        self._training_set.run(weigh)
        sums = self._sums[0] if len(self._sums) == 1 else self._sums.sum(axis=0)
        return self._training_set.best_stump(sums)

    def move(self, stump: Stump) -> MistakeCounts:
        """Count the mistakes of a stump; give way to `RowCounts` if they are cheaper now."""
        self._begin_move()
        data = self._training_set
        vote_by_bin(stump, data.offsets, data.cuts.missing, data.counts, self._votes, self._rise)
        data.run(self._mover(stump[0]))
        self._end_move()
        if self._most_counts is not None and self._n_counts > self._most_counts:
            return RowCounts(data, self._mistakes())
        return self

    def _mover(self, feature: int) -> Callable[[int], None]:
        """Return the task that moves the rows of one share."""
        bins = self._training_set.bins
        if isinstance(bins, DenseBins):
            column = bins.columns[feature]

            def move(p: int) -> None:
                _move_dense(
                    self._bounds[p],
                    self._rise,
                    self._votes,
                    column,
                    self._training_set.offsets,
                    bins.codes,
                    self._counts,
                    self._levels,
                    self._tally[p],
                    self._buffers[p],
                )

            return move

        begin, end = bins.list_starts[feature : feature + 2].tolist()
        implicit_vote = int(self._votes[self._training_set.implicit[feature]])

        def move_listed(p: int) -> None:
            _move_sparse(
                self._bounds[p],
                self._rise,
                self._votes,
                implicit_vote,
                bins.listed[begin:end],
                bins.listed_bins[begin:end],
                bins.starts,
                bins.codes,
                self._counts,
                self._levels,
                self._tally[p],
                self._buffers[p],
            )

        return move_listed


def _ends(begin: int, end: int, n_shares: int) -> IntArray:
    ends = np.linspace(begin, end, n_shares + 1).astype(np.int64)
    return np.stack([ends[:-1], ends[1:]], axis=1)


@kernel
def _weigh_tally(
    tally: Array, low: Array, high: Array, shift: Array, weights: Array, out: Array
) -> None:
    """Write the weighted sum of labels in each bin, ``sum_i w_i y_i``, to ``out``.

    Behind the bins come the sum over all rows and ``sum_i w_i``. ``weights[r + shift[c]]`` is
    the weight of class ``c`` at level ``r``; levels ``low[c]`` to ``high[c]`` are occupied.
    """
    for b in range(out.size):
        out[b] = 0
    sums, last = out[: out.size - 1], out.size - 2
    add_class(tally[0], low[0], high[0], shift[0], weights, np.int64(-1), sums)
    lower = -sums[last]
    add_class(tally[1], low[1], high[1], shift[1], weights, np.int64(1), sums)
    out[last + 1] = sums[last] + 2 * lower


@kernel
def _move_sparse(
    bounds: Array,
    rise: Array,
    votes: Array,
    implicit_vote: int,
    listed: Array,
    listed_bins: Array,
    starts: Array,
    codes: Array,
    counts: Array,
    levels: Array,
    tally: Array,
    buffer: Array,
) -> None:
    """Move the rows of each class that a stump sets apart, and enter them in the tally.

    ``rise[c]`` says whether the mistakes of class ``c`` move up or the others move down.
    ``votes[b]`` is 1 where bin ``b`` of the stump's feature is voted +1. ``listed`` are the
    rows, ascending, outside the feature's implicit bin, and ``listed_bins`` are their bins.
    """
    for c in range(2):
        wanted = 1 - c if rise[c] else c
        e = _first_from(listed, bounds[c, 0])
        end = _first_from(listed, bounds[c, 1])
        if wanted == implicit_vote:
            i = np.uint64(bounds[c, 0])
            stop = np.uint64(bounds[c, 1])
            while i < stop:
                m = np.uint64(0)
                upto = min(stop, i + np.uint64(BLOCK))
                while i < upto:
                    gap = min(upto, np.uint64(listed[e])) if e < end else upto
                    while i < gap:
                        buffer[m] = i
                        m += np.uint64(1)
                        i += np.uint64(1)
                    if i < upto:
                        buffer[m] = i
                        m += np.uint64(votes[listed_bins[e]] == wanted)
                        e += np.uint64(1)
                        i += np.uint64(1)
                enter_sparse(buffer[:m], rise[c], starts, codes, counts, levels, tally[c])
        else:
            while e < end:
                m = np.uint64(0)
                upto = min(end, e + np.uint64(BLOCK))
                while e < upto:
                    buffer[m] = listed[e]
                    m += np.uint64(votes[listed_bins[e]] == wanted)
                    e += np.uint64(1)
                enter_sparse(buffer[:m], rise[c], starts, codes, counts, levels, tally[c])


@inner_kernel
def _first_from(listed: Array, row: int) -> Any:
    """Return the index of the first listed row that is ``row`` or comes after it."""
    begin = np.uint64(0)
    end = np.uint64(listed.size)
    while begin < end:
        middle = (begin + end) >> np.uint64(1)
        if listed[middle] < row:
            begin = middle + np.uint64(1)
        else:
            end = middle
    return begin


@kernel
def _move_dense(
    bounds: Array,
    rise: Array,
    votes: Array,
    column: Array,
    offsets: Array,
    codes: Array,
    counts: Array,
    levels: Array,
    tally: Array,
    buffer: Array,
) -> None:
    """Do the same as `_move_sparse` where ``column`` gives the bin of every row."""
    for c in range(2):
        wanted = 1 - c if rise[c] else c
        i = np.uint64(bounds[c, 0])
        stop = np.uint64(bounds[c, 1])
        while i < stop:
            m = np.uint64(0)
            upto = min(stop, i + np.uint64(BLOCK))
            while i < upto:
                buffer[m] = i
                m += np.uint64(votes[column[i]] == wanted)
                i += np.uint64(1)
            enter_dense(buffer[:m], rise[c], offsets, codes, counts, levels, tally[c])
