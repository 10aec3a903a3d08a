r"""Games of boosting: the examples are chips, and each round adds a hypothesis to the vote.

With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
:math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, in whichever rounds it erred. So a round weighs
numbers of mistakes instead of examples, and a `MistakeRule` says what each of them weighs. Votes
that differ in weight are those of AdaBoost, in a `VoteGame`. `remote_game` has the game of examples
on other machines.

Weights are rounded to integers, so that sums of them are exact, and so is every comparison between
hypotheses: neither the order of the examples nor the number of threads changes a bit.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames.boosting.engine.binned_trees import BinnedTree, TreeLearner
from driftgames.boosting.engine.mistake_engine import MistakeEngine, TreeGrower
from driftgames.boosting.engine.positions import SUM_BITS, Rule
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import Trees
from driftgames.certificates.margins import Margins
from driftgames.core.threads import stop_if_given_up
from driftgames.core.typing import BoolArray, FloatArray, IntArray

_SECONDS = 0.05  # how long a compiled call plays rounds


class Round(NamedTuple):
    """One round: the hypothesis, its edge and vote, and the state of the examples after it."""

    tree: BinnedTree
    edge: float
    vote_weight: float
    zero_fraction: float
    training_error: float


class Game(ABC):
    """The examples during a fit: their positions, their weights and the next hypotheses."""

    n_rounds: int = 0
    finished: bool = False
    """Whether another round would change nothing."""
    default_vote: FloatArray
    """The vote where no hypothesis votes."""
    _rounds_of_call: int = 16

    def play_until(
        self, n_rounds: int, on_progress: Callable[[int], None] = lambda steps: None
    ) -> bool:
        """Play until there are ``n_rounds`` rounds; return False if they end before.

        It plays in calls of some hundredths of a second, so that an interruption is heard between
        them. ``on_progress`` hears how many rounds each of them has played.
        """
        while self.n_rounds < n_rounds and not self.finished:
            stop_if_given_up()
            before, begun = self.n_rounds, time.perf_counter()
            wanted = min(self._rounds_of_call, n_rounds - before)
            self.advance(wanted)
            took = time.perf_counter() - begun
            if took > _SECONDS:
                self._rounds_of_call = max(wanted // 2, 1)
            elif wanted == self._rounds_of_call:
                self._rounds_of_call *= 2
            on_progress(self.n_rounds - before)
            if self.n_rounds < before + wanted:
                return False
        return self.n_rounds >= n_rounds

    def play(self, n_rounds: int) -> list[Round]:
        """Play rounds and return them; see `advance`."""
        begin = self.n_rounds
        self.advance(n_rounds)
        return self.rounds(begin, self.n_rounds)

    @abstractmethod
    def advance(self, n_rounds: int) -> None:
        """Play rounds; fewer if no hypothesis has an edge, or if the game is finished.

        A round chooses a hypothesis and moves the chips by it. [LS14, Alg. 6]
        """

    @abstractmethod
    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""

    @abstractmethod
    def margins(self) -> Margins:
        """Return the margins of the examples: the right votes less the wrong, over all."""

    @abstractmethod
    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds as the model keeps them, on feature values."""


class LocalGame(Game):
    """A game of examples in memory."""

    @abstractmethod
    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""

    @abstractmethod
    def rest(self) -> None:
        """Free what only the growth of a tree needs, until the next round."""


class GameRule(ABC):
    """What makes a booster: how the examples are weighed."""

    @abstractmethod
    def begin(self, learner: TreeLearner, n_rounds: int) -> LocalGame:
        """Return the game before the first of up to ``n_rounds`` rounds."""


