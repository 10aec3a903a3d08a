"""Parts of the examples that are held out: by the contents of rows, so that no order matters.

Rows are ordered by pseudo-random keys. The key of a row is its hash, and each further copy of the
row has another one. So the copies are dealt as chance would deal them: a held-out row is as likely
to have copies among the training rows as a new row is.
"""

from __future__ import annotations

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.row_sample import mix_hashes
from driftgames.core.typing import BoolArray, IntArray


def draw_keys(hashes: Array, y: Array, weights: Array | None = None) -> Array:
    """Return a pseudo-random key for each row, whatever the order of the rows is.

    ``hashes`` are those of `row_sample.hash_rows`. The copies of a row are numbered by their labels
    and weights. Copies that are equal in both may change places, and nothing changes.

    >>> draw_keys(np.array([7, 5, 7], np.uint64), np.array([0, 0, 1]))[:2]
    array([7, 5], dtype=uint64)
    """
    order = np.lexsort((np.ones(y.size) if weights is None else weights, y, hashes))
    ordered = hashes[order]
    first = np.ones(y.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    if first.all():
        return hashes
    at = np.arange(y.size)
    copies = at - np.maximum.accumulate(np.where(first, at, 0))
    # a multiple of 2**32: small numbers are those of other deals
    mixed = mix_hashes(ordered, copies.astype(np.uint64) << np.uint64(32))
    keys = np.empty_like(hashes)
    keys[order] = np.where(first, ordered, mixed)
    return keys


def deal_ranks(hashes: Array, y: Array, weights: Array | None = None) -> IntArray:
    """Return a number for each row from which folds are made.

    The rows of each class are numbered in the order of their keys, one class behind the other.

    >>> deal_ranks(np.array([7, 5, 6, 1], np.uint64), np.array([0, 0, 0, 1]))
    array([2, 0, 1, 3])
    """
    ranks = np.empty(y.size, dtype=np.int64)
    ranks[np.lexsort((draw_keys(hashes, y, weights), y))] = np.arange(y.size)
    return ranks


def hold_out(ranks: IntArray, share: float) -> BoolArray:
    """Return which rows are held out: a share of the ranks, evenly spread.

    >>> hold_out(np.arange(8), 0.25)
    array([False, False, False,  True, False, False, False,  True])
    """
    return np.asarray(np.floor((ranks + 1) * share) > np.floor(ranks * share))
