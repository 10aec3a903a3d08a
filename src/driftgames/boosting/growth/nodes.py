r"""A tree while it grows: its nodes, without the rows in them.

The leaf of the largest gain is divided first; of equal gains, the leaf that was made first. The
gain of a question is the score of its two sides less that of the node itself. A leaf votes for the
class of more weight. A tied leaf votes like the node above it, and a tied root votes -1.

`choose` says which leaves are divided next. Whoever has the rows divides them and writes the sums
of the sides: threads of this process (`rounds`), or shares of the examples elsewhere
(`shared_training_set`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from driftgames._kernels.jit import inner_kernel, specialise
from driftgames._kernels.structs import Struct
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.growth.shape import EXHAUSTIVE
from driftgames.boosting.growth.split_search import MOST_BINS, compile_search

N_NODES, N_LEAVES, N_WAITING, N_FREE, N_FRESH, N_ASKED = range(6)
"""The counts that ``Nodes.at`` holds."""

DEPTH, LEAVES, LEAST, CRITERION = range(4)
"""What ``Nodes.shape`` holds; see `TreeShape.numbers`."""

GROWN, ASKS, FULL = range(3)
"""What `choose` returns: the tree is grown, leaves are to be divided, or arrays are too small."""


N_ROUNDS, STATUS, STEP, GROWING, LISTED, WEIGHS, MOVES, N_STORED, N_NUMBERS = range(9)
"""What ``at`` of a keeper of positions holds: the rounds played; how the call ends; the last answer
of `choose`; whether a tree is growing; whether rows are listed; how rows are weighed; whether they
move; the number of nodes of all trees; and the number of these numbers."""

WHOLE, REAL, GIVEN = range(3)
"""How rows are weighed: by integers or by floats of their levels, or as Python code has done it."""


@dataclass(frozen=True, eq=False)
class Nodes(Struct):
    """The nodes of a growing tree. Arrays have one entry for each node if nothing else is said."""

    shape: Array
    at: Array
    questions: Array
    """Feature, cut, whether missing values go left, and the left node, 0 for a leaf."""
    votes: Array
    gains: Array
    depths: Array
    totals: Array
    lefts: Array
    """The totals of the left side of the best question."""
    waiting: Array
    """The leaves that may be divided, in no order."""
    fresh: Array
    """The leaves that have sums and no question yet."""
    asked: Array
    """The leaves that are divided next; their sides have nodes already."""
    found: Array
    found_lefts: Array
    scores: Array
    """The best questions of the fresh leaves among the features of each share."""
    of_feature: Array
    running: Array
    cut_scores: Array
    cut_edges: Array
    """Scratch buffers of the search, for each share: see `split_search`."""
    slots: Array
    """Where ``sums`` holds those of a node, for every share."""
    sums: Array
    free: Array
    """The slots that hold nothing."""


def make_nodes(
    shape: tuple[int, ...],
    n_parts: int,
    n_labels: int,
    lanes: int,
    n_codes: int,
    n_shares: int,
    n_leaves: int,
) -> Nodes:
    """Return the arrays of trees of up to ``n_leaves`` leaves; `widen` makes larger ones."""
    n, integers = 2 * n_leaves - 1, np.int64
    side = n_parts, lanes
    return Nodes(
        shape=np.array(shape, integers),
        at=np.zeros(6, integers),
        questions=np.zeros((n, 4), integers),
        votes=np.zeros((n, n_labels), integers),
        gains=np.zeros(n),
        depths=np.zeros(n, integers),
        totals=np.zeros((n, *side), integers),
        lefts=np.zeros((n, *side), integers),
        waiting=np.zeros(n, integers),
        fresh=np.zeros(n, integers),
        asked=np.zeros(n, integers),
        found=np.zeros((n_shares, n, 3), integers),
        found_lefts=np.zeros((n_shares, n, *side), integers),
        scores=np.zeros((n_shares, n)),
        of_feature=np.zeros((n_shares, n_parts, MOST_BINS * lanes), integers),
        running=np.zeros((n_shares, n_parts, MOST_BINS * lanes), integers),
        cut_scores=np.zeros((n_shares, 2, MOST_BINS)),
        cut_edges=np.zeros((n_shares, 2, MOST_BINS), integers),
        slots=np.zeros(n, integers),
        sums=np.empty((n_shares, n_leaves, n_parts, n_codes * lanes), integers),
        free=np.zeros(n_leaves, integers),
    )


def widen(nodes: Nodes) -> Nodes:
    """Return a copy with room for twice as many leaves."""
    n_leaves, n_free = nodes.free.size, int(nodes.at[N_FREE])
    wider: dict[str, Any] = {"at": nodes.at.copy()}
    for name in [
        "questions",
        "votes",
        "gains",
        "depths",
        "totals",
        "lefts",
        "waiting",
        "fresh",
        "asked",
        "slots",
    ]:
        old = getattr(nodes, name)
        wider[name] = np.concatenate([old, old, old[:1]])
    for name in ("found", "found_lefts", "scores"):
        old = getattr(nodes, name)
        wider[name] = np.concatenate([old, old, old[:, :1]], axis=1)
    wider["sums"] = np.concatenate([nodes.sums, nodes.sums], axis=1)
    wider["free"] = np.concatenate([nodes.free, nodes.free])
    wider["free"][n_free : n_free + n_leaves] = np.arange(n_leaves, 2 * n_leaves)
    wider["at"][N_FREE] += n_leaves
    return replace(nodes, **wider)


find_split: Callable[..., Any] = NotImplemented  # names for `specialise` to bind
LANES: int = NotImplemented
of_node: Callable[..., Any] = NotImplemented
score: Callable[..., Any] = NotImplemented
exhaustive_gain: Callable[..., Any] = NotImplemented
separates: Callable[..., Any] = NotImplemented
may_gain: Callable[..., Any] = NotImplemented
write_votes: Callable[..., Any] = NotImplemented
oppose: Callable[..., Any] = NotImplemented
leaf_edge: Callable[..., Any] = NotImplemented
node_weight: Callable[..., Any] = NotImplemented
needs_question: Callable[..., Any] = NotImplemented
may_divide: Callable[..., Any] = NotImplemented
gain: Callable[..., Any] = NotImplemented
size: Callable[..., Any] = NotImplemented


class Growth(NamedTuple):
    """The compiled steps of growing, for the sides of two classes or of several."""

    plant: Callable[..., Any]
    find: Callable[..., Any]
    choose: Callable[..., Any]
    measure: Callable[..., Any]


def compile_growth(sides: ModuleType) -> Growth:
    """Return the steps of growing for these sides."""

    def bind(function: Callable[..., Any], names: str, **others: Any) -> Callable[..., Any]:
        own = {name: getattr(sides, name) for name in names.split()}
        return specialise(function, inner_kernel, **own, **others)

    dividing = bind(_may_divide, "may_gain of_node size")
    gaining = bind(_gain, "LANES of_node score exhaustive_gain separates")
    return Growth(
        plant=bind(_plant, "LANES write_votes", may_divide=dividing),
        find=specialise(_find, inner_kernel, find_split=compile_search(sides)),
        choose=bind(_choose, "LANES write_votes oppose", may_divide=dividing, gain=gaining),
        measure=bind(_measure, "leaf_edge node_weight needs_question"),
    )


def _plant(nodes: Nodes) -> None:
    """Make the root a leaf; its totals and, in slot 0, its sums are there."""
    at = nodes.at
    nodes.depths[0] = 0
    for label in range(nodes.votes.shape[1]):
        nodes.votes[0, label] = -1
    write_votes(nodes.totals[0], nodes.votes[0], nodes.votes[0])
    nodes.questions[0, 3] = 0
    nodes.slots[0] = 0
    at[N_NODES] = 1
    at[N_LEAVES] = 1
    at[N_WAITING] = 0
    at[N_ASKED] = 0
    at[N_FREE] = nodes.free.size - 1
    for s in range(at[N_FREE]):
        nodes.free[s] = s + 1
    at[N_FRESH] = 1 if may_divide(nodes, np.int64(0)) else 0
    nodes.fresh[0] = 0


def _may_divide(nodes: Nodes, node: int) -> bool:
    """Return whether a leaf may be divided if a question is found."""
    deepest, least = nodes.shape[DEPTH], nodes.shape[LEAST]
    shallow = deepest < 0 or nodes.depths[node] < deepest
    totals = nodes.totals[node]
    large = least == 1 or size(of_node(totals)) >= 2 * least
    return bool(shallow and large and may_gain(totals, nodes.shape[CRITERION]))


def _find(p: int, bins: FeatureBins, nodes: Nodes) -> None:
    """Look for the questions of the fresh leaves among the features of share ``p``."""
    n_features, n_shares = bins.implicit.size, nodes.scores.shape[0]
    for f in range(nodes.at[N_FRESH]):
        node = nodes.fresh[f]
        nodes.scores[p, f] = find_split(
            nodes.sums,
            nodes.slots[node],
            nodes.totals[node],
            bins,
            n_features * p // n_shares,
            n_features * (p + 1) // n_shares,
            nodes.shape[LEAST],
            nodes.shape[CRITERION],
            nodes.of_feature[p],
            nodes.running[p],
            nodes.cut_scores[p],
            nodes.cut_edges[p],
            nodes.found[p, f],
            nodes.found_lefts[p, f],
        )


def _choose(bins: FeatureBins, nodes: Nodes, most: int) -> int:
    """Choose up to ``most`` leaves to be divided next, and make their sides."""
    at = nodes.at
    for f in range(at[N_FRESH]):
        node = nodes.fresh[f]
        nodes.gains[node] = gain(nodes, f, node)
        if nodes.gains[node] > 0.0:
            nodes.waiting[at[N_WAITING]] = node
            at[N_WAITING] += 1
        else:
            _give_back(nodes, node)
    at[N_FRESH] = 0
    at[N_ASKED] = 0
    limit = nodes.shape[LEAVES]
    while at[N_WAITING] > 0 and at[N_LEAVES] != limit and at[N_ASKED] < most:
        if at[N_NODES] + 2 > nodes.gains.size or at[N_FREE] == 0:
            return FULL if at[N_ASKED] == 0 else ASKS
        first = 0  # the leaf of the largest gain; of equal gains, the lowest node
        for k in range(1, at[N_WAITING]):
            a, b = nodes.waiting[k], nodes.waiting[first]
            if nodes.gains[a] > nodes.gains[b] or (nodes.gains[a] == nodes.gains[b] and a < b):
                first = k
        node = nodes.waiting[first]
        at[N_WAITING] -= 1
        nodes.waiting[first] = nodes.waiting[at[N_WAITING]]
        nodes.asked[at[N_ASKED]] = node
        at[N_ASKED] += 1
        left = at[N_NODES]
        nodes.questions[node, 3] = left
        at[N_NODES] += 2
        at[N_LEAVES] += 1
        for k in range(nodes.totals.shape[1]):
            for lane in range(LANES):
                nodes.totals[left, k, lane] = nodes.lefts[node, k, lane]
                rest = nodes.totals[node, k, lane] - nodes.lefts[node, k, lane]
                nodes.totals[left + 1, k, lane] = rest
        for k in range(2):
            nodes.depths[left + k] = nodes.depths[node] + 1
            write_votes(nodes.totals[left + k], nodes.votes[node], nodes.votes[left + k])
            nodes.questions[left + k, 3] = 0
        if nodes.shape[CRITERION] == EXHAUSTIVE:
            oppose(
                nodes.totals[left],
                nodes.totals[left + 1],
                nodes.votes[left],
                nodes.votes[left + 1],
            )
        fixed = _constrain(bins, nodes, node)
        at[N_FREE] -= 1
        nodes.slots[left] = nodes.free[at[N_FREE]]
        nodes.slots[left + 1] = nodes.slots[node]  # it takes the place of the node
        for k in range(2):
            divides = left + k != fixed and may_divide(nodes, left + k)
            if at[N_LEAVES] != limit and divides:
                nodes.fresh[at[N_FRESH]] = left + k
                at[N_FRESH] += 1
            elif most == 1:
                _give_back(nodes, left + k)  # it is written to once more before it is taken
    return ASKS if at[N_ASKED] > 0 else GROWN


@inner_kernel
def _give_back(nodes: Nodes, node: int) -> None:
    """Make the slot of a node free: the next leaf takes it while it is in the cache."""
    nodes.free[nodes.at[N_FREE]] = nodes.slots[node]
    nodes.at[N_FREE] += 1


@inner_kernel
def _constrain(bins: FeatureBins, nodes: Nodes, node: int) -> Any:
    """Fix the vote of one side of a monotonic question; return that side, or -1.

    Either all leaves of the lower side vote -1, or all of the upper side +1: no vote steps the
    other way. The side that would err less is fixed. A question whether a value is missing is free.
    """
    feature, cut = nodes.questions[node, 0], nodes.questions[node, 1]
    left = nodes.questions[node, 3]
    direction = bins.monotonic[feature]
    n_bins = bins.offsets[feature + 1] - bins.offsets[feature]
    if direction == 0 or cut == n_bins - bins.missing[feature] - 1:
        return -1
    lower = left if direction > 0 else left + 1
    upper = left + 1 if direction > 0 else left
    low, high = nodes.totals[lower], nodes.totals[upper]
    if low[1, 0] <= low[0, 0] and (high[1, 0] < high[0, 0] or low[1, 0] <= high[0, 0]):
        nodes.votes[lower, 0] = -1
        return lower
    nodes.votes[upper, 0] = 1
    return upper


def _gain(nodes: Nodes, f: int, node: int) -> Any:
    """Keep the best question that the shares have found for a fresh leaf; return its gain."""
    best = -1.0
    for p in range(nodes.scores.shape[0]):  # the features of the first share come first
        if nodes.scores[p, f] > best:
            best = nodes.scores[p, f]
            for k in range(3):
                nodes.questions[node, k] = nodes.found[p, f, k]
            for k in range(nodes.totals.shape[1]):
                for lane in range(LANES):
                    nodes.lefts[node, k, lane] = nodes.found_lefts[p, f, k, lane]
    totals, left, criterion = nodes.totals[node], nodes.lefts[node], nodes.shape[CRITERION]
    if best < 0.0:
        return 0.0
    if criterion == EXHAUSTIVE:
        return exhaustive_gain(left, totals)
    if not separates(left, totals):
        return 0.0  # equal shares on both sides are no gain, whatever rounding says
    return best - score(of_node(totals), criterion)


def _measure(nodes: Nodes) -> tuple[Any, Any]:
    """Return ``sum_i w_i y_i h(x_i)`` and ``sum_i w_i`` for the tree that has grown."""
    value = np.int64(0)
    n_nodes = nodes.at[N_NODES]
    if not (nodes.shape[CRITERION] == EXHAUSTIVE and n_nodes == 1 and needs_question()):
        for node in range(n_nodes):
            if nodes.questions[node, 3] == 0:
                value += leaf_edge(nodes.totals[node], nodes.votes[node])
    return value, node_weight(nodes.totals[0])


@inner_kernel
def number_nodes(nodes: Nodes, order: Array, place: Array) -> None:
    """Write to ``order`` the nodes as if leaves had been divided one by one, by their gains.

    Leaves of one depth may have been divided together. ``place`` is the way back.
    """
    order[0] = 0
    place[0] = 0
    n_numbered = 1
    n_waiting = 0
    if nodes.questions[0, 3] > 0:
        nodes.waiting[0] = 0
        n_waiting = 1
    while n_waiting > 0:
        first = 0
        for k in range(1, n_waiting):
            a, b = nodes.waiting[k], nodes.waiting[first]
            if nodes.gains[a] > nodes.gains[b] or (
                nodes.gains[a] == nodes.gains[b] and place[a] < place[b]
            ):
                first = k
        node = nodes.waiting[first]
        n_waiting -= 1
        nodes.waiting[first] = nodes.waiting[n_waiting]
        left = nodes.questions[node, 3]
        for k in range(2):
            order[n_numbered] = left + k
            place[left + k] = n_numbered
            n_numbered += 1
            if nodes.questions[left + k, 3] > 0:
                nodes.waiting[n_waiting] = left + k
                n_waiting += 1
