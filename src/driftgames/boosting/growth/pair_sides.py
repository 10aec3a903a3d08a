"""The two sides of a question for several classes: for every label two sums, in blocks of lanes.

A side is an array of parts. The first ``n`` parts, ``n`` blocks of labels, hold for each label the
weights of the pairs of other labels, the next ``n`` those of its own, and one more the size, if
leaves have a least size. Labels beyond the last are zero. `class_sides` has the same functions for
two classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels import blocks
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.shape import KEARNS_MANSOUR

LANES = blocks.WIDTH
"""The labels in a block."""


@scalar
def nothing(buffer: Array) -> Array:
    """Return the side of no row; ``buffer`` has room for one."""
    for k in range(buffer.shape[0]):
        for lane in range(LANES):
            buffer[k, lane] = 0
    return buffer


@scalar
def of_node(totals: Array) -> Array:
    """Return a node as a side."""
    return totals


@scalar
def bin_weight(sums: Array, b: int) -> Any:
    """Return the weight of all pairs in a bin; ``sums`` are those of one feature."""
    return blocks.total(sums, sums.shape[0] & ~1, b)  # without the size


@scalar
def take_bin(sums: Array, b: int, buffer: Array) -> Array:
    """Return a bin as a side."""
    for k in range(sums.shape[0]):
        for lane in range(LANES):
            buffer[k, lane] = sums[k, LANES * b + lane]
    return buffer


@scalar
def add_bin(side: Array, sums: Array, b: int) -> Array:
    """Return a side with the rows of a bin added; it is changed."""
    blocks.add_column(side, sums, b)
    return side


@scalar
def plus(a: Array, b: Array, buffer: Array) -> Array:
    """Return the rows of both."""
    blocks.combine(a, b, 1, buffer)
    return buffer


@scalar
def minus(a: Array, b: Array, buffer: Array) -> Array:
    """Return the rows of ``a`` that are not in ``b``."""
    blocks.combine(a, b, -1, buffer)
    return buffer


@scalar
def weight(side: Array) -> Any:
    """Return the weight of all pairs."""
    return blocks.total(side, side.shape[0] & ~1, 0)


@scalar
def size(side: Array) -> Any:
    """Return the size of a side."""
    return side[side.shape[0] - 1, 0]


@scalar
def _edge(side: Array) -> Any:
    value = np.int64(0)
    n_blocks = side.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            value += abs(side[n_blocks + k, lane] - side[k, lane])
    return value


@scalar
def contrast(left: Array, right: Array) -> Any:
    """Return the sum of the edges of all labels, with the best vote for each on either side."""
    return _edge(left) + _edge(right)


@scalar
def steps_against(left: Array, right: Array, direction: int) -> bool:
    """Return False: several classes have no monotonic constraints."""
    return False


@scalar
def score(side: Array, criterion: int) -> float:
    """Return what a side adds to the score of a question."""
    return float(blocks.gini(side, criterion == KEARNS_MANSOUR))


@scalar
def write(side: Array, out: Array) -> None:
    """Write a side as the totals of a node."""
    for k in range(side.shape[0]):
        for lane in range(LANES):
            out[k, lane] = side[k, lane]


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return by how much a question raises the edge of a node."""
    before = np.int64(0)
    after = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            node = totals[n_blocks + k, lane] - totals[k, lane]
            side = left[n_blocks + k, lane] - left[k, lane]
            before += abs(node)
            after += abs(side) + abs(node - side)
    return float(after - before)


@inner_kernel
def separates(left: Array, totals: Array) -> bool:
    """Return whether a label has different shares of its two sums on the sides, exactly."""
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            lower, upper = left[k, lane], left[n_blocks + k, lane]
            if not same_products(lower, totals[n_blocks + k, lane], upper, totals[k, lane]):
                return True
    return False


@inner_kernel
def may_gain(totals: Array, criterion: int) -> bool:
    """Return whether a label has pairs of both kinds."""
    n_blocks = totals.shape[0] // 2
    for k in range(n_blocks):
        for lane in range(LANES):
            if totals[k, lane] > 0 and totals[n_blocks + k, lane] > 0:
                return True
    return False


@inner_kernel
def write_votes(totals: Array, above: Array, out: Array) -> None:
    """Write the votes of a leaf: +1 for a label of more weight; if equal, as the node above."""
    n_blocks = totals.shape[0] // 2
    for label in range(out.size):
        lower, upper = (
            totals[label // LANES, label % LANES],
            totals[n_blocks + label // LANES, label % LANES],
        )
        out[label] = 1 if upper > lower else -1 if upper < lower else above[label]


@inner_kernel
def oppose(left: Array, right: Array, left_votes: Array, right_votes: Array) -> None:
    """Leave the votes as they are: every side of a stump votes for each label by itself."""


@inner_kernel
def leaf_edge(totals: Array, votes: Array) -> Any:
    """Return ``sum_i w_i y_i h(x_i)`` over the pairs of a leaf."""
    value = np.int64(0)
    n_blocks = totals.shape[0] // 2
    for label in range(votes.size):
        k, lane = label // LANES, label % LANES
        value += votes[label] * (totals[n_blocks + k, lane] - totals[k, lane])
    return value


@inner_kernel
def node_weight(totals: Array) -> Any:
    """Return the weight of all pairs of a node."""
    value = np.int64(0)
    for k in range(totals.shape[0] & ~1):
        for lane in range(LANES):
            value += totals[k, lane]
    return value


@inner_kernel
def needs_question() -> bool:
    """Return whether an exhaustive stump without a question has no edge."""
    return False
