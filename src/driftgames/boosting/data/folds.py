"""Parts of the examples that are held out: by the contents of rows, so that no order matters."""

from __future__ import annotations

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.core.typing import BoolArray, IntArray

_FEW_COPIES = 4
"""With fewer copies of a row on average, copies are held out together."""


def deal_ranks(hashes: Array, y: Array, weights: IntArray | None = None) -> tuple[IntArray, int]:
    """Return a number for each row from which folds are made, and the least of any class.

    ``hashes`` are those of `row_sample.hash_rows`. The rows of each class are numbered in their
    order, one class behind the other. Copies of a row have one number, so that they are held out
    together. But where every row has many copies, rows are the cells of a table that new rows fall
    into as well. There each copy has a number of its own. The second result is the least number of
    ranks that a class has.

    >>> ranks, least = deal_ranks(np.array([7, 5, 7, 1]), np.array([0, 0, 0, 1]))
    >>> ranks[0] == ranks[2], sorted(set(ranks.tolist())), least
    (np.True_, [0, 1, 2], 1)
    """
    # equal rows of equal weight may change places, and nothing changes
    order = np.lexsort((np.ones(y.size) if weights is None else weights, hashes, y))
    labels, hashes = y[order], hashes[order]
    new = np.ones(y.size, dtype=bool)
    new[1:] = (labels[1:] != labels[:-1]) | (hashes[1:] != hashes[:-1])
    if np.count_nonzero(new) * _FEW_COPIES <= y.size:
        new[:] = True
    ranks = np.empty(y.size, dtype=np.int64)
    ranks[order] = np.cumsum(new) - 1
    return ranks, int(np.unique(labels[new], return_counts=True)[1].min())


def hold_out(ranks: IntArray, share: float) -> BoolArray:
    """Return which rows are held out: a share of the ranks, evenly spread.

    >>> hold_out(np.arange(8), 0.25)
    array([False, False, False,  True, False, False, False,  True])
    """
    return np.asarray(np.floor((ranks + 1) * share) > np.floor(ranks * share))
