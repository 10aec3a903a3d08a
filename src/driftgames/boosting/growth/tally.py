r"""The tally: how many examples of each class have erred how often, in every bin.

With one vote per round an example's weight depends on its number of mistakes ``k`` alone, so the
weights in a bin add up to

.. math:: \sum_i w(k_i) [x_i \in b]
          = \sum_k \bigl(w(k) - w(k-1)\bigr) \sum_{i : k_i \ge k} [x_i \in b]

and the inner sums are counts: integers that change by one when an example errs.

A *level* is a row's number of mistakes up to a shift that its class shares. ``tally[p, c, r, b]``
counts the rows of share ``p`` and class ``c`` at level ``r`` or above in bin ``b``; the last column
counts all of them. Indices in the loops are unsigned, as in `stump_kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.memory import AHEAD, prefetch
from driftgames.boosting.data.bins import Array, DenseBins, Stump, first_from
from driftgames.boosting.growth.stump_kernels import vote_by_bin
from driftgames.boosting.growth.training_set import MistakeCounts, RowCounts
from driftgames.core.typing import IntArray

if TYPE_CHECKING:
    from driftgames.boosting.data.binned_training_set import BinnedTrainingSet

Ranges = Sequence[Sequence[tuple[int, int, int]]]
"""For each share its rows: their class, where they begin and where they end."""

RunShares = Callable[[Callable[[int], Any]], Any]
"""It runs a task for every share."""

BLOCK = 4096
"""Rows that are collected before they are entered in the tally: their numbers stay in cache."""

_LEVELS = 32  # at first; more are added as mistakes spread


class LevelTally(MistakeCounts):
    """Examples that are counted by class, number of mistakes and bin.

    In each class either the rows that erred move up a level, or the others move down and the level
    of the whole class is raised: whichever are fewer. So a round costs, for each class, one integer
    increment for each bin that the rows on the smaller side list. All is integer arithmetic:
    neither the order of rows nor the number of shares changes a bit. The total mass of the examples
    must be below 2**31.
    """

    def __init__(self, training_set: BinnedTrainingSet, ranges: Ranges, run: RunShares) -> None:
        self._training_set = training_set
        self._run = run
        self._counts = training_set.sample_weights.astype(np.int32)
        n_sums = training_set.n_codes + 1
        self._tally = np.zeros((len(ranges), 2, _LEVELS, n_sums), dtype=np.int32)
        self._low = np.full(2, _LEVELS // 2, dtype=np.int64)
        self._high = self._low.copy()
        self._shift = -self._low
        self._levels = np.full(training_set.n_rows, _LEVELS // 2, dtype=np.uint32)
        self._rise = np.ones(2, dtype=np.bool_)
        self._masses = np.zeros((2, _LEVELS), dtype=np.int64)
        self._n_moves = 0
        self._first = 0

        def count(p: int) -> None:
            for c, begin, end in ranges[p]:
                sums = np.zeros(n_sums + 1, dtype=np.int64)
                training_set.add_weights(training_set.sample_weights, begin, end, sums)
                self._tally[p, c, : _LEVELS // 2 + 1] += np.abs(sums[:-1]).astype(np.int32)

        run(count)
        self._masses[:, 0] = self._tally[:, :, _LEVELS // 2, -1].sum(axis=0)

    def masses(self) -> tuple[int, IntArray]:
        """Return the first number of mistakes, and the mass of each class at each."""
        width = max((self._high + self._shift).tolist()) - self._first + 1
        return self._first, np.ascontiguousarray(self._masses[:, :width])

    @property
    def _n_counts(self) -> int:
        """How many counts a round adds up."""
        levels = sum(self._high.tolist()) - sum(self._low.tolist()) + 2
        return levels * self._tally.shape[3]

    def _mistakes(self) -> IntArray:
        """Return the number of mistakes of each row."""
        k = self._levels.astype(np.int64)
        k[: self._training_set.split] += self._shift[0]
        k[self._training_set.split :] += self._shift[1]
        return k

    def _begin_move(self) -> None:
        """Make room for the levels and masses after a move."""
        if min(self._low.tolist()) < 1 or max(self._high.tolist()) > self._tally.shape[2] - 3:
            self._add_levels()
        self._n_moves += 1
        if self._n_moves >= self._masses.shape[1]:  # the largest possible number of mistakes
            self._masses = np.zeros((2, 2 * self._masses.shape[1]), dtype=np.int64)

    def _end_move(self) -> None:
        """Bring levels and masses up to date after rows have moved as ``_rise`` says."""
        self._first = _update_levels(
            self._tally, self._rise, self._low, self._high, self._shift, self._masses
        )

    def _enter(self, p: int, c: int, rows: Array) -> None:
        """Move rows of one share and one class, and enter them in the tally."""
        data, rise = self._training_set, self._rise[c]
        state = data.bins.codes, self._counts, self._levels, self._tally[p, c]
        if isinstance(data.bins, DenseBins):
            enter_dense(rows, rise, data.offsets, *state)
        else:
            enter_sparse(rows, rise, data.bins.starts, *state)

    def _add_levels(self) -> None:
        """Move each class to the middle of the levels; double their number if needed."""
        spread = self._high - self._low + 1
        n_levels = self._tally.shape[2]
        n_levels = 2 * n_levels if int(spread.max()) > n_levels // 2 else n_levels
        starts = (n_levels - spread) // 2
        wider = np.zeros((*self._tally.shape[:2], n_levels, self._tally.shape[3]), dtype=np.int32)
        for c in range(2):
            held = self._tally[:, c, self._low[c] : self._high[c] + 1]
            wider[:, c, : starts[c]] = held[:, :1]  # all rows are above these levels
            wider[:, c, starts[c] : starts[c] + spread[c]] = held
        self._tally = wider
        up = starts - self._low
        split = self._training_set.split
        self._levels[:split] += up[0].astype(np.uint32)  # modulo 2**32, so also down
        self._levels[split:] += up[1].astype(np.uint32)
        self._low += up
        self._high += up
        self._shift -= up


class Tally(LevelTally):
    """Examples that are counted by class, number of mistakes and bin, for stumps.

    Where a round would add up more than ``most_counts``, `RowCounts` take over.
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
        vote_by_bin(stump, data.feature_bins, self._votes, self._rise)
        data.run(self._mover(stump[0]))
        self._end_move()
        if self._most_counts is not None and self._n_counts > self._most_counts:
            return RowCounts(data, self._mistakes())
        return self

    def _mover(self, feature: int) -> Callable[[int], None]:
        """Return the task that moves the rows of one share."""
        data, bins = self._training_set, self._training_set.bins
        move: Any = _move_dense if isinstance(bins, DenseBins) else _move_sparse
        place: tuple[Any, ...]
        if isinstance(bins, DenseBins):
            place = bins.columns[feature], data.offsets
        else:
            mine = slice(*bins.list_starts[feature : feature + 2].tolist())
            vote = int(self._votes[data.implicit[feature]])
            place = vote, bins.listed[mine], bins.listed_bins[mine], bins.starts
        rule, rows = (self._rise, self._votes), (bins.codes, self._counts, self._levels)

        def task(p: int) -> None:
            move(self._bounds[p], *rule, *place, *rows, self._tally[p], self._buffers[p])

        return task


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
        e = np.uint64(first_from(listed, 0, listed.size, bounds[c, 0]))
        end = np.uint64(first_from(listed, 0, listed.size, bounds[c, 1]))
        if wanted == implicit_vote:
            i = np.uint64(bounds[c, 0])
            stop = np.uint64(bounds[c, 1])
            while i < stop:
                m = np.uint64(0)
                upto = min(stop, i + np.uint64(BLOCK))
                while i < upto:
                    buffer[m] = i
                    lists = e < end and listed[e] == i
                    m += np.uint64(not lists or votes[listed_bins[e]] == wanted)
                    e += np.uint64(lists)
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


