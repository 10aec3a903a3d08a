"""The steps in which a tree grows; one thread takes all of them, several take them together.

`BEGIN` lists the rows of a share and sums the root, which `PLANT` makes a leaf. Then `FIND` looks
for the best question of each new leaf, `CHOOSE` takes the leaf of the largest gain, `DIVIDE`
divides its rows, and so on.

Each share has lists of rows and sums of its own, so that shares never wait for each other within a
step. Of the two sides of a question each share sums the smaller; the other is the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel, specialise
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth import tree_kernels as kernels
from driftgames.boosting.growth.tree_state import (
    ASKED,
    BLOCK,
    N_FREE,
    N_LEAVES,
    N_NODES,
    N_WAITING,
    SLOT,
    SUMMED,
    BinnedRows,
    Growth,
)

BEGIN, PLANT, FIND, CHOOSE, DIVIDE, ASK, FOLLOW, DONE, FULL = range(9)
"""The steps; after `DONE` the tree is grown, and at `FULL` the arrays must be made larger."""

SHARED = (BEGIN, FIND, DIVIDE, FOLLOW)
"""The steps that every share takes."""


add_rows: Callable[..., None] = NotImplemented  # names for `specialise` to bind
sum_node: Callable[..., None] = NotImplemented


def _take_steps(
    step: int,
    alone: bool,
    p: int,
    examples: BinnedRows,
    growth: Growth,
    weights: Array,
    tables: Array,
    mistakes: Array,
) -> int:
    """Take a step for share ``p`` and return the next one; if ``alone``, go on to the end.

    All steps are one kernel, and the long loops are called from here: a function is compiled
    again within every function that calls it.
    """
    root: Any = np.int64(0)  # a literal 0 has a type of its own: functions compile for it apart
    n_features, n_shares = examples.bins.implicit.size, growth.parts.shape[0]
    while step < DONE:
        if step == BEGIN:
            _begin(p, examples, growth, weights, tables, mistakes)
            if growth.at[SUMMED] == 0:
                sum_node(p, root, root, examples, growth, weights)
            step = PLANT
        elif step == PLANT:
            _plant(growth)
            step = FIND
        elif step == FIND:
            for k in range(2):
                node = growth.fresh[k]
                if node >= 0:
                    growth.scores[p, k] = kernels.best_split(
                        growth.sums,
                        growth.slots[node],
                        growth.totals[node],
                        examples.bins,
                        n_features * p // n_shares,  # the features of this share
                        n_features * (p + 1) // n_shares,
                        growth.shape[2],
                        growth.shape[3],
                        growth.mine[p],
                        growth.found[p, k],
                    )
            step = CHOOSE
        elif step == CHOOSE:
            step = _choose(examples, growth)
        elif step == ASK:
            _ask(examples, growth)
            step = DIVIDE
        elif step == DIVIDE:
            _divide(p, examples, growth)
            if growth.fresh[0] >= 0 or growth.fresh[1] >= 0:
                left = growth.questions[growth.at[ASKED], 3]
                smaller = left + (
                    _n_rows(growth.bounds[p], left) > _n_rows(growth.bounds[p], left + 1)
                )
                sum_node(p, smaller, growth.slots[left], examples, growth, weights)
                if smaller > left or growth.fresh[1] >= 0:
                    _subtract(
                        growth.sums[p], growth.slots[left], growth.slots[left + 1], smaller == left
                    )
            step = FIND
        else:
            _divide(p, examples, growth)
            step = DONE
        if not alone:
            break
    return step


@inner_kernel
def _begin(
    p: int, examples: BinnedRows, growth: Growth, weights: Array, tables: Array, mistakes: Array
) -> None:
    """List the rows of a share.

    If ``tables`` has a size, row ``i`` of class ``c`` weighs ``tables[c, mistakes[i]]`` times its
    sample weight, and that is written to ``weights``.
    """
    n_shares = growth.parts.shape[0]
    heavy, light = growth.lists[p, 0], growth.lists[p, 1]
    none: Any = np.int64(0)
    n_heavy = none
    n_light = none
    for c in range(2):
        bounds = growth.bounds[p, 0]
        bounds[c, 0] = n_heavy
        bounds[c + 2, 0] = n_light
        first = examples.split if c == 1 else 0
        end = weights.size if c == 1 else examples.split
        total = none
        for start in range(first + p * BLOCK, end, n_shares * BLOCK):
            stop = start + BLOCK if start + BLOCK < end else end
            if tables.size > 0:
                table = tables[c]
                for i in range(np.uint64(start), np.uint64(stop)):
                    weights[i] = table[np.uint64(mistakes[i])] * examples.sample_weights[i]
            n_heavy, n_light, added = kernels.collect(
                weights, start, stop, heavy, light, n_heavy, n_light
            )
            total += added
        bounds[c, 1] = n_heavy
        bounds[c + 2, 1] = n_light
        growth.parts[p, c] = total
    growth.parts[p, 2] = 0
    if examples.sizes.size > 0:
        for q in range(n_heavy):
            growth.parts[p, 2] += examples.sizes[np.uint64(heavy[q])]
    growth.parts[p, 3] = 0


@inner_kernel
def _plant(growth: Growth) -> None:
    """Make the root a leaf."""
    root: Any = np.int64(0)
    downward: Any = np.int64(-1)
    for c in range(3):
        growth.totals[0, c] = 0
        for p in range(growth.parts.shape[0]):
            growth.totals[0, c] += growth.parts[p, c]
    growth.depths[0] = 0
    growth.votes[0] = _vote(growth.totals[0], downward)
    growth.questions[0, 3] = 0
    growth.at[N_NODES] = 1
    growth.at[N_LEAVES] = 1
    growth.at[N_WAITING] = 0
    growth.at[N_FREE] = growth.free.size - 1
    for s in range(growth.at[N_FREE]):
        growth.free[s] = s + 1
    growth.slots[0] = 0
    growth.fresh[0] = 0 if _may_split(growth.shape, root, growth.totals[0]) else -1
    growth.fresh[1] = -1


@inner_kernel
def _choose(examples: BinnedRows, growth: Growth) -> int:
    """Choose the next leaf to be split and make its two sides."""
    at = growth.at
    for k in range(2):
        node = growth.fresh[k]
        if node >= 0:
            growth.gains[node] = _gain(
                growth.scores[:, k],
                growth.found[:, k],
                growth.totals[node],
                growth.shape[3],
                growth.splits[node],
            )
        if node >= 0 and growth.gains[node] > 0.0:
            growth.waiting[at[N_WAITING]] = node
            at[N_WAITING] += 1
        elif node >= 0:
            _give_back(growth, node)
        growth.fresh[k] = -1
    most = growth.shape[1]
    if at[N_WAITING] == 0 or at[N_LEAVES] == most:
        return DONE
    if at[N_NODES] + 2 > growth.votes.size or at[N_FREE] == 0:
        return FULL
    first = 0  # the leaf of the largest gain; of equal gains, the lowest node
    for k in range(1, at[N_WAITING]):
        a, b = growth.waiting[k], growth.waiting[first]
        if growth.gains[a] > growth.gains[b] or (growth.gains[a] == growth.gains[b] and a < b):
            first = k
    node = growth.waiting[first]
    at[N_WAITING] -= 1
    growth.waiting[first] = growth.waiting[at[N_WAITING]]
    left = at[N_NODES]
    at[N_NODES] += 2
    at[N_LEAVES] += 1
    split = growth.splits[node]
    for k in range(3):
        growth.questions[node, k] = split[k]
        growth.totals[left, k] = split[3 + k]
        growth.totals[left + 1, k] = growth.totals[node, k] - split[3 + k]
    growth.questions[node, 3] = left
    depth = growth.depths[node] + 1
    for k in range(2):
        growth.depths[left + k] = depth
        growth.votes[left + k] = _vote(growth.totals[left + k], growth.votes[node])
        growth.questions[left + k, 3] = 0
    fixed = _constrain(examples, growth, node)
    for k in range(2):
        splits = left + k != fixed and _may_split(growth.shape, depth, growth.totals[left + k])
        if at[N_LEAVES] != most and splits:
            growth.fresh[k] = left + k  # others need no sums
    at[N_FREE] -= 1
    growth.slots[left] = growth.free[at[N_FREE]]
    growth.slots[left + 1] = growth.slots[node]  # it takes the place of the node
    for k in range(2):
        if growth.fresh[k] < 0:
            _give_back(growth, left + k)  # it is written to once more before another leaf has it
    at[ASKED] = node
    return ASK


@inner_kernel
def _constrain(examples: BinnedRows, growth: Growth, node: int) -> Any:
    """Fix the vote of one side of a monotonic question; return that side, or -1.

    Either all leaves of the lower side vote -1, or all of the upper side +1: no vote steps the
    other way. The side that would err less is fixed. A question whether a value is missing is free.
    """
    feature, cut = growth.questions[node, 0], growth.questions[node, 1]
    left = growth.questions[node, 3]
    direction = examples.bins.monotonic[feature]
    n_bins = examples.bins.offsets[feature + 1] - examples.bins.offsets[feature]
    if direction == 0 or cut == n_bins - examples.bins.missing[feature] - 1:
        return -1
    lower = left if direction > 0 else left + 1
    upper = left + 1 if direction > 0 else left
    low, high = growth.totals[lower], growth.totals[upper]
    if low[1] <= low[0] and (high[1] < high[0] or low[1] <= high[0]):
        growth.votes[lower] = -1
        return lower
    growth.votes[upper] = 1
    return upper


@inner_kernel
def _ask(examples: BinnedRows, growth: Growth) -> None:
    """Look up which rows the question of the node asked sends left."""
    node = growth.at[ASKED]
    feature, cut = growth.questions[node, 0], growth.questions[node, 1]
    growth.at[SLOT] = _column_of(examples, feature)
    for b in range(256):
        growth.goes_left[b] = b <= cut
    if examples.bins.missing[feature]:
        last = examples.bins.offsets[feature + 1] - examples.bins.offsets[feature] - 1
        growth.goes_left[last] = growth.questions[node, 2]


@inner_kernel
def _divide(p: int, examples: BinnedRows, growth: Growth) -> None:
    """Divide the rows of a share by the question of the node asked."""
    node = growth.at[ASKED]
    left = growth.questions[node, 3]
    column = examples.columns[growth.at[SLOT]]
    scratch = growth.lists[p, 2]
    for g in range(4):
        first, end = growth.bounds[p, node, g, 0], growth.bounds[p, node, g, 1]
        middle = first + kernels.divide(
            growth.lists[p, g // 2, first:end], column, growth.goes_left, scratch
        )
        growth.bounds[p, left, g, 0] = first
        growth.bounds[p, left, g, 1] = middle
        growth.bounds[p, left + 1, g, 0] = middle
        growth.bounds[p, left + 1, g, 1] = end


@inner_kernel
def _subtract(sums: Array, taken: int, held: int, of_left: bool) -> None:
    """Write the sums of the left side to ``taken``, and those of the right to ``held``.

    ``taken`` has those of one side, of the left one if ``of_left``, and ``held`` those of the node.
    """
    for c in range(sums.shape[1]):
        for b in range(sums.shape[2]):
            other = sums[held, c, b] - sums[taken, c, b]
            if of_left:
                sums[held, c, b] = other
            else:
                sums[held, c, b] = sums[taken, c, b]
                sums[taken, c, b] = other


@kernel
def write_votes(questions: Array, votes: Array, bounds: Array, lists: Array, out: Array) -> None:
    """Write the tree's vote on each row of a share: 1 for +1 and 0 for -1."""
    for node in range(votes.size):
        if questions[node, 3] == 0:
            for g in range(4):
                for q in range(bounds[node, g, 0], bounds[node, g, 1]):
                    out[np.uint64(lists[g // 2, q])] = votes[node] > 0


@kernel
def count_mistakes(
    questions: Array,
    votes: Array,
    bounds: Array,
    lists: Array,
    sample_weights: Array,
    mistakes: Array,
    moved: Array,
) -> None:
    """Count the mistakes of the tree on the rows of a share.

    ``moved[c, k]`` becomes the mass of class ``c`` that had ``k`` mistakes and made another one.
    """
    for k in range(moved.shape[1]):
        moved[0, k] = 0
        moved[1, k] = 0
    for node in range(votes.size):
        if questions[node, 3] == 0:
            c = 0 if votes[node] > 0 else 1  # the class that errs
            for g in (c, c + 2):
                for q in range(bounds[node, g, 0], bounds[node, g, 1]):
                    i = np.uint64(lists[g // 2, q])
                    moved[c, np.uint64(mistakes[i])] += sample_weights[i]
                    mistakes[i] += 1


def _sum_node(
    p: int, node: int, slot: int, examples: BinnedRows, growth: Growth, weights: Array
) -> None:
    """Write the sums of a share and a node to a slot."""
    sums = growth.sums[p, slot]
    for c in range(sums.shape[0]):
        for b in range(sums.shape[1]):
            sums[c, b] = 0
    growth.parts[p, 3] += _n_rows(growth.bounds[p], node)
    for c in range(2):
        rows = growth.lists[p, 0, growth.bounds[p, node, c, 0] : growth.bounds[p, node, c, 1]]
        add_rows(rows, weights, examples.codes, examples.begins, sums[c])
        if sums.shape[0] == 3:
            add_rows(rows, examples.sizes, examples.codes, examples.begins, sums[2])


@inner_kernel
def _column_of(examples: BinnedRows, feature: int) -> Any:
    """Return the column that holds a feature; if none does, the oldest is written over."""
    slot = examples.slot_of[feature]
    if slot >= 0:
        return slot
    n_slots = examples.columns.shape[0]
    slot = examples.owners[n_slots]
    examples.owners[n_slots] = (slot + 1) % n_slots
    if examples.owners[slot] >= 0:
        examples.slot_of[examples.owners[slot]] = -1
    examples.owners[slot] = feature
    examples.slot_of[feature] = slot
    column = examples.columns[slot]
    for i in range(column.size):
        column[i] = examples.bins.implicit[feature]
    for e in range(examples.list_starts[feature], examples.list_starts[feature + 1]):
        column[np.uint64(examples.listed[e])] = examples.listed_bins[e]
    return slot


@inner_kernel
def _may_split(shape: Array, depth: int, totals: Array) -> bool:
    """Return whether a node may be split if a question is found."""
    shallow = shape[0] < 0 or depth < shape[0]
    enough = shape[2] == 1 or totals[2] >= 2 * shape[2]
    return bool(shallow and totals[0] > 0 and totals[1] > 0 and enough)


@inner_kernel
def _vote(totals: Array, vote_above: int) -> int:
    """Return the vote of a leaf: that of more weight; of equal weights, that of the node above."""
    return 1 if totals[1] > totals[0] else -1 if totals[1] < totals[0] else vote_above


@inner_kernel
def _gain(scores: Array, found: Array, totals: Array, criterion: int, split: Array) -> float:
    """Write the best of the splits found by the shares to ``split`` and return its gain."""
    best = -1.0
    for p in range(scores.size):  # the features of the first share come first
        if scores[p] > best:
            best = scores[p]
            for k in range(split.size):
                split[k] = found[p, k]
    # equal shares on both sides are no gain, whatever rounding says
    if best < 0.0 or kernels.same_shares(split[3], split[4], totals[0], totals[1]):
        return 0.0
    return best - kernels.node_score(totals[0], totals[1], criterion)


@inner_kernel
def _n_rows(bounds: Array, node: int) -> Any:
    """Return the number of rows of nonzero weight, of both classes."""
    return bounds[node, 0, 1] - bounds[node, 0, 0] + bounds[node, 1, 1] - bounds[node, 1, 0]


@inner_kernel
def _give_back(growth: Growth, node: int) -> None:
    """Make the slot of a node free: the next leaf takes it while it is in the cache."""
    growth.free[growth.at[N_FREE]] = growth.slots[node]
    growth.at[N_FREE] += 1


def _compile(add: Callable[..., None]) -> Callable[..., int]:
    summing = specialise(_sum_node, inner_kernel, add_rows=add)
    return specialise(_take_steps, kernel, sum_node=summing)


take_dense_steps = _compile(kernels.sum_dense)
"""`_take_steps` for rows that hold a code for every feature."""

take_sparse_steps = _compile(kernels.sum_sparse)
"""The same for rows that list codes."""
