"""The game of AdaBoost: examples weigh exponentially in votes that differ in weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames.boosting.engine.binned_trees import BinnedTree
from driftgames.boosting.engine.game import GameRule, LocalGame, Round, TreeLearner
from driftgames.boosting.engine.mistake_engine import TreeGrower
from driftgames.boosting.engine.positions import SUM_BITS
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import Trees
from driftgames.certificates.margins import Margins
from driftgames.core.typing import BoolArray, FloatArray, IntArray

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
        self.masses = learner.masses
        self._grower = TreeGrower(
            learner.data, learner.shape, learner.sample_weights, **learner.engine_settings
        )
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
        return self._learner.to_values(rounds)

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
