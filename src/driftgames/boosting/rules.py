"""Rules: what an example weighs after so many mistakes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from driftgames._kernels.arithmetic import fma, lesser
from driftgames._kernels.elementary import exp, exp_all, log, log_all
from driftgames._kernels.jit import kernel
from driftgames._kernels.lanes import LANES, fold, load, spread, store
from driftgames._kernels.sums import total
from driftgames.boosting.binning import IntArray
from driftgames.core.typing import FloatArray
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
        # from the likeliest number of right votes outwards: its large terms have the least error
        middle = round(self.horizon * (0.5 + self.edge))
        steps = self._log_steps(self.horizon, np.arange(1, self.horizon + 1))
        below = -np.cumsum(steps[:middle][::-1])[::-1]
        chances = exp_all(np.concatenate([below, [0.0], np.cumsum(steps[middle:])]))
        return total(chances[: self.horizon // 2 + 1]) / total(chances)

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights relative to the largest that an example has."""
        left = self.horizon - t
        wanted = self.horizon // 2 - (t - 1) + mistakes
        open_still = (wanted >= 0) & (wanted <= left)
        weights = np.zeros(mistakes.size)
        if not masses[open_still].any():
            return weights
        logs = np.append(0.0, np.cumsum(self._log_steps(left, wanted[open_still][1:])))
        highest = logs[masses[open_still] > 0].max()
        # where no example is, a level may stand higher; its weight is not used
        weights[open_still] = exp_all(np.minimum(logs - highest, 0.0))
        return weights

    def _log_steps(self, left: int, h: IntArray) -> FloatArray:
        """Return ``log(w(h) / w(h - 1))`` for ``left`` rounds after this one.

        Neighbours differ by a simple factor, and logarithms stay in the range of floats. NumPy
        adds up running sums of them one after another, on every machine.
        """
        odds = (0.5 + self.edge) / (0.5 - self.edge)
        return log_all((left - h + 1) / h * odds)


@dataclass(frozen=True)
class NormalHedgeRule(Rule):
    r"""The weights of NormalHedge, whose scale ``c`` is solved for in every round.

    .. math:: -[s]_- e^{[s]_-^2/c}, \qquad \sum_i e^{[s_i]_-^2/c} = N e

    Uniform where no example is below 0, as in round 1. [LS14, Alg. 7]
    """

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return NormalHedge's weights relative to the largest exponent."""
        below = np.minimum((t - 1) / 2 - edge_sum - mistakes, 0.0)
        weights = np.zeros(mistakes.size)
        _weigh_normal_hedge(below, masses.astype(np.float64), weights)
        return weights


@kernel
def _weigh_normal_hedge(below: FloatArray, masses: FloatArray, out: FloatArray) -> None:
    """Write NormalHedge's weights; leave ``out`` as it is where no example is below 0.

    ``below[k]`` is ``[s]_-`` and descends, and ``masses[k]`` examples stand there.
    """
    last = below.size - 1
    while last > 0 and masses[last] == 0.0:
        last -= 1
    highest = below[last] * below[last]
    if highest == 0.0:
        return
    rate = _solve_rate(below, masses, highest, masses[last])
    for i in range(0, out.size, LANES):
        s = load(below, i, 0.0)
        # where no example is, a level may stand higher; its weight is not used
        store(out, i, -s * exp(lesser((s * s - highest) * rate, 0.0)))


@kernel
def _solve_rate(below: FloatArray, masses: FloatArray, highest: float, at_highest: float) -> float:
    """Return ``1/c``. Newton's steps from above: the function is convex, so none overshoots."""
    number = total(masses)
    rate = (1.0 + log(number / at_highest)) / highest  # the highest alone sum to N e
    for _ in range(100):
        terms, pull = spread(0.0), spread(0.0)
        for i in range(0, below.size, LANES):
            s = load(below, i, 0.0)
            square = s * s
            term = load(masses, i, 0.0) * exp(lesser((square - highest) * rate, 0.0))
            terms += term
            pull = fma(term, square, pull)
        summed = fold(terms)
        excess = log(summed / number) + highest * rate - 1.0
        lower = rate - excess * summed / fold(pull)
        if not lower < rate:
            break
        rate = lower
    return rate