@kernel
def _update_levels(
    tally: Array, rise: Array, low: Array, high: Array, shift: Array, masses: Array
) -> int:
    """Bring the occupied levels up to date after a move, and write the mass of each.

    ``masses[c, k - first]`` becomes the mass of class ``c`` with ``k`` mistakes. ``first`` is the
    least number of mistakes and is returned. Empty levels at either end are left out.
    """
    last = tally.shape[3] - 1
    for c in range(2):
        if rise[c]:
            high[c] += 1
        else:
            low[c] -= 1
            shift[c] += 1
        while low[c] < high[c] and _mass_at(tally, c, low[c], last) == 0:
            low[c] += 1
        while low[c] < high[c] and _mass_at(tally, c, high[c], last) == 0:
            high[c] -= 1
    first: int = min(low[0] + shift[0], low[1] + shift[1])
    for c in range(2):
        for k in range(masses.shape[1]):
            masses[c, k] = 0
        for r in range(low[c], high[c] + 1):
            masses[c, r + shift[c] - first] = _mass_at(tally, c, r, last)
    return first


@inner_kernel
def _mass_at(tally: Array, c: int, level: int, last: int) -> int:
    held = 0
    for p in range(tally.shape[0]):
        held += tally[p, c, level, last] - tally[p, c, level + 1, last]
    return held