class MistakeRule(GameRule):
    """Weights of examples from their numbers of mistakes alone; every vote weighs 1."""

    looks_at_masses = False
    """Whether weights depend on how many examples have made each number of mistakes."""

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all equal.

        ``mistakes`` ascends by ones, and ``edge_sum`` is the sum of the edges so far. ``masses``
        has the mass of examples at each of these numbers. A rule that does not look at masses is
        asked before a move too: they are then those that may stand at each number after it.
        """

    def compiled(self) -> Rule | None:
        """Return the compiled rule, or None if it is Python code."""
        return None

    def begin(self, learner: TreeLearner, n_rounds: int) -> MistakeGame:
        """Return the game before the first of up to ``n_rounds`` rounds."""
        return MistakeGame(self, learner, n_rounds)


class CountedGame(Game):
    """The part that games share in which examples weigh by their number of mistakes."""

    def __init__(self, rule: MistakeRule) -> None:
        self._rule = rule
        self._edge_sum = 0.0
        # _masses[c, k] is the mass of class c with _first + k mistakes
        self._first = 0
        self._masses = np.zeros((2, 1), dtype=np.int64)

    @property
    def _totals(self) -> IntArray:
        """The mass of the examples of each number of mistakes, of all classes."""
        return np.asarray(self._masses.sum(axis=0))

    def _weigh(self, first: int, masses: IntArray) -> FloatArray:
        """Return the weights of the next round by number of mistakes, from ``first`` on."""
        mistakes = np.arange(first, first + masses.size)
        return self._rule.weights(mistakes, self.n_rounds + 1, self._edge_sum, masses)

    def _weigh_ahead(self) -> FloatArray:
        """Return the weights of the round after the next move, for all numbers that it may give."""
        masses = self._totals
        possible = np.zeros(masses.size + 1, dtype=np.int64)
        possible[:-1] += masses
        possible[1:] += masses
        return self._weigh(self._first, possible)

    def margins(self) -> Margins:
        """Return a margin for each number of mistakes."""
        masses = self._totals[::-1]
        mistakes = np.arange(self._first, self._first + masses.size)[::-1]
        margins = (self.n_rounds - 2 * mistakes) / self.n_rounds
        return Margins(margins[masses > 0], masses[masses > 0])


class MistakeGame(CountedGame, LocalGame):
    """Examples in memory: the engine plays rounds of a compiled rule without Python."""

    def __init__(self, rule: MistakeRule, learner: TreeLearner, n_rounds: int) -> None:
        super().__init__(rule)
        self.default_vote = learner.default_vote
        self._learner = learner
        self._engine = MistakeEngine(learner, n_rounds)
        self._first, self._masses = self._engine.masses()
        self._total = int(self._masses.sum())
        self._compiled = rule.compiled()
        self._engine.set_weights(self._weigh(0, self._totals))

    def advance(self, n_rounds: int) -> None:
        """Play rounds, as far as a hypothesis has an edge."""
        engine = self._engine
        until = min(self.n_rounds + n_rounds, engine.most_rounds)
        if self._compiled is not None:
            engine.play(until, self._compiled)
            self._update()
        else:
            while self.n_rounds < until and engine.play(self.n_rounds + 1):
                self._reweigh()

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        total, n_examples = self._total, self._learner.judged_mass
        return [
            Round(tree, edge, 1.0, zeros / total, wrong / n_examples)
            for tree, edge, zeros, wrong in self._engine.rounds(begin, end)
        ]

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return self._learner.to_values([each.tree for each in rounds])

    def _update(self) -> None:
        self.n_rounds = self._engine.n_rounds
        self._edge_sum = self._engine.edge_sum
        self._first, self._masses = self._engine.masses()

    def _reweigh(self) -> None:
        """Set the weights after a round whose rule is Python code."""
        first = self._first
        self.n_rounds, self._edge_sum = self._engine.n_rounds, self._engine.edge_sum
        if self._rule.looks_at_masses:
            self._update()
            weights = self._weigh(self._first, self._totals)
        else:
            weights = self._weigh_ahead()
            self._update()
            weights = weights[self._first - first :]
        self._engine.set_weights(weights)

    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""
        return (2 * self._engine.votes_for() - self.n_rounds) / self.n_rounds

    def rest(self) -> None:
        """Free what only the growth of a tree needs, until the next round."""
        self._engine.rest()


_VOTE_UNIT = 2.0**-32  # votes that are multiples of it add up exactly, in any order


@dataclass(frozen=True)
class ExponentialRule(GameRule):
    """The weights of AdaBoost; see `VoteGame`."""

    def begin(self, learner: TreeLearner, n_rounds: int) -> VoteGame:
        """Return the game before the first round."""
        return VoteGame(learner)


class VoteGame(LocalGame):
    r"""Examples that weigh :math:`e^{-F_i}`, where each vote adds to or takes from ``F_i``.

    .. math:: F_i = \sum_t \alpha_t y_i h_t(x_i), \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    This is discrete AdaBoost, the booster that the exponential potential gives. With several
    classes the chips are pairs of an example and a label. [LS14, Sec. 4]

    Notes
    -----
    In fixed point every example weighs at least one unit, the last bit of their sum. An edge is
    rounded down to a multiple of ``2**-54``. So an edge of 1/2 means a hypothesis without a
    mistake, whose :math:`\alpha` would be infinite: it gets one vote more than all before it
    together, and ends the fit. The largest other :math:`\alpha` is ``atanh(1 - 2**-53)``, about
    18.7.

    Each :math:`\alpha_t` is rounded to a multiple of ``2**-32``: votes then add up exactly in
    any order. An edge whose vote rounds to zero counts as no edge.
    """

    def __init__(self, learner: TreeLearner) -> None:
        self._learner = learner
        self.default_vote = learner.default_vote
        self._grower = TreeGrower(learner)
        self._positive, self._prior = _chips(learner)
        exact = learner.data.integer_weights
        # an integer weight is a number of copies, and any other a factor of the example's weight
        self._copies = self._prior if exact else np.minimum(self._prior, 1)
        self._factors = (self._copies > 0 if exact else self._prior).astype(np.float64)
        self._sign = np.where(self._positive, 1.0, -1.0)
        self._votes = np.zeros(self._prior.size)
        self._all_votes = 0.0
        self._played: list[Round] = []

    def advance(self, n_rounds: int) -> None:
        """Play rounds of the best hypotheses for the exponential weights."""
        until = self.n_rounds + n_rounds
        while self.n_rounds < until and not self.finished:
            value, norm, tree = self._grower.grow(self._weigh())
            edge = math.ldexp((value << 53) // norm, -54)
            if edge <= 0 or _vote_weight(edge) <= 0:
                break
            self._move(tree, edge)

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        return self._played[begin:end]

    def to_values(self, rounds: Sequence[Round]) -> Stumps | Trees:
        """Return the hypotheses of rounds on feature values."""
        return self._learner.to_values([each.tree for each in rounds])

    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""
        return self._by_row() / self._all_votes

    def rest(self) -> None:
        """Free what only the growth of a tree needs, until the next round."""
        self._grower.rest()

    def margins(self) -> Margins:
        """Return the margins, rounded up to hundredths: the certificate needs no more."""
        counts = self._copies > 0
        margins = (self._sign * self._votes)[counts] / self._all_votes
        return Margins.on_grid(margins, self._prior[counts])

    def _weigh(self) -> IntArray:
        """Return the weights of all chips in units: at least 1, with a sum of `SUM_BITS` bits."""
        totals, counts = self._sign * self._votes, self._copies > 0
        lowest = float(totals.min(where=counts, initial=np.inf))
        # totals of examples that are held out may be lower
        each = self._factors * exp_all(np.minimum(lowest - totals, 0.0))
        each /= float(each.max())
        unit = 2.0 ** (int(self._copies.sum()).bit_length() - SUM_BITS)
        # a first sum, of integers so that no order matters, tells how many bits are free
        total = int((self._copies * (each / unit).astype(np.int64)).sum())
        unit *= 2.0 ** (total.bit_length() - SUM_BITS)
        return np.asarray(self._copies * np.maximum(np.rint(each / unit), 1.0).astype(np.int64))

    def _move(self, tree: BinnedTree, edge: float) -> None:
        """Add the votes of a hypothesis."""
        self.finished = edge == 0.5
        alpha = self._all_votes + 1.0 if self.finished else _vote_weight(edge)
        self._grower.follow(tree)
        self._votes += alpha * (2.0 * self._grower.leaf_votes() - 1.0)
        self._all_votes += alpha
        self.n_rounds += 1
        self._played.append(Round(tree, edge, alpha, 0.0, self._count_wrong() / self._learner.mass))

    def _count_wrong(self) -> int:
        """Return the mass of examples that the vote gets wrong; a tie is for the first class."""
        learner, votes = self._learner, self._by_row()
        if learner.labels is None:
            wrong = (votes > 0) != self._positive
        else:
            wrong = votes.argmax(axis=1) != learner.labels
        return int(learner.sample_weights[wrong].sum())

    def _by_row(self) -> FloatArray:
        n_classes = self._learner.n_classes
        return self._votes if n_classes == 2 else self._votes.reshape(-1, n_classes)


def _chips(learner: TreeLearner) -> tuple[BoolArray, IntArray]:
    """Return which rows, or pairs, have the label +1, and their sample weights."""
    if learner.labels is None:
        return np.arange(learner.data.n_rows) >= learner.data.split, learner.sample_weights
    own = (learner.labels[:, None] == np.arange(learner.n_classes)).reshape(-1)
    copies = np.where(own, learner.n_classes - 1, 1)
    return own, np.asarray(copies * np.repeat(learner.sample_weights, learner.n_classes))


def _vote_weight(edge: float) -> float:
    if edge >= 0.5:
        return math.inf
    alpha = 0.5 * float(log_all(np.array([(0.5 + edge) / (0.5 - edge)]))[0])
    return round(alpha / _VOTE_UNIT) * _VOTE_UNIT
