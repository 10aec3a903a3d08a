"""A tree while it grows: the arrays that the steps of growing work on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from driftgames.boosting.data.binned_training_set import BinnedTrainingSet
from driftgames.boosting.data.bins import Array, DenseBins, FeatureBins
from driftgames.core.typing import IntArray

N_NODES, N_LEAVES, N_WAITING, N_FREE, ASKED, SLOT, SUMMED = range(7)
"""What ``Growth.at`` holds: four counts, the node that asks, where its column is kept, and whether
the root has its sums before the tree begins."""

BLOCK = 1024
"""Rows that a share takes in turn with the others, so that all get rows of every kind."""

NONE = np.empty(0, dtype=np.int64)
"""Stands for an array that is not needed."""


class BinnedRows(NamedTuple):
    """Binned rows as the loops see them."""

    split: int
    """The number of rows of class 0."""
    sizes: Array
    """What each row adds to the size of a leaf, if leaves have a least size."""
    sample_weights: Array
    bins: FeatureBins
    begins: Array
    """Where the bins of a feature begin if rows hold a code for each, else where a row begins."""
    codes: Array
    columns: Array
    """The bins of some features in every row."""
    slot_of: Array
    """Which column holds a feature, or -1."""
    owners: Array
    """Which feature a column holds, or -1; behind the columns, the number of the oldest."""
    list_starts: Array
    listed: Array
    listed_bins: Array


class Growth(NamedTuple):
    """A tree while it grows, and the rows in its leaves.

    Arrays with one entry for each node: ``questions`` (feature, cut, whether missing values go
    left, left node), ``votes``, ``gains``, ``depths``, ``totals`` (the sums of both classes, the
    size) and ``splits``, the best split as `tree_kernels.best_split` writes it.
    """

    shape: Array
    """The largest depth and number of leaves (-1: no limit), the least leaf, the criterion."""
    at: Array
    questions: Array
    votes: Array
    gains: Array
    depths: Array
    totals: Array
    splits: Array
    waiting: Array
    """The leaves that may be split."""
    fresh: Array
    """The nodes that have sums and no split yet, or -1."""
    goes_left: Array
    """For each bin of the feature asked about: 1 if it goes left, else 0."""
    parts: Array
    """The totals of the root in each share, and how many rows the share has summed."""
    scores: Array
    found: Array
    """The best splits of the fresh nodes among the features of each share, and their scores."""
    mine: Array
    lists: Array
    """For each share the rows of nonzero weight, the rows of weight zero, and scratch."""
    bounds: Array
    """Where the rows of a share and a node begin and end: of each class, then of weight zero."""
    slots: Array
    """Where ``sums`` holds those of a node, for every share."""
    sums: Array
    free: Array
    """The slots that hold nothing."""


def as_examples(data: BinnedTrainingSet, sizes: IntArray) -> BinnedRows:
    """Return binned rows of these sizes as the loops see them."""
    n_features, n_rows, bins = data.implicit.size, data.n_rows, data.bins
    shared = data.split, sizes, data.sample_weights, data.feature_bins
    if isinstance(bins, DenseBins):
        every = np.arange(n_features)
        lists = NONE, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.uint8)
        codes = bins.codes.reshape(-1)
        return BinnedRows(*shared, data.offsets, codes, bins.columns, every, every, *lists)
    # columns take no more memory than the rows themselves, but there is room for one large tree
    n_columns = min(max((bins.codes.nbytes + 2**20) // max(n_rows, 1), 1), n_features)
    return BinnedRows(
        *shared,
        bins.starts,
        bins.codes,
        np.empty((n_columns, n_rows), dtype=np.uint8),
        np.full(n_features, -1),
        np.append(np.full(n_columns, -1), 0),
        bins.list_starts,
        bins.listed,
        bins.listed_bins,
    )


def make_growth(
    data: BinnedTrainingSet, shape: IntArray, n_sums: int, n_shares: int, n_leaves: int
) -> Growth:
    """Return the arrays of trees of so many leaves; `widened` makes larger ones."""
    n_nodes = 2 * n_leaves - 1
    integers = np.int64
    return Growth(
        shape=shape,
        at=np.zeros(7, integers),
        questions=np.zeros((n_nodes, 4), integers),
        votes=np.zeros(n_nodes, integers),
        gains=np.zeros(n_nodes),
        depths=np.zeros(n_nodes, integers),
        totals=np.zeros((n_nodes, 3), integers),
        splits=np.zeros((n_nodes, 6), integers),
        waiting=np.zeros(n_nodes, integers),
        fresh=np.full(2, -1),
        goes_left=np.zeros(256, np.uint8),
        parts=np.zeros((n_shares, 4), integers),
        scores=np.zeros((n_shares, 2)),
        found=np.zeros((n_shares, 2, 6), integers),
        mine=np.zeros((n_shares, 3, 256), integers),
        # every share has room for one row more: see `tree_kernels.collect`
        lists=np.empty((n_shares, 3, data.n_rows // n_shares + 2 * BLOCK + 1), np.uint32),
        bounds=np.zeros((n_shares, n_nodes, 4, 2), integers),
        slots=np.zeros(n_nodes, integers),
        sums=np.empty((n_shares, n_leaves, n_sums, data.n_codes), integers),
        free=np.zeros(n_leaves, integers),
    )


def widened(growth: Growth) -> Growth:
    """Return a copy with room for twice as many leaves."""
    wider = {"at": growth.at.copy()}
    for name in ("questions", "votes", "gains", "depths", "totals", "splits", "waiting", "slots"):
        old = getattr(growth, name)
        wider[name] = np.concatenate([old, old, old[:1]])
    bounds, n_leaves, n_free = growth.bounds, growth.free.size, growth.at[N_FREE]
    wider["bounds"] = np.concatenate([bounds, bounds, bounds[:, :1]], axis=1)
    wider["sums"] = np.concatenate([growth.sums, growth.sums], axis=1)
    wider["free"] = np.concatenate([growth.free, growth.free])
    wider["free"][n_free : n_free + n_leaves] = np.arange(n_leaves, 2 * n_leaves)
    wider["at"][N_FREE] += n_leaves
    return growth._replace(**wider)
