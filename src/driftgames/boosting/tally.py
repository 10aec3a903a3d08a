r"""The tally: how many examples of each class have erred how often, in every bin.

With one vote per round an example weighs by its number of mistakes ``k`` alone, so the best
stump needs, of all examples, only

.. math:: \sum_i w(k_i)\, y_i [x_i \in b]
          = \sum_k \bigl(w(k) - w(k-1)\bigr) \sum_{i : k_i \ge k} y_i [x_i \in b]

and the inner sums are counts: integers that change by one when an example errs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np
import numpy.typing as npt

from driftgames._kernels import stump_boosting as kernels
from driftgames.boosting.binning import IntArray
from driftgames.boosting.table import DenseBins, Stump, Table

_ROOM = 32  # levels at first; more are added as mistakes spread


class Tally:
    """Examples that are counted by class, number of mistakes and bin.

    In each class either those that erred move up a level, or the others move down and the
    level of the whole class is raised: whichever are fewer. So a round costs the lesser side
    of each class, one integer increment for each bin that such a row lists. All is integer
    arithmetic: no order of rows, nor number of shares, changes a bit.

    Parameters
    ----------
    table : Table
        The examples; their total mass must be below 2**31.
    pool : Executor, optional
        Works on the shares of the rows side by side.
    n_shares : int
        Into how many shares, each with counts of its own, the rows are cut.
    """

    def __init__(self, table: Table, pool: Executor | None = None, n_shares: int = 1) -> None:
        self._table = table
        self._pool = pool
        self._offsets = table.offsets
        self._counts = table.mass.astype(np.int32)
        self._bounds = np.stack(
            [
                _ends(0, table.split, n_shares),
                _ends(table.split, table.n_rows, n_shares),
            ],
            axis=1,
        )
        self._tally = np.zeros((n_shares, 2, _ROOM, table.n_codes + 1), dtype=np.int32)
        self._buffers = np.empty((n_shares, kernels.BLOCK), dtype=np.uint32)
        self._sums = np.empty((n_shares, table.n_codes + 2), dtype=np.int64)
        self._votes = np.zeros(256, dtype=np.uint8)
        self._rise = np.ones(2, dtype=np.bool_)

        self._low = np.full(2, _ROOM // 2, dtype=np.int64)
        self._high = self._low.copy()
        self._shift = -self._low
        self._levels = np.full(table.n_rows, _ROOM // 2, dtype=np.uint32)
        self._masses = np.zeros((2, _ROOM), dtype=np.int64)
        self._n_moves = 0
        self._run(self._count_all)
        self._first = 0
        self._masses[:, 0] = self._tally[:, :, _ROOM // 2, -1].sum(axis=0)

    @property
    def size(self) -> int:
        """How many counts a round adds up."""
        return (sum(self._high.tolist()) - sum(self._low.tolist()) + 2) * self._tally.shape[3]

    @property
    def mistakes(self) -> IntArray:
        """The number of mistakes of each row."""
        k = self._levels.astype(np.int64)
        k[: self._table.split] += self._shift[0]
        k[self._table.split :] += self._shift[1]
        return k

    def masses(self) -> tuple[int, IntArray]:
        """Return the mass of each class at each number of mistakes, and the first number."""
        width = max((self._high + self._shift).tolist()) - self._first + 1
        return self._first, np.ascontiguousarray(self._masses[:, :width])

    def best(self, first: int, weights: IntArray) -> tuple[int, int, Stump]:
        """Return ``max_h sum_i w_i y_i h(x_i)``, ``sum_i w_i`` and the best stump.

        ``weights[k - first]`` is the weight of an example with ``k`` mistakes.
        """
        shift = self._shift - first

        def weigh(p: int) -> None:
            kernels.weigh_tally(
                self._tally[p], self._low, self._high, shift, weights, self._sums[p]
            )

        self._run(weigh)
        sums = self._sums[0] if len(self._sums) == 1 else self._sums.sum(axis=0)
        return self._table.best_stump(sums)

    def move(self, stump: Stump) -> None:
        """Count the mistakes of a stump."""
        if min(self._low.tolist()) < 1 or max(self._high.tolist()) > self._tally.shape[2] - 3:
            self._make_room()
        self._n_moves += 1
        if self._n_moves >= self._masses.shape[1]:  # nobody has erred more often than that
            self._masses = np.zeros((2, 2 * self._masses.shape[1]), dtype=np.int64)
        table = self._table
        kernels.vote_by_bin(
            stump, self._offsets, table.cuts.missing, table.counts, self._votes, self._rise
        )
        self._run(self._mover(stump[0]))
        self._first = kernels.settle(
            self._tally, self._rise, self._low, self._high, self._shift, self._masses
        )

    def _mover(self, feature: int) -> Callable[[int], None]:
        bins = self._table.bins
        if isinstance(bins, DenseBins):
            column = bins.columns[feature]

            def move(p: int) -> None:
                kernels.move_dense(
                    self._bounds[p],
                    self._rise,
                    self._votes,
                    column,
                    self._offsets,
                    bins.codes,
                    self._counts,
                    self._levels,
                    self._tally[p],
                    self._buffers[p],
                )

            return move

        begin, end = bins.list_starts[feature : feature + 2].tolist()
        implicit_vote = int(self._votes[self._table.implicit[feature]])

        def move_listed(p: int) -> None:
            kernels.move_sparse(
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

    def _run(self, task: Callable[[int], None]) -> None:
        if self._pool is None:
            for p in range(len(self._bounds)):
                task(p)
        else:
            list(self._pool.map(task, range(len(self._bounds))))

    def _count_all(self, p: int) -> None:
        """Count the rows of a share at the level where all begin."""
        for c, (a, b) in enumerate(self._bounds[p].tolist()):
            sums = np.zeros(self._sums.shape[1], dtype=np.int64)
            self._table.add_weights(self._table.mass, a, b, sums)
            self._tally[p, c, : _ROOM // 2 + 1] = np.abs(sums[:-1])

    def _make_room(self) -> None:
        """Move each class to the middle of the levels, and have as many again if needed."""
        spread = self._high - self._low + 1
        room = self._tally.shape[2]
        room = 2 * room if int(spread.max()) > room // 2 else room
        starts = (room - spread) // 2
        wider = np.zeros((*self._tally.shape[:2], room, self._tally.shape[3]), dtype=np.int32)
        for c in range(2):
            held = self._tally[:, c, self._low[c] : self._high[c] + 1]
            wider[:, c, : starts[c]] = held[:, :1]  # everybody stands above these
            wider[:, c, starts[c] : starts[c] + spread[c]] = held
        self._tally = wider
        up = starts - self._low
        self._levels[: self._table.split] += up[0].astype(np.uint32)  # modulo 2**32, so also down
        self._levels[self._table.split :] += up[1].astype(np.uint32)
        self._low += up
        self._high += up
        self._shift -= up


def _ends(begin: int, end: int, n_shares: int) -> npt.NDArray[np.int64]:
    ends = np.linspace(begin, end, n_shares + 1).astype(np.int64)
    return np.stack([ends[:-1], ends[1:]], axis=1)
