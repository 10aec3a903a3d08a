"""The slow way to play: one number of mistakes for each row in NumPy, and every tree on its own."""

import numpy as np

from driftgames.boosting.engine.binned_trees import TreeLearner, to_stumps, to_trees
from driftgames.boosting.engine.game import CountedGame, Round
from driftgames.boosting.engine.mistake_engine import TreeGrower
from driftgames.boosting.engine.remote_game import scale_in_python


class GrownRows:
    """Binned rows, or pairs of a row and a label, and trees on weights that are given."""

    def __init__(self, data, shape, labels=None, *, weights=None, n_threads=1, n_classes=None):
        weights = data.sample_weights if weights is None else weights
        if n_classes is None:
            n_classes = 2 if labels is None else int(labels.max()) + 1
        self.data, self.shape = data, shape
        self.learner = TreeLearner(data, shape, weights, labels, n_classes, n_threads)
        self._grower = TreeGrower(self.learner)
        self.positive = np.arange(data.n_rows) >= data.split
        self.sample_weights = weights
        if labels is not None:
            self.positive = (labels[:, None] == np.arange(n_classes)).reshape(-1)
            copies = np.where(self.positive, n_classes - 1, 1)
            self.sample_weights = copies * np.repeat(weights, n_classes)

    def best(self, weights):
        """Return the sum of w y h, the sum of w, and the tree h."""
        return self._grower.grow(weights)

    def votes(self, tree):
        """Return a tree's vote on every row, or pair: 1 for +1 and 0 for -1."""
        self._grower.follow(tree)
        return self._grower.leaf_votes()

    def to_values(self, trees):
        stumps = self.shape.is_stump and self.learner.n_classes == 2
        return (to_stumps if stumps else to_trees)(trees, self.data.cuts)


class SlowGame(CountedGame):
    """Plays the rounds of a rule on `GrownRows`."""

    def __init__(self, rule, rows):
        super().__init__(rule)
        self._rows, self._played = rows, []
        self.masses = rows.learner.masses
        self.mistakes = np.zeros(rows.positive.size, dtype=np.int64)
        self._count()
        self._total = int(self._masses.sum())
        self._scale(self._weigh(self._first, self._totals))

    def _count(self):
        """Add the weight of each row to its class and its number of mistakes."""
        counted = self._rows.sample_weights > 0  # the others are held out
        mistakes, positive = self.mistakes[counted], self._rows.positive[counted]
        self._first = int(mistakes.min())
        self._masses = np.zeros((2, int(mistakes.max()) - self._first + 1), dtype=np.int64)
        at = positive.astype(np.int64), mistakes - self._first
        np.add.at(self._masses, at, self._rows.sample_weights[counted])

    def _scale(self, weights):
        self._weights = np.empty(weights.size)
        given = weights, self._masses, self._first, self.n_rounds, self._weights
        self._zeros, self._wrong = scale_in_python(*given)
        if self._rows.data.integer_weights:
            self._weights = np.rint(self._weights).astype(np.int64)

    def _weigh_rows(self, scaled):
        """Return the weights of all rows, from those of their numbers of mistakes."""
        weighted = self._rows.sample_weights * scaled
        return weighted if weighted.dtype == np.int64 else np.rint(weighted).astype(np.int64)

    def advance(self, n_rounds):
        for _ in range(n_rounds):
            at = np.clip(self.mistakes - self._first, 0, self._weights.size - 1)
            value, norm, tree = self._rows.best(self._weigh_rows(self._weights[at]))
            if value <= 0:
                break
            self._move(tree, value / (2 * norm))

    def _move(self, tree, edge):
        self.n_rounds += 1
        self._edge_sum += edge
        first, ahead = self._first, None
        if not self._rule.looks_at_masses:  # the next weights are known before the move
            ahead = self._weigh_ahead()
        self.mistakes += self._rows.votes(tree) != self._rows.positive
        self._count()
        if ahead is None:
            self._scale(self._weigh(self._first, self._totals))
        else:
            self._scale(ahead[self._first - first :][: self._totals.size])
        error = self._error()
        self._played.append(Round(tree, edge, 1.0, self._zeros / self._total, error))

    def _error(self):
        """Return the share of the examples that the vote gets wrong."""
        learner = self._rows.learner
        if learner.labels is None:
            return self._wrong / self._total
        mistakes = self.mistakes.reshape(-1, learner.n_classes)
        own = self._rows.positive.reshape(mistakes.shape)
        ups = np.where(own, self.n_rounds - mistakes, mistakes)  # how many votes were +1
        wrong = learner.sample_weights[ups.argmax(axis=1) != learner.labels].sum()
        return int(wrong) / learner.mass

    def rounds(self, begin, end):
        return self._played[begin:end]

    def to_values(self, rounds):
        return self._rows.to_values([each.tree for each in rounds])