@inner_kernel
def add_class(
    book: Array, low: int, high: int, shift: Any, weights: Array, sign: Any, out: Array
) -> None:
    """Add ``sign`` times the weights of one class to each bin.

    ``weights[r + shift]`` is the weight at level ``r``; levels ``low`` to ``high`` are occupied.
    Sums may wrap around on the way: the result is exact modulo 2**64 and lies within.
    """
    before = 0
    for r in range(low, high + 1):
        now = weights[r + shift]
        step = sign * (now - before)
        before = now
        if step != 0:
            row = book[r]
            for b in range(out.size):
                out[b] += step * row[b]


@inner_kernel
def _shift(i: Any, rise: bool, counts: Array, levels: Array, book: Array) -> Any:
    """Move a row up a level, or down; return the level that counts one row more, or less."""
    level = np.uint64(levels[i])
    levels[i] = level + np.uint64(1) if rise else level - np.uint64(1)
    level += np.uint64(rise)
    book[level, np.uint64(book.shape[1] - 1)] += counts[i] if rise else -counts[i]
    return level


@kernel
def enter_sparse(
    rows: Array, rise: bool, starts: Array, codes: Array, counts: Array, levels: Array, book: Array
) -> None:
    """Move rows up a level, or down, and count them there in the bins that they list."""
    one = np.uint64(1)
    n_rows = np.uint64(rows.size)
    for q in range(n_rows):
        prefetch(codes, np.uint64(starts[np.uint64(rows[min(q + AHEAD, n_rows - one)])]))
        i = np.uint64(rows[q])
        row = book[_shift(i, rise, counts, levels, book)]
        count = counts[i] if rise else -counts[i]
        for e in range(np.uint64(starts[i]), np.uint64(starts[i + one])):
            row[codes[e]] += count


@kernel
def enter_dense(
    rows: Array, rise: bool, offsets: Array, codes: Array, counts: Array, levels: Array, book: Array
) -> None:
    """Do the same as `enter_sparse` for rows that list one bin of every feature."""
    one = np.uint64(1)
    n_rows, width = np.uint64(rows.size), np.uint64(codes.shape[1])
    flat = codes.reshape(-1)
    for q in range(n_rows):
        ahead = np.uint64(rows[min(q + AHEAD, n_rows - one)]) * width
        prefetch(flat, ahead)
        prefetch(flat, ahead + width - one)
        i = np.uint64(rows[q])
        row = book[_shift(i, rise, counts, levels, book)]
        count = counts[i] if rise else -counts[i]
        bins = codes[i]
        for j in range(np.uint64(bins.size)):
            row[offsets[j] + np.uint64(bins[j])] += count
