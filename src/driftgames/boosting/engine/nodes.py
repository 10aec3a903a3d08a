r"""A tree while it grows: its nodes, without the rows in them; and the record of all trees.

The leaf of the largest gain is divided first; of equal gains, the leaf that was made first. The
gain of a question is the score of its two sides less that of the node itself. A leaf votes for the
class of more weight. A tied leaf votes like the node above it, and a tied root votes -1.

`choose_leaves` says which leaves are divided next. Whoever has the rows divides them and writes the
sums of the sides: threads of this process (`rounds`), or shares of the examples elsewhere
(`remote_game`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct, new_counters
from driftgames._kernels.templates import Part
from driftgames.boosting.data.bins import Array, FeatureBins
from driftgames.boosting.engine.binned_trees import BinnedTree
from driftgames.boosting.engine.shape import EXHAUSTIVE, TreeShape
from driftgames.boosting.engine.split_search import MOST_BINS, find_question

sides = Part("sides")

GROWN, ASKS, FULL = range(3)
"""What `choose_leaves` returns: the tree is grown, leaves are divided next, or there is no room."""

_COUNTERS = "n_nodes", "n_leaves", "n_waiting", "n_free", "n_fresh", "n_asked"
_BEST = np.dtype(
    [("score", "f8"), ("feature", "i8"), ("cut", "i8"), ("missing_left", "i8")], align=True
)


@dataclass(frozen=True, eq=False)
class Nodes(Struct):
    """The nodes of a growing tree. Arrays have one entry for each node if nothing else is said."""

    max_depth: int
    max_leaves: int
    """How large a tree may grow; -1 for no limit."""
    least_size: int
    criterion: int
    counters: Array
    """One record: the numbers of nodes and leaves, and of entries in the lists below."""
    feature: Array
    cut: Array
    missing_left: Array
    """The question of a node: bins up to the cut go left, and missing values if it says so."""
    left: Array
    """The left side of a node, 0 for a leaf; the right side is the node behind it."""
    votes: Array
    lowest: Array
    highest: Array
    """Between which positions among thresholds a leaf votes, where questions are monotonic."""
    gains: Array
    depths: Array
    totals: Array
    left_totals: Array
    """The totals of the left side of the best question."""
    waiting: Array
    """The leaves that may be divided, in no order."""
    fresh: Array
    """The leaves that have sums and no question yet."""
    asked: Array
    """The leaves that are divided next; their sides have nodes already."""
    best: Array
    best_lefts: Array
    """The best questions of the fresh leaves among the features of each share; their left sides."""
    feature_sums: Array
    running: Array
    cut_scores: Array
    cut_edges: Array
    """Scratch buffers of the search for each share: the sums of one feature, sums up to a cut, and
    scores or edges of all cuts."""
    slots: Array
    """Where ``sums`` holds those of a node, for every share."""
    sums: Array
    free: Array
    """The slots that hold nothing."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes of the tree."""
        return int(self.counters[0].n_nodes)


def make_nodes(
    shape: TreeShape,
    mass: int,
    n_labels: int,
    side: tuple[int, int],
    n_codes: int,
    n_shares: int,
    n_leaves: int,
) -> Nodes:
    """Return the arrays of trees of up to ``n_leaves`` leaves; `widen_nodes` makes larger ones.

    ``mass`` is that of all examples, and ``side`` the shape of a side.
    """
    max_depth, max_leaves, least_size, criterion = shape.numbers(mass)
    n, integers = 2 * n_leaves - 1, np.int64
    n_parts, lanes = side
    return Nodes(
        max_depth=max_depth,
        max_leaves=max_leaves,
        least_size=least_size,
        criterion=criterion,
        counters=new_counters(*_COUNTERS),
        feature=np.zeros(n, integers),
        cut=np.zeros(n, integers),
        missing_left=np.zeros(n, integers),
        left=np.zeros(n, integers),
        votes=np.zeros((n, n_labels), integers),
        lowest=np.zeros(n, integers),
        highest=np.zeros(n, integers),
        gains=np.zeros(n),
        depths=np.zeros(n, integers),
        totals=np.zeros((n, *side), integers),
        left_totals=np.zeros((n, *side), integers),
        waiting=np.zeros(n, integers),
        fresh=np.zeros(n, integers),
        asked=np.zeros(n, integers),
        best=np.zeros((n_shares, n), _BEST),
        best_lefts=np.zeros((n_shares, n, *side), integers),
        feature_sums=np.zeros((n_shares, n_parts, MOST_BINS * lanes), integers),
        running=np.zeros((n_shares, n_parts, MOST_BINS * lanes), integers),
        cut_scores=np.zeros((n_shares, 2, MOST_BINS)),
        cut_edges=np.zeros((n_shares, 2, MOST_BINS), integers),
        slots=np.zeros(n, integers),
        sums=np.empty((n_shares, n_leaves, n_parts, n_codes * lanes), integers),
        free=np.zeros(n_leaves, integers),
    )


