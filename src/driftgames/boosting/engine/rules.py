"""Rules that weigh an example by its number of mistakes: one for each booster with equal votes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import carray
from numba.np.unsafe.ndarray import to_fixed_tuple
from numpy.ctypeslib import as_ctypes

from driftgames._kernels.callbacks import compile_callback
from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.normal_hedge import weigh_normal_hedge
from driftgames._kernels.sums import total
from driftgames._kernels.templates import Part, instantiate
from driftgames.boosting.engine.game import MistakeRule
from driftgames.boosting.engine.positions import RULE_ARGUMENTS, Rule
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import Potential
from driftgames.potentials.compiled import CompiledPotential, Kernels

potential, n_parameters = Part("potential"), Part("n_parameters")


@dataclass(frozen=True)
class PotentialRule(MistakeRule):
    """``(Phi_t(s - 1) - Phi_t(s + 1)) / 2``: the booster of any potential. [LS14, Alg. 6]"""

    potential: Potential

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the potential's weights; zeros after the last round of its game."""
        if isinstance(self.potential, CompiledPotential):  # finite positions need no check
            theta, weights = self.potential.theta, np.empty(mistakes.size)
            loop = _compile_potential(self.potential.kernels, len(theta)).ctypes
            parameters, out = (as_ctypes(array) for array in (np.array(theta), weights))
            loop(parameters, int(mistakes[0]), t, edge_sum, None, weights.size, out)
            return weights
        positions = np.asarray((t - 1) / 2 - edge_sum - mistakes, dtype=np.float64)
        over = t > self.potential.last_round
        return np.zeros(mistakes.size) if over else self.potential.weights(positions, t)

    def compiled(self) -> Rule | None:
        """Return the compiled rule of a compiled potential."""
        if not isinstance(self.potential, CompiledPotential):
            return None
        theta = self.potential.theta
        loop = _compile_potential(self.potential.kernels, len(theta))
        return Rule(loop.address, looks_at_masses=0, parameters=np.array(theta))


@cache
def _compile_potential(kernels: Kernels, n_parameters: int) -> Any:
    """Return the loop over numbers of mistakes for a potential."""
    callback = compile_callback(*RULE_ARGUMENTS)
    return instantiate(_weigh_by_potential, callback, potential=kernels, n_parameters=n_parameters)


def _weigh_by_potential(
    parameters: Any, first: int, t: int, edge_sum: float, masses: Any, n: int, out: Any
) -> None:
    """Write the weights of numbers of mistakes, relative to the scale of the last one."""
    theta = to_fixed_tuple(carray(parameters, n_parameters), n_parameters)
    origin = (t - 1) / 2 - edge_sum
    log_scale = potential.exponent(origin - float(first + n - 1), float(t), theta)
    for k in range(n):
        out[k] = potential.weight(origin - float(first + k), float(t), log_scale, theta)


@dataclass(frozen=True)
class NormalHedgeRule(MistakeRule):
    r"""The weights of NormalHedge, whose scale ``c`` is solved for in every round.

    .. math:: -[s]_- e^{[s]_-^2/c}, \qquad \sum_i e^{[s_i]_-^2/c} = N e

    Uniform if no example is below 0, as in round 1. [LS14, Alg. 7]
    """

    looks_at_masses = True

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return NormalHedge's weights relative to the largest exponent of an example."""
        regrets = np.maximum(mistakes - ((t - 1) / 2 - edge_sum), 0.0)
        largest = regrets[np.flatnonzero(masses)[-1]]  # of an example; they ascend
        if largest == 0.0:
            return np.zeros(mistakes.size)
        weights = regrets / largest
        weigh_normal_hedge(weights, masses.astype(np.float64), np.inf)
        return np.asarray(weights * largest)

    def compiled(self) -> Rule:
        """Return the compiled rule."""
        return _compile_normal_hedge()


@cache
def _compile_normal_hedge() -> Rule:
    compiled = compile_callback(*RULE_ARGUMENTS)(_weigh_by_normal_hedge)
    return Rule(compiled.address, looks_at_masses=1, parameters=np.zeros(0))


def _weigh_by_normal_hedge(
    parameters: Any, first: int, t: int, edge_sum: float, masses_at: Any, n: int, out_at: Any
) -> None:
    """Write the weights of numbers of mistakes, as `NormalHedgeRule.weights` does."""
    masses, out = carray(masses_at, n), carray(out_at, n)
    origin = (t - 1) / 2 - edge_sum
    largest = 0.0
    for k in range(out.size):
        out[k] = max(float(first + k) - origin, 0.0)
        if masses[k] > 0.0:
            largest = out[k]
    if largest == 0.0:
        for k in range(out.size):
            out[k] = 0.0
        return
    for k in range(out.size):
        out[k] /= largest
    weigh_normal_hedge(out, masses, np.inf)
    for k in range(out.size):
        out[k] *= largest


@dataclass(frozen=True)
class MajorityRule(MistakeRule):
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
        """The largest share of examples that err in the end if every edge is at least `edge`."""
        # from the likeliest number of right votes outwards: the largest terms have the least error
        middle = round(self.horizon * (0.5 + self.edge))
        steps = self._log_steps(self.horizon, np.arange(1, self.horizon + 1))
        below = -np.cumsum(steps[:middle][::-1])[::-1]
        chances = exp_all(np.concatenate([below, [0.0], np.cumsum(steps[middle:])]))
        return total(chances[: self.horizon // 2 + 1]) / total(chances)

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the weights relative to the largest that an example may have."""
        left = self.horizon - t
        wanted = self.horizon // 2 - (t - 1) + mistakes
        open_still = (wanted >= 0) & (wanted <= left)
        weights = np.zeros(mistakes.size)
        if not masses[open_still].any():
            return weights
        logs = np.append(0.0, np.cumsum(self._log_steps(left, wanted[open_still][1:])))
        highest = logs[masses[open_still] > 0].max()
        # a level without examples may be higher; its weight is not used
        weights[open_still] = exp_all(np.minimum(logs - highest, 0.0))
        return weights

    def _log_steps(self, left: int, h: IntArray) -> FloatArray:
        """Return ``log(w(h) / w(h - 1))`` for ``left`` rounds after this one.

        Neighbours differ by a simple factor, and logarithms stay in the range of floats. NumPy
        computes running sums of them in order, on every machine.
        """
        odds = (0.5 + self.edge) / (0.5 - self.edge)
        return log_all((left - h + 1) / h * odds)
