"""The two sides of a question for two classes: three integers each, which stay in registers.

A side is (weight of class 0, weight of class 1, size). The size counts only if leaves have a least
size. `pair_sides` has the same functions for several classes; `split_search` and `node_growth` are
compiled with either.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames._kernels.arithmetic import root
from driftgames._kernels.integers import same_products
from driftgames._kernels.jit import inner_kernel, scalar
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.shape import EXHAUSTIVE, KEARNS_MANSOUR

Side = tuple[Any, Any, Any]

LANES = 1
"""The labels in a block: one vote tells both classes."""


@scalar
def nothing(buffer: Array) -> Side:
    """Return the side of no row; ``buffer`` has room for one."""
    return np.int64(0), np.int64(0), np.int64(0)


@scalar
def of_node(totals: Array) -> Side:
    """Return a node as a side."""
    return totals[0, 0], totals[1, 0], (totals[2, 0] if totals.shape[0] > 2 else np.int64(0))


@scalar
def bin_weight(sums: Array, b: int) -> Any:
    """Return the weight of all rows in a bin; ``sums`` are those of one feature."""
    return sums[0, b] + sums[1, b]


@scalar
def take_bin(sums: Array, b: int, buffer: Array) -> Side:
    """Return a bin as a side."""
    return sums[0, b], sums[1, b], (sums[2, b] if sums.shape[0] > 2 else np.int64(0))


@scalar
def add_bin(side: Side, sums: Array, b: int) -> Side:
    """Return a side with the rows of a bin added."""
    size = sums[2, b] if sums.shape[0] > 2 else np.int64(0)
    return side[0] + sums[0, b], side[1] + sums[1, b], side[2] + size


@scalar
def plus(a: Side, b: Side, buffer: Array) -> Side:
    """Return the rows of both."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@scalar
def minus(a: Side, b: Side, buffer: Array) -> Side:
    """Return the rows of ``a`` that are not in ``b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@scalar
def weight(side: Side) -> Any:
    """Return the weight of all rows."""
    return side[0] + side[1]


@scalar
def size(side: Side) -> Any:
    """Return the size of a side."""
    return side[2]


@scalar
def contrast(left: Side, right: Side) -> Any:
    """Return the edge of a stump that votes +1 on the left and -1 on the right."""
    return (left[1] - left[0]) - (right[1] - right[0])


@scalar
def steps_against(left: Side, right: Side, direction: int) -> bool:
    """Return whether the majorities step from left to right against a direction."""
    return bool((left[1] - left[0]) * direction > 0 and (right[1] - right[0]) * direction < 0)


@scalar
def score(side: Side, criterion: int) -> float:
    """Return what a side adds to the score of a question."""
    all_weight = float(side[0] + side[1])
    if all_weight == 0.0:
        return 0.0
    edge = float(side[1] - side[0])
    if criterion == KEARNS_MANSOUR:
        all_weight += 2.0 * root(float(side[0]) * float(side[1]))
    return edge * edge / all_weight


@scalar
def write(side: Side, out: Array) -> None:
    """Write a side as the totals of a node."""
    out[0, 0] = side[0]
    out[1, 0] = side[1]
    if out.shape[0] > 2:
        out[2, 0] = side[2]


@inner_kernel
def exhaustive_gain(left: Array, totals: Array) -> float:
    """Return the edge of the stump with this left side: it counts, whatever the node itself has."""
    return float(abs(2 * (left[1, 0] - left[0, 0]) - (totals[1, 0] - totals[0, 0])))


@inner_kernel
def separates(left: Array, totals: Array) -> bool:
    """Return whether the sides have different shares of the two classes, in exact integers."""
    return not same_products(left[0, 0], totals[1, 0], left[1, 0], totals[0, 0])


@inner_kernel
def may_gain(totals: Array, criterion: int) -> bool:
    """Return whether a question may gain anything in a node."""
    return bool(criterion == EXHAUSTIVE or (totals[0, 0] > 0 and totals[1, 0] > 0))


@inner_kernel
def write_votes(totals: Array, above: Array, out: Array) -> None:
    """Write the vote of a leaf: for the class of more weight; if equal, that of the node above."""
    out[0] = 1 if totals[1, 0] > totals[0, 0] else -1 if totals[1, 0] < totals[0, 0] else above[0]


@inner_kernel
def oppose(left: Array, right: Array, left_votes: Array, right_votes: Array) -> None:
    """Let the sides of an exhaustive stump vote against each other."""
    edge = (left[1, 0] - left[0, 0]) - (right[1, 0] - right[0, 0])
    left_votes[0] = 1 if edge >= 0 else -1
    right_votes[0] = -left_votes[0]


@inner_kernel
def leaf_edge(totals: Array, votes: Array) -> Any:
    """Return ``sum_i w_i y_i h(x_i)`` over the rows of a leaf."""
    return votes[0] * (totals[1, 0] - totals[0, 0])


@inner_kernel
def node_weight(totals: Array) -> Any:
    """Return the weight of all rows of a node."""
    return totals[0, 0] + totals[1, 0]


@inner_kernel
def needs_question() -> bool:
    """Return whether an exhaustive stump without a question has no edge."""
    return True
