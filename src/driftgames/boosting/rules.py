"""Rules: what an example weighs after so many mistakes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from driftgames._support.checks import FloatArray
from driftgames.boosting.binning import IntArray
from driftgames.potentials import Potential
from driftgames.potentials.compiled import CompiledPotential


class Rule(ABC):
    r"""Weights of examples from their numbers of mistakes alone.

    With one vote per round an example that has erred ``k`` times in ``t - 1`` rounds stands at
    :math:`s = (t-1)/2 - k - \sum_\tau \gamma_\tau`, whichever rounds they were.
    """

    @abstractmethod
    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights in round ``t``, up to a factor; all zero means all alike.

        ``mistakes`` ascends by ones, ``masses`` tells how many examples have made each of these
        numbers, and ``edge_sum`` is the sum of the edges so far.
        """


@dataclass(frozen=True)
class PotentialRule(Rule):
    """``(Phi_t(s - 1) - Phi_t(s + 1)) / 2``: the booster of any potential. [LS14, Alg. 6]"""

    potential: Potential

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the potential's weights; zeros once its game is over."""
        if t > self.potential.last_round:
            return np.zeros(mistakes.size)
        positions = np.asarray((t - 1) / 2 - edge_sum - mistakes, dtype=np.float64)
        if not isinstance(self.potential, CompiledPotential):
            return self.potential.weights(positions, t)
        # positions of our own making, descending: nothing to check, and the lowest is the last
        kernels, theta = self.potential.kernels, self.potential.theta
        log_scale = kernels.exponent(float(positions[-1]), float(t), theta)
        weights = np.empty_like(positions)
        kernels.weigh(positions, float(t), log_scale, theta, weights)
        return weights


@dataclass(frozen=True)
class MajorityRule(Rule):
    r"""The weights of boost-by-majority: the chance that the vote will hang on this round.

    .. math:: w = \binom{T-t}{h} \bigl(\tfrac12 + \gamma\bigr)^h
              \bigl(\tfrac12 - \gamma\bigr)^{T-t-h}, \qquad
              h = \lfloor T/2 \rfloor - (t - 1 - k)

    where ``h`` right votes in the rounds after this one leave the decision to it. This is what
    the potentials of the minimax game with moves ``-1, +1`` come to at :math:`s = (t-1) - 2k`.
    [LS14, Eq. (1)]
    """

    horizon: int
    edge: float

    @property
    def game_value(self) -> float:
        """The share of examples that err in the end, at most, if every edge is as large."""
        return float(bdtr(self.horizon // 2, self.horizon, 0.5 + self.edge))

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights relative to the largest that an example has."""
        left = self.horizon - t
        wanted = self.horizon // 2 - (t - 1) + mistakes
        open_still = (wanted >= 0) & (wanted <= left)
        weights = np.zeros(mistakes.size)
        if not masses[open_still].any():
            return weights
        # neighbours differ by a simple factor, and logarithms do not leave the range of floats
        h = wanted[open_still][1:]
        odds = (0.5 + self.edge) / (0.5 - self.edge)
        logs = np.append(0.0, np.cumsum(np.log((left - h + 1) / h * odds)))
        highest = logs[masses[open_still] > 0].max()
        # a level that nobody holds may stand higher; its weight is not used
        weights[open_still] = np.exp(np.minimum(logs - highest, 0.0))
        return weights


@dataclass(frozen=True)
class NormalHedgeRule(Rule):
    r"""The weights of NormalHedge, whose scale ``c`` is solved for in every round.

    .. math:: -[s]_- e^{[s]_-^2/c}, \qquad \sum_i e^{[s_i]_-^2/c} = N e

    Uniform in round 1. [LS14, Alg. 7]
    """

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return NormalHedge's weights relative to the largest exponent."""
        below = np.minimum((t - 1) / 2 - edge_sum - mistakes, 0.0)
        squares = below**2
        highest = float(squares[masses > 0].max())
        if t == 1 or highest == 0.0:
            return np.zeros(mistakes.size)
        rate = _solve_rate(squares, masses, highest)
        # a level that nobody holds may stand higher; its weight is not used
        return np.asarray(-below * np.exp(np.minimum((squares - highest) * rate, 0.0)))


def _solve_rate(squares: FloatArray, masses: IntArray, highest: float) -> float:
    """Return ``1/c``. Newton's steps from above: the function is convex, so none overshoots."""
    number = float(masses.sum())
    at_highest = float(masses[squares == highest].sum())
    rate = (1.0 + math.log(number / at_highest)) / highest  # the highest alone sum to N e
    for _ in range(100):
        terms = masses * np.exp(np.minimum((squares - highest) * rate, 0.0))
        total = float(terms.sum())
        excess = math.log(total / number) + highest * rate - 1.0
        lower = rate - excess * total / float((terms * squares).sum())
        if not lower < rate:
            break
        rate = lower
    return rate
