"""The way of binned rows through trees, as tables: where each bin of a node's feature goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.bins import Array, DenseBins

_BINS = np.arange(256)


def goes_left(data: BinnedTrainingSet, feature: int, cut: int, missing_left: int) -> Array:
    """Return 1 for each bin of a feature that goes left, else 0."""
    goes = (cut >= _BINS).view(np.uint8)
    if data.cuts.missing[feature]:
        goes[data.offsets[feature + 1] - data.offsets[feature] - 1] = missing_left
    return goes


def walk_tables(data: BinnedTrainingSet, tree: Sequence[Any]) -> tuple[Array, Array, Array]:
    """Return columns of bins, the column that each node asks about and where its bins go.

    Nodes are those of `tree_growth.Node` or `pair_growth.PairNode`. A leaf asks about column -1.
    """
    children = np.zeros((len(tree), 256), dtype=np.uint32)
    for n, node in enumerate(tree):
        if node.left:
            children[n] = node.left + 1 - goes_left(data, *node[:3])
    if isinstance(data.bins, DenseBins):
        return data.bins.columns, np.array([n.feature if n.left else -1 for n in tree]), children
    asked = sorted({node.feature for node in tree if node.left})
    slot_of = {j: slot for slot, j in enumerate(asked)}
    columns = np.empty((len(asked), data.n_rows), dtype=np.uint8)
    for slot, j in enumerate(asked):
        columns[slot] = data.column(j)
    return columns, np.array([slot_of.get(node.feature, -1) for node in tree]), children


@kernel
def count_tree_mistakes(
    columns: Array,
    slots: Array,
    children: Array,
    votes: Array,
    split: int,
    weights: Array,
    mistakes: Array,
    moved: Array,
) -> None:
    """Add a tree's mistakes to those of each row, of which the first ``split`` are of class 0.

    ``moved[c, k]`` gains the weight of the rows of class ``c`` that had ``k`` mistakes before.
    """
    for i in range(np.uint64(mistakes.size)):
        n = np.uint64(0)
        slot = slots[n]
        while slot >= 0:
            n = np.uint64(children[n, columns[np.uint64(slot), i]])
            slot = slots[n]
        c = np.uint64(i >= np.uint64(split))
        if (votes[n] > 0) != (c == 1):
            moved[c, mistakes[i]] += weights[i]
            mistakes[i] += 1


@kernel
def divide_by_votes(
    columns: Array,
    slots: Array,
    children: Array,
    votes: Array,
    split: int,
    rows: Array,
    ends: Array,
) -> None:
    """List the rows of each class: first those that a tree gets right, then the others.

    Class 0 is ``rows[:split]``, and ``rows[ends[c]]`` begins those of class ``c`` that it gets
    wrong.
    """
    one = np.uint64(1)
    for c in range(2):
        front = np.uint64(split if c == 1 else 0)
        back = np.uint64(rows.size if c == 1 else split)
        for i in range(front, back):
            n = np.uint64(0)
            slot = slots[n]
            while slot >= 0:
                n = np.uint64(children[n, columns[np.uint64(slot), i]])
                slot = slots[n]
            right = np.uint64((votes[n] > 0) == (c == 1))
            rows[front] = i  # both are written and one is kept: the loop has no branch
            rows[back - one] = i
            front += right
            back -= one - right
        ends[c] = front


@kernel
def weigh_rows(
    tables: Array, mistakes: Array, sample_weights: Array, split: int, weights: Array, heavy: Array
) -> tuple[int, int]:
    """Write each row's weight by its number of mistakes, and list the rows that have some.

    ``tables[c, k]`` is the weight of a row of class ``c`` with ``k`` mistakes. Return how many rows
    with weight are among the first ``split``, and how many there are. ``heavy`` needs room for one
    row more.
    """
    n_heavy = np.uint64(0)
    n_lower = np.uint64(0)
    for i in range(np.uint64(mistakes.size)):
        c = np.uint64(i >= np.uint64(split))
        weight = tables[c, mistakes[i]] * sample_weights[i]
        weights[i] = weight
        heavy[n_heavy] = i
        n_heavy += np.uint64(weight != 0)
        n_lower += np.uint64(weight != 0 and c == 0)
    return int(n_lower), int(n_heavy)
