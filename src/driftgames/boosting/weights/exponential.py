"""Examples that weigh exponentially: those of AdaBoost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftgames._kernels.elementary import log_all
from driftgames.boosting.growth.positions import SUM_BITS
from driftgames.boosting.growth.training_set import RowVotes, Standing
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.weights.example_chips import ExampleChips, Round
from driftgames.certificates.margins import Margins
from driftgames.core.typing import FloatArray

_VOTE_UNIT = 2.0**-32  # votes that are multiples of it add up exactly, in any order


class ExponentialChips(ExampleChips):
    r"""Examples that weigh :math:`e^{-F_i}`, where each vote adds to or takes from ``F_i``.

    .. math:: F_i = \sum_t \alpha_t y_i h_t(x_i), \qquad
              \alpha_t = \tfrac12 \ln \frac{1/2 + \gamma_t}{1/2 - \gamma_t}

    This is discrete AdaBoost, the booster that the exponential potential gives. [LS14, Sec. 4]

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

    def __init__(self, training_set: TrainingSet) -> None:
        self._totals = training_set.add_votes()
        self._n_copies, self._mass = self._totals.masses()
        self._standing = Standing(0.0, 0)  # before the first vote; errors count after it
        self._all_votes = 0.0
        self._played: list[Round] = []

    def advance(self, n_rounds: int) -> None:
        """Play rounds of the best hypotheses for the exponential weights."""
        until = self.n_rounds + n_rounds
        while self.n_rounds < until and not self.finished:
            value, norm, hypothesis = self._totals.best(*self._weigh())
            edge = math.ldexp((value << 53) // norm, -54)
            if edge <= 0 or _vote_weight(edge) <= 0:
                break
            self._move(hypothesis, edge)

    def rounds(self, begin: int, end: int) -> list[Round]:
        """Return the rounds from ``begin`` to ``end``."""
        return self._played[begin:end]

    def _move(self, hypothesis: Any, edge: float) -> Round:
        """Add the votes of a hypothesis. Every example keeps a weight of at least one unit."""
        self.finished = edge == 0.5
        alpha = self._all_votes + 1.0 if self.finished else _vote_weight(edge)
        self._standing = self._totals.add(hypothesis, alpha)
        self._all_votes += alpha
        self.n_rounds += 1
        played = Round(hypothesis, edge, alpha, 0.0, self._standing.wrong / self._mass)
        self._played.append(played)
        return played

    def replay(self, hypothesis: Any, edge: float) -> tuple[Round, float]:
        """Play a round of an earlier fit again; its edge comes from the weights before it."""
        value, norm = self._totals.value(*self._weigh(), hypothesis)
        return self._move(hypothesis, edge), value / (2 * norm)

    def votes(self) -> FloatArray:
        """Return the normalised votes on all rows, with a column for each of several classes."""
        assert isinstance(self._totals, RowVotes)
        return self._totals.votes_so_far() / self._all_votes

    def margins(self) -> Margins:
        """Return the margins, rounded up to hundredths: the certificate needs no more."""
        return self._totals.margins(self._all_votes)

    def _weigh(self) -> tuple[float, float]:
        """Weigh the examples; return the largest weight and the unit of fixed point.

        In units, each weight is at least 1, and their sum has `SUM_BITS` bits.
        """
        heaviest = self._totals.heaviest(self._standing.lowest)
        unit = 2.0 ** (self._n_copies.bit_length() - SUM_BITS)
        # a first sum, of integers so that no order matters, tells how many bits are free
        total = self._totals.measure(heaviest, unit)
        return heaviest, unit * 2.0 ** (total.bit_length() - SUM_BITS)


def _vote_weight(edge: float) -> float:
    if edge >= 0.5:
        return math.inf
    alpha = 0.5 * float(log_all(np.array([(0.5 + edge) / (0.5 - edge)]))[0])
    return round(alpha / _VOTE_UNIT) * _VOTE_UNIT
