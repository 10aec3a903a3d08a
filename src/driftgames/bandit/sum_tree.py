"""A sum tree: weights in the leaves, in every node the sum of its two children.

``tree[1]`` is the root, node ``k`` has the children ``2k`` and ``2k + 1``, and the leaves are
the second half of the array; leaves without a chip weigh 0. A draw and a change of one weight
both walk one path. A node is always recomputed from its children. So rounding errors do not add
up, and a tree that is built anew has the same bits.
"""

from __future__ import annotations

from driftgames._kernels.jit import kernel, scalar
from driftgames.core.typing import FloatArray


def capacity(n_chips: int) -> int:
    """Return the number of leaves for this many chips: the next power of two.

    >>> [capacity(n) for n in (1, 2, 3, 10)]
    [1, 2, 4, 16]
    """
    return 1 << (n_chips - 1).bit_length()


@kernel
def sum_up(tree: FloatArray) -> None:
    """Recompute all inner nodes from the leaves."""
    for node in range((tree.size >> 1) - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@scalar
def set_leaf(tree: FloatArray, chip: int, weight: float) -> None:
    """Give one chip another weight, in O(log n)."""
    node = (tree.size >> 1) + chip
    tree[node] = weight
    while node > 1:
        weight = weight + tree[node ^ 1]
        node >>= 1
        tree[node] = weight


@scalar
def find(tree: FloatArray, uniform: float) -> int:
    """Return the chip that a uniform number in [0, 1) draws, in O(log n).

    A chip without weight is never drawn, whatever rounding does on the way down.
    """
    leaves = tree.size >> 1
    rest = uniform * tree[1]
    node = 1
    while node < leaves:
        node *= 2
        left = tree[node]
        # a draw is unpredictable, and so would be a branch on it
        right = (rest >= left) & (tree[node + 1] > 0.0)
        rest -= left if right else 0.0
        node += right
    return node - leaves
