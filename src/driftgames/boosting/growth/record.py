"""What is kept of the rounds: trees, one behind the other, and numbers of each round."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from driftgames._kernels.jit import inner_kernel
from driftgames._kernels.structs import Struct, new_counters
from driftgames.boosting.data.bins import Array
from driftgames.boosting.growth.binned_trees import BinnedTree
from driftgames.boosting.growth.nodes import Nodes

_COUNTERS = "n_rounds", "n_nodes", "growing", "step", "status", "value", "norm"
_QUESTION = np.dtype([(name, np.int32) for name in ("feature", "cut", "missing_left", "left")])
_OF_EACH_NODE = "questions", "votes", "gains", "order", "place"


@dataclass(frozen=True, eq=False)
class Record(Struct):
    """The trees of all rounds, and where the round that is played has come to."""

    counters: Array
    """One record: the rounds played, and the nodes of their trees; whether a tree is growing, the
    last answer of `nodes.choose`, and how a call ends; and of the last tree
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
        counters=new_counters(*_COUNTERS),
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
    for name in _OF_EACH_NODE:
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
