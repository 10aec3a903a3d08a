"""The steps in which a tree grows; one thread takes all of them, several take them together.

`begin` lists the rows of a share and sums the root. Then `find` looks for the best question of each
new leaf, `choose` takes the leaf of the largest gain, and `divide` divides its rows. `grow`
does all of this in one call where there is one share of the rows.

Each share has lists of rows and sums of its own, so that shares never wait for each other within a
step. Of the two sides of a question each share sums the smaller; the other is the difference.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel
from driftgames.boosting import tree_kernels as kernels
from driftgames.boosting.bins import Array
from driftgames.boosting.tree_state import (
    ASKED,
    BLOCK,
    N_LEAVES,
    N_NODES,
    N_WAITING,
    SLOT,
    Examples,
    Growth,
)

DONE, DIVIDE, FULL = 0, 1, 2
"""What `choose` says: the tree is grown, a leaf must be divided, or the arrays are too small."""


@kernel
def begin(
    p: int, examples: Examples, growth: Growth, weights: Array, table: Array, mistakes: Array
) -> None:
    """List the rows of a share and sum those that have weight.

    If ``table`` has a size, row ``i`` weighs ``table[mistakes[i]]`` times its sample weight, and
    that is written to ``weights``.
    """
    n_shares = growth.parts.shape[0]
    heavy, light = growth.lists[p, 0], growth.lists[p, 1]
    n_heavy = 0
    n_light = 0
    for c in range(2):
        bounds = growth.bounds[p, 0]
        bounds[c, 0] = n_heavy
        bounds[c + 2, 0] = n_light
        first = examples.split if c == 1 else 0
        end = weights.size if c == 1 else examples.split
        total = 0
        for start in range(first + p * BLOCK, end, n_shares * BLOCK):
            stop = min(start + BLOCK, end)
            if table.size > 0:
                for i in range(np.uint64(start), np.uint64(stop)):
                    weights[i] = table[np.uint64(mistakes[i])] * examples.sample_weights[i]
            n_heavy, n_light, added = kernels.collect(
                weights, start, stop, heavy, light, n_heavy, n_light
            )
            total += added
        bounds[c, 1] = n_heavy
        bounds[c + 2, 1] = n_light
        growth.parts[p, c] = total
    growth.parts[p, 2] = n_heavy
    growth.parts[p, 3] = 0
    growth.n_free[p] = growth.sums.shape[1] - 1
    for s in range(growth.n_free[p]):
        growth.free[p, s] = s + 1
    growth.slots[p, 0] = 0
    _sum(p, 0, 0, examples, growth, weights)


@kernel
def plant(growth: Growth) -> None:
    """Make the root a leaf."""
    for c in range(3):
        growth.totals[0, c] = 0
        for p in range(growth.parts.shape[0]):
            growth.totals[0, c] += growth.parts[p, c]
    growth.depths[0] = 0
    growth.at[N_NODES] = 1
    growth.at[N_LEAVES] = 1
    growth.at[N_WAITING] = 0
    growth.fresh[0] = 0 if _make_leaf(growth, 0, -1) else -1
    growth.fresh[1] = -1


@kernel
def find(p: int, examples: Examples, growth: Growth) -> None:
    """Find the best questions of the fresh nodes about the features of a share."""
    n_shares = growth.parts.shape[0]
    n_features = examples.implicit.size
    for k in range(2):
        node = growth.fresh[k]
        if node >= 0:
            growth.scores[p, k] = kernels.best_split(
                growth.sums,
                growth.slots[:, node],
                growth.totals[node],
                examples.offsets,
                examples.implicit,
                examples.missing,
                n_features * p // n_shares,
                n_features * (p + 1) // n_shares,
                growth.shape[2],
                growth.shape[3],
                growth.mine[p],
                growth.found[p, k],
            )


@kernel
def choose(examples: Examples, growth: Growth) -> int:
    """Choose the next leaf to be split, make its two sides and get ready to divide its rows."""
    at = growth.at
    for k in range(2):
        node = growth.fresh[k]
        if node >= 0 and _settle(growth, node, k):
            _push(growth, node)
        elif node >= 0:
            _release(growth, node)
        growth.fresh[k] = -1
    most = growth.shape[1]
    if at[N_WAITING] == 0 or at[N_LEAVES] == most:
        return DONE
    if at[N_NODES] + 2 > growth.votes.size or growth.n_free[0] == 0:
        return FULL
    node = _pop(growth)
    left = at[N_NODES]
    at[N_NODES] += 2
    at[N_LEAVES] += 1
    split = growth.splits[node]
    for k in range(3):
        growth.questions[node, k] = split[k]
        growth.totals[left, k] = split[3 + k]
        growth.totals[left + 1, k] = growth.totals[node, k] - split[3 + k]
    growth.questions[node, 3] = left
    for k in range(2):
        growth.depths[left + k] = growth.depths[node] + 1
        may_split = _make_leaf(growth, left + k, growth.votes[node])
        if may_split and at[N_LEAVES] != most:  # the last leaves need no sums
            growth.fresh[k] = left + k
    ask(examples, growth, node)
    return DIVIDE


@kernel
def ask(examples: Examples, growth: Growth, node: int) -> None:
    """Look up which rows the question of a node sends left."""
    feature, cut, missing_left = growth.questions[node, :3]
    growth.at[ASKED] = node
    growth.at[SLOT] = _column(examples, feature)
    for b in range(256):
        growth.goes_left[b] = b <= cut
    if examples.missing[feature]:
        last = examples.offsets[feature + 1] - examples.offsets[feature] - 1
        growth.goes_left[last] = missing_left


@kernel
def divide_rows(p: int, examples: Examples, growth: Growth) -> None:
    """Divide the rows of a share as the node says that asks."""
    node = growth.at[ASKED]
    left = growth.questions[node, 3]
    column = examples.columns[growth.at[SLOT]]
    scratch = growth.lists[p, 2]
    for g in range(4):
        first, end = growth.bounds[p, node, g]
        middle = first + kernels.divide(
            growth.lists[p, g // 2, first:end], column, growth.goes_left, scratch
        )
        growth.bounds[p, left, g, 0] = first
        growth.bounds[p, left, g, 1] = middle
        growth.bounds[p, left + 1, g, 0] = middle
        growth.bounds[p, left + 1, g, 1] = end


@kernel
def divide(p: int, examples: Examples, growth: Growth, weights: Array) -> None:
    """Divide the rows of a share, and sum the sides that are fresh."""
    divide_rows(p, examples, growth)
    node = growth.at[ASKED]
    left = growth.questions[node, 3]
    slot = growth.slots[p, node]
    if growth.fresh[0] < 0 and growth.fresh[1] < 0:
        _give_back(growth, p, slot)
        return
    smaller = 0 if _n_rows(growth, p, left) <= _n_rows(growth, p, left + 1) else 1
    taken = _take(growth, p)
    _sum(p, left + smaller, taken, examples, growth, weights)
    if growth.fresh[1 - smaller] >= 0:
        growth.sums[p, slot] -= growth.sums[p, taken]
        growth.slots[p, left + 1 - smaller] = slot
    else:
        _give_back(growth, p, slot)
    if growth.fresh[smaller] >= 0:
        growth.slots[p, left + smaller] = taken
    else:
        _give_back(growth, p, taken)


@kernel
def grow(examples: Examples, growth: Growth, weights: Array) -> int:
    """Take all steps from the root on where there is one share; return DONE or FULL."""
    while True:
        find(0, examples, growth)
        answer = choose(examples, growth)
        if answer != DIVIDE:
            return answer
        divide(0, examples, growth, weights)


@kernel
def write_votes(p: int, growth: Growth, votes: Array) -> None:
    """Write the tree's vote on each row of a share: 1 for +1 and 0 for -1."""
    for node in range(growth.at[N_NODES]):
        if growth.questions[node, 3] == 0:
            for g in range(4):
                first, end = growth.bounds[p, node, g]
                for i in growth.lists[p, g // 2, first:end]:
                    votes[np.uint64(i)] = growth.votes[node] > 0


@kernel
def count_mistakes(
    p: int, growth: Growth, sample_weights: Array, mistakes: Array, moved: Array
) -> None:
    """Count the mistakes of the tree on the rows of a share.

    ``moved[c, k]`` becomes the mass of class ``c`` that had ``k`` mistakes and made another one.
    """
    moved[:] = 0
    for node in range(growth.at[N_NODES]):
        if growth.questions[node, 3] == 0:
            c = 0 if growth.votes[node] > 0 else 1  # the class that errs
            for g in (c, c + 2):
                first, end = growth.bounds[p, node, g]
                for each in growth.lists[p, g // 2, first:end]:
                    i = np.uint64(each)
                    moved[c, np.uint64(mistakes[i])] += sample_weights[i]
                    mistakes[i] += 1


@inner_kernel
def _sum(p: int, node: int, slot: int, examples: Examples, growth: Growth, weights: Array) -> None:
    """Write the sums of a share and a node to a slot."""
    sums = growth.sums[p, slot]
    sums[:] = 0
    counts = sums[2] if sums.shape[0] == 3 else sums[0, :0]
    growth.parts[p, 3] += _n_rows(growth, p, node)
    for c in range(2):
        first, end = growth.bounds[p, node, c]
        rows = growth.lists[p, 0, first:end]
        if examples.width > 0:
            kernels.sum_dense(rows, weights, examples.codes, examples.offsets, sums[c], counts)
        else:
            kernels.sum_sparse(rows, weights, examples.starts, examples.codes, sums[c], counts)


@inner_kernel
def _column(examples: Examples, feature: int) -> int:
    """Return the column that holds a feature; if none does, the oldest is written over."""
    slot = examples.slot_of[feature]
    if slot >= 0:
        return int(slot)
    n_slots = examples.columns.shape[0]
    slot = examples.owners[n_slots]
    examples.owners[n_slots] = (slot + 1) % n_slots
    if examples.owners[slot] >= 0:
        examples.slot_of[examples.owners[slot]] = -1
    examples.owners[slot] = feature
    examples.slot_of[feature] = slot
    column = examples.columns[slot]
    column[:] = examples.implicit[feature]
    for e in range(examples.list_starts[feature], examples.list_starts[feature + 1]):
        column[np.uint64(examples.listed[e])] = examples.listed_bins[e]
    return int(slot)


@inner_kernel
def _make_leaf(growth: Growth, node: int, vote_above: int) -> bool:
    """Make a node a leaf with a vote, and return whether it may be split."""
    lower, upper, count = growth.totals[node]
    growth.votes[node] = 1 if upper > lower else -1 if upper < lower else vote_above
    growth.questions[node, 3] = 0
    growth.gains[node] = 0.0
    depth, least = growth.shape[0], growth.shape[2]
    shallow = depth < 0 or growth.depths[node] < depth
    return bool(shallow and lower > 0 and upper > 0 and (least == 1 or count >= 2 * least))


@inner_kernel
def _settle(growth: Growth, node: int, k: int) -> bool:
    """Write the best split of a fresh node and its gain; return whether it gains."""
    best = -1.0
    split = growth.splits[node]
    for p in range(growth.parts.shape[0]):  # the features of the first share come first
        if growth.scores[p, k] > best:
            best = growth.scores[p, k]
            split[:] = growth.found[p, k]
    if best < 0.0:
        return False
    lower, upper = growth.totals[node, 0], growth.totals[node, 1]
    # equal shares on both sides are no gain, whatever rounding says
    if kernels.same_shares(split[3], split[4], lower, upper):
        return False
    growth.gains[node] = best - kernels.node_score(lower, upper, growth.shape[3])
    return bool(growth.gains[node] > 0.0)


@inner_kernel
def _n_rows(growth: Growth, p: int, node: int) -> int:
    bounds = growth.bounds[p, node]
    return int(bounds[0, 1] - bounds[0, 0] + bounds[1, 1] - bounds[1, 0])


@inner_kernel
def _take(growth: Growth, p: int) -> int:
    """Return a free slot of a share."""
    growth.n_free[p] -= 1
    return int(growth.free[p, growth.n_free[p]])


@inner_kernel
def _give_back(growth: Growth, p: int, slot: int) -> None:
    """Make a slot of a share free."""
    growth.free[p, growth.n_free[p]] = slot
    growth.n_free[p] += 1


@inner_kernel
def _release(growth: Growth, node: int) -> None:
    """Make the slots of a node free."""
    for p in range(growth.slots.shape[0]):
        _give_back(growth, p, growth.slots[p, node])


@inner_kernel
def _before(growth: Growth, a: int, b: int) -> bool:
    """Return whether leaf ``a`` is split before leaf ``b``."""
    gains = growth.gains
    return bool(gains[a] > gains[b] or (gains[a] == gains[b] and a < b))


@inner_kernel
def _push(growth: Growth, node: int) -> None:
    """Add a leaf to the heap."""
    heap = growth.waiting
    k = growth.at[N_WAITING]
    growth.at[N_WAITING] += 1
    while k > 0 and _before(growth, node, heap[(k - 1) // 2]):
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = node


@inner_kernel
def _pop(growth: Growth) -> int:
    """Take the first leaf from the heap."""
    heap = growth.waiting
    first = heap[0]
    growth.at[N_WAITING] -= 1
    n_waiting = growth.at[N_WAITING]
    last = heap[n_waiting]
    k = 0
    while 2 * k + 1 < n_waiting:
        below = 2 * k + 1
        if below + 1 < n_waiting and _before(growth, heap[below + 1], heap[below]):
            below += 1
        if not _before(growth, heap[below], last):
            break
        heap[k] = heap[below]
        k = below
    heap[k] = last
    return int(first)