_OF_EACH_NODE = (
    *("feature", "cut", "missing_left", "left", "votes", "lowest", "highest", "gains", "depths"),
    *("totals", "left_totals", "waiting", "fresh", "asked", "slots"),
)


def widen_nodes(nodes: Nodes) -> Nodes:
    """Return a copy with room for twice as many leaves."""
    n_leaves, counters = nodes.free.size, nodes.counters.copy()
    wider: dict[str, Any] = {"counters": counters}
    for name in _OF_EACH_NODE:
        old = getattr(nodes, name)
        wider[name] = np.concatenate([old, old, old[:1]])
    for name in ("best", "best_lefts"):
        old = getattr(nodes, name)
        wider[name] = np.concatenate([old, old, old[:, :1]], axis=1)
    wider["sums"] = np.concatenate([nodes.sums, nodes.sums], axis=1)
    n_free = int(counters[0].n_free)
    wider["free"] = np.concatenate([nodes.free, nodes.free])
    wider["free"][n_free : n_free + n_leaves] = np.arange(n_leaves, 2 * n_leaves)
    counters[0].n_free += n_leaves
    return replace(nodes, **wider)


@inner_kernel
def plant_root(nodes: Nodes) -> None:
    """Make the root a leaf; its totals and, in slot 0, its sums are there."""
    counters = nodes.counters[0]
    nodes.depths[0] = 0
    for label in range(nodes.votes.shape[1]):
        nodes.votes[0, label] = -1
    sides.choose_votes(nodes.totals[0], nodes.votes[0], nodes.votes[0])
    nodes.lowest[0] = 0
    nodes.highest[0] = nodes.votes.shape[1]
    nodes.left[0] = 0
    nodes.slots[0] = 0
    counters.n_nodes = 1
    counters.n_leaves = 1
    counters.n_waiting = 0
    counters.n_asked = 0
    counters.n_free = nodes.free.size - 1
    for s in range(counters.n_free):
        nodes.free[s] = s + 1
    counters.n_fresh = 1 if _may_divide(nodes, np.int64(0)) else 0
    nodes.fresh[0] = 0


@inner_kernel
def _may_divide(nodes: Nodes, node: Any) -> bool:
    """Return whether a leaf may be divided if a question is found."""
    shallow = nodes.max_depth < 0 or nodes.depths[node] < nodes.max_depth
    totals, least = nodes.totals[node], nodes.least_size
    large = least == 1 or sides.size(sides.of_node(totals)) >= 2 * least
    return bool(shallow and large and sides.may_gain(totals, nodes.criterion))


@inner_kernel
def find_questions(p: int, bins: FeatureBins, nodes: Nodes) -> None:
    """Look for the questions of the fresh leaves among the features of share ``p``."""
    for f in range(nodes.counters[0].n_fresh):
        find_question(p, f, bins, nodes)


@inner_kernel
def choose_leaves(bins: FeatureBins, nodes: Nodes, most: int) -> int:
    """Choose up to ``most`` leaves to be divided next, and make their sides."""
    counters = nodes.counters[0]
    for f in range(counters.n_fresh):
        node = nodes.fresh[f]
        nodes.gains[node] = _take_question(nodes, f, node)
        if nodes.gains[node] > 0.0:
            nodes.waiting[counters.n_waiting] = node
            counters.n_waiting += 1
        else:
            _free_slot(nodes, node)
    counters.n_fresh = 0
    counters.n_asked = 0
    while (
        counters.n_waiting > 0 and counters.n_leaves != nodes.max_leaves and counters.n_asked < most
    ):
        if counters.n_nodes + 2 > nodes.gains.size or counters.n_free == 0:
            return FULL if counters.n_asked == 0 else ASKS
        first = 0  # the leaf of the largest gain; of equal gains, the lowest node
        for k in range(1, counters.n_waiting):
            a, b = nodes.waiting[k], nodes.waiting[first]
            if nodes.gains[a] > nodes.gains[b] or (nodes.gains[a] == nodes.gains[b] and a < b):
                first = k
        node = nodes.waiting[first]
        counters.n_waiting -= 1
        nodes.waiting[first] = nodes.waiting[counters.n_waiting]
        nodes.asked[counters.n_asked] = node
        counters.n_asked += 1
        _make_sides(bins, nodes, node, most == 1)
    return ASKS if counters.n_asked > 0 else GROWN


