"""Online BBM: boost-by-majority on a stream, the best for a known edge."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from driftgames._kernels.sums import total
from driftgames.core.checks import is_real, shown
from driftgames.core.schema import NUMBER, Schema
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.online_boosting.online_booster import MOVES, WEIGHTS, OnlineBooster
from driftgames.potentials import MinimaxPotential


class OnlineBBM(OnlineBooster):
    r"""Boost-by-majority with one chip at a time: a majority of N weak learners of edge γ.

    .. math:: w_{t,i} = \tfrac12\bigl(\Phi_i(s_{t,i-1}-1) - \Phi_i(s_{t,i-1}+1)\bigr), \qquad
              \sum_t \mathbf 1\{s_{t,N} \le 0\} \le
              T\,\Phi_0(0) + \sum_i 2\,[\gamma - \gamma_i]_+ \sum_t w_{t,i}

    where Φ is the minimax potential of the game with moves -1 and +1 and
    :math:`\Phi_N(s) = \mathbf 1\{s \le 0\}`, :math:`s_{t,i}` the margin of example t after i weak
    learners, and :math:`\gamma_i` the realised edge of weak learner i under its weights. So the
    share of mistakes tends to :math:`\Phi_0(0) \le e^{-2N\gamma^2}` if all weak learners have the
    edge. The weights are binomial: most if the vote is open, zero if it is decided.
    [LS14, Eq. (1)], and Beygelzimer, Kale and Luo (2015), Alg. 1.

    Parameters
    ----------
    n_learners : int
        N; an odd number has no ties, which count as mistakes.
    edge : float
        γ in (0, 1/2): how much better than chance each weak learner is expected to be.

    Notes
    -----
    The bound holds on every stream. For moves of -1 and +1 each step of the game is an equality,
    :math:`\Phi_i(s+z) + w(z - 2\gamma) = \Phi_{i-1}(s)`, so the mistakes are
    :math:`T\Phi_0(0) + \sum_i\sum_t w_{t,i}(2\gamma - z_{t,i})`, and edges above γ are left out of
    the bound.

    Examples
    --------
    >>> booster = OnlineBBM(3, edge=0.1)
    >>> booster.vote([1, -1, 1]) > 0
    True
    >>> booster.update([1, -1, 1], label=1)
    array([1., 1., 1.])
    >>> booster.update([1, 1, -1], label=1)
    array([1., 1., 0.])
    """

    title = "Online BBM"
    _caveat = "ties count as mistakes"
    _named_arguments: ClassVar[Schema] = {**OnlineBooster._named_arguments, "edge": NUMBER}

    def __init__(self, n_learners: int, edge: float = 0.1) -> None:
        super().__init__(n_learners)
        if not (is_real(edge) and 0 < edge < 0.5):
            raise ValueError(f"edge must lie in (0, 0.5); got {shown(edge)}")
        self._edge = float(edge)
        n = self._n_learners
        potential = MinimaxPotential(_lost, n, beta=2 * self._edge, keep_table=True)
        self._game_value = potential.game_value
        self._rows, self._table = np.arange(n), np.zeros((n, n))
        for i in range(1, n + 1):  # row i - 1: by the number of mistakes of the learners before
            self._table[i - 1, :i] = potential.weights(i - 1 - 2.0 * np.arange(i), i)

    @property
    def game_value(self) -> float:
        """The largest share of mistakes if every weak learner has the edge."""
        return self._game_value

    def _vote(self, predictions: FloatArray) -> float:
        return total(predictions) / self._n_learners

    def _move(self, moves: FloatArray) -> tuple[FloatArray, float]:
        wrong = moves < 0
        before: IntArray = np.cumsum(wrong) - wrong
        return self._table[self._rows, before], float(total(moves) <= 0)

    def _promised(self) -> float:
        short = 2 * self._edge * self._sums[WEIGHTS] - self._sums[MOVES]
        return self._t * self._game_value + total(np.maximum(short, 0.0))


def _lost(margins: FloatArray) -> BoolArray:
    """Return whether the vote is lost at these margins."""
    return np.asarray(margins <= 0)