@inner_kernel
def _make_sides(bins: FeatureBins, nodes: Nodes, node: int, frees_slots: bool) -> None:
    """Make the sides of a leaf that is divided: totals, votes, and slots for their sums.

    If it ``frees_slots``, a side that is not divided further gives its slot back.
    """
    counters = nodes.counters[0]
    left = counters.n_nodes
    nodes.left[node] = left
    counters.n_nodes += 2
    counters.n_leaves += 1
    for k in range(nodes.totals.shape[1]):
        for lane in range(sides.LANES):
            nodes.totals[left, k, lane] = nodes.left_totals[node, k, lane]
            rest = nodes.totals[node, k, lane] - nodes.left_totals[node, k, lane]
            nodes.totals[left + 1, k, lane] = rest
    for side in range(left, left + 2):
        nodes.depths[side] = nodes.depths[node] + 1
        nodes.lowest[side] = nodes.lowest[node]
        nodes.highest[side] = nodes.highest[node]
        sides.choose_votes(nodes.totals[side], nodes.votes[node], nodes.votes[side])
        sides.keep_within(side, nodes)
        nodes.left[side] = 0
    if nodes.criterion == EXHAUSTIVE:
        sides.oppose(
            nodes.totals[left], nodes.totals[left + 1], nodes.votes[left], nodes.votes[left + 1]
        )
    fixed = _constrain(bins, nodes, node)
    counters.n_free -= 1
    nodes.slots[left] = nodes.free[counters.n_free]
    nodes.slots[left + 1] = nodes.slots[node]  # it takes the place of the node
    for side in range(left, left + 2):
        divides = side != fixed and _may_divide(nodes, side)
        if counters.n_leaves != nodes.max_leaves and divides:
            nodes.fresh[counters.n_fresh] = side
            counters.n_fresh += 1
        elif frees_slots:
            _free_slot(nodes, side)  # it is written to once more before it is taken


@inner_kernel
def _free_slot(nodes: Nodes, node: int) -> None:
    """Make the slot of a node free: the next leaf takes it while it is in the cache."""
    counters = nodes.counters[0]
    nodes.free[counters.n_free] = nodes.slots[node]
    counters.n_free += 1


@inner_kernel
def _constrain(bins: FeatureBins, nodes: Nodes, node: int) -> Any:
    """Keep the sides of a monotonic question in order; return a side that is fixed, or -1.

    A question whether a value is missing is free.
    """
    feature, left = nodes.feature[node], nodes.left[node]
    direction = bins.monotonic[feature]
    n_bins = bins.offsets[feature + 1] - bins.offsets[feature]
    if direction == 0 or nodes.cut[node] == n_bins - bins.missing[feature] - 1:
        return -1
    lower = left if direction > 0 else left + 1
    upper = left + 1 if direction > 0 else left
    return sides.keep_order(node, lower, upper, nodes)


@inner_kernel
def _take_question(nodes: Nodes, f: int, node: int) -> Any:
    """Take the best question that the shares have found for a fresh leaf; return its gain."""
    best_score = -1.0
    for p in range(nodes.best.shape[0]):  # the features of the first share come first
        best = nodes.best[p, f]
        if best.score > best_score:
            best_score = best.score
            nodes.feature[node] = best.feature
            nodes.cut[node] = best.cut
            nodes.missing_left[node] = best.missing_left
            for k in range(nodes.totals.shape[1]):
                for lane in range(sides.LANES):
                    nodes.left_totals[node, k, lane] = nodes.best_lefts[p, f, k, lane]
    totals, left_totals = nodes.totals[node], nodes.left_totals[node]
    if best_score < 0.0:
        return 0.0
    if nodes.criterion == EXHAUSTIVE:
        return sides.exhaustive_gain(left_totals, totals)
    if not sides.separates(left_totals, totals):
        return 0.0  # equal shares on both sides are no gain, whatever rounding says
    return best_score - sides.score(sides.of_node(totals), nodes.criterion)


@inner_kernel
def measure_edge(nodes: Nodes) -> tuple[Any, Any]:
    """Return ``sum_i w_i y_i h(x_i)`` and ``sum_i w_i`` for the tree that has grown."""
    value = np.int64(0)
    n_nodes = nodes.counters[0].n_nodes
    if not (nodes.criterion == EXHAUSTIVE and n_nodes == 1 and sides.needs_question()):
        for node in range(n_nodes):
            if nodes.left[node] == 0:
                value += sides.leaf_edge(nodes.totals[node], nodes.votes[node])
    return value, sides.node_weight(nodes.totals[0])


_PROGRESS = "n_rounds", "n_nodes", "growing", "step", "status", "value", "norm"
_QUESTION = np.dtype([(name, np.int32) for name in ("feature", "cut", "missing_left", "left")])
_OF_EACH_STORED_NODE = "questions", "votes", "gains", "order", "place"


@dataclass(frozen=True, eq=False)
class Record(Struct):
    """The trees of all rounds, and where the round that is played has come to."""

    counters: Array
    """One record: the rounds played, and the nodes of their trees; whether a tree is growing, the
    last answer of `choose_leaves`, and how a call ends; and of the last tree
    ``sum_i w_i y_i h(x_i)`` and ``sum_i w_i``."""
    tree_sizes: Array
    questions: Array
    votes: Array
    gains: Array
    edges: Array
    zeros: Array
    """After each round, the mass that weighs zero in the next one."""
    wrong: Array
    """After each round, the mass that the vote gets wrong."""
    order: Array
    place: Array
    """Scratch buffers, one number for each node of a tree."""

    @property
    def n_rounds(self) -> int:
        """The number of rounds played."""
        return int(self.counters[0].n_rounds)

    def trees(self, begin: int, end: int) -> BinnedTree:
        """Return a copy of the nodes from ``begin`` to ``end``, of one tree or several."""
        questions = self.questions[begin:end].view(np.int32).reshape(-1, 4)
        return BinnedTree(
            questions.copy(), self.votes[begin:end].copy(), self.gains[begin:end].copy()
        )

    def append(self, tree: BinnedTree, edge: float) -> None:
        """Keep a tree and its edge as those of the next round; there must be room for it."""
        counters = self.counters[0]
        nodes = slice(int(counters.n_nodes), int(counters.n_nodes) + len(tree))
        self.questions.view(np.int32).reshape(-1, 4)[nodes] = tree.questions
        self.votes[nodes], self.gains[nodes] = tree.votes, tree.gains
        self.tree_sizes[counters.n_rounds], self.edges[counters.n_rounds] = len(tree), edge
        counters.n_nodes += len(tree)


def make_record(n_rounds: int, n_nodes: int, n_labels: int) -> Record:
    """Return a record with room for ``n_rounds`` rounds, and ``n_nodes`` nodes of all trees."""
    integers = np.int64
    return Record(
        counters=new_counters(*_PROGRESS),
        tree_sizes=np.zeros(n_rounds, integers),
        questions=np.zeros(n_nodes, _QUESTION),
        votes=np.zeros((n_nodes, n_labels), np.int8),
        gains=np.zeros(n_nodes),
        edges=np.zeros(n_rounds),
        zeros=np.zeros(n_rounds, integers),
        wrong=np.zeros(n_rounds, integers),
        order=np.zeros(n_nodes, integers),
        place=np.zeros(n_nodes, integers),
    )


def widen_record(record: Record, n_nodes: int) -> Record:
    """Return a record with room for a tree of ``n_nodes`` nodes more; itself if there is room."""
    needed = int(record.counters[0].n_nodes) + n_nodes
    if record.gains.size >= needed:
        return record
    wider = {}
    for name in _OF_EACH_STORED_NODE:
        old = getattr(record, name)
        wider[name] = np.zeros((2 * needed, *old.shape[1:]), old.dtype)
        wider[name][: old.shape[0]] = old
    return replace(record, **wider)


@inner_kernel
def store_tree(norm: int, nodes: Nodes, record: Record) -> None:
    """Append the tree to the record, its nodes in the order of best-first growing."""
    counters = record.counters[0]
    _number_nodes(nodes, record.order, record.place)
    n_nodes = nodes.counters[0].n_nodes
    for n in range(n_nodes):
        node = record.order[n]
        stored = counters.n_nodes + n
        question, left = record.questions[stored], nodes.left[node]
        asks = left > 0
        question.feature = nodes.feature[node] if asks else -1
        question.cut = nodes.cut[node] if asks else 0
        question.missing_left = nodes.missing_left[node] if asks else 0
        question.left = record.place[left] if asks else 0
        record.gains[stored] = nodes.gains[node] / float(norm) if asks else 0.0
        for label in range(nodes.votes.shape[1]):
            record.votes[stored, label] = 0 if asks else nodes.votes[node, label]
    record.tree_sizes[counters.n_rounds] = n_nodes
    counters.n_nodes += n_nodes


@inner_kernel
def _number_nodes(nodes: Nodes, order: Array, place: Array) -> None:
    """Write to ``order`` the nodes as if leaves had been divided one by one, by their gains.

    Leaves of one depth may have been divided together. ``place`` is the way back.
    """
    order[0] = 0
    place[0] = 0
    n_numbered = 1
    n_waiting = 0
    if nodes.left[0] > 0:
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
        for side in range(nodes.left[node], nodes.left[node] + 2):
            order[n_numbered] = side
            place[side] = n_numbered
            n_numbered += 1
            if nodes.left[side] > 0:
                nodes.waiting[n_waiting] = side
                n_waiting += 1
