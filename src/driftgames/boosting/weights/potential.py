"""The weights of a potential: its differences at the positions of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import carray
from numba.np.unsafe.ndarray import to_fixed_tuple
from numpy.ctypeslib import as_ctypes

from driftgames._kernels.callbacks import compile_callback
from driftgames._kernels.templates import Part, instantiate
from driftgames.boosting.growth.positions import RULE_ARGUMENTS, Rule
from driftgames.boosting.weights.by_mistakes import MistakeWeights
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import Potential
from driftgames.potentials.compiled import CompiledPotential, Kernels

potential, n_parameters = Part("potential"), Part("n_parameters")


@dataclass(frozen=True)
class PotentialWeights(MistakeWeights):
    """``(Phi_t(s - 1) - Phi_t(s + 1)) / 2``: the booster of any potential. [LS14, Alg. 6]"""

    potential: Potential

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the potential's weights; zeros after the last round of its game."""
        if isinstance(self.potential, CompiledPotential):  # finite positions need no check
            theta, weights = self.potential.theta, np.empty(mistakes.size)
            loop = _compile_loop(self.potential.kernels, len(theta)).ctypes
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
        loop = _compile_loop(self.potential.kernels, len(theta))
        return Rule(loop.address, looks_at_masses=0, parameters=np.array(theta))


@cache
def _compile_loop(kernels: Kernels, n_parameters: int) -> Any:
    """Return the loop over numbers of mistakes for a potential."""
    callback = compile_callback(*RULE_ARGUMENTS)
    return instantiate(_weigh_mistakes, callback, potential=kernels, n_parameters=n_parameters)


def _weigh_mistakes(
    parameters: Any, first: int, t: int, edge_sum: float, masses: Any, n: int, out: Any
) -> None:
    """Write the weights of numbers of mistakes, relative to the scale of the last one."""
    theta = to_fixed_tuple(carray(parameters, n_parameters), n_parameters)
    origin = (t - 1) / 2 - edge_sum
    log_scale = potential.exponent(origin - float(first + n - 1), float(t), theta)
    for k in range(n):
        out[k] = potential.weight(origin - float(first + k), float(t), log_scale, theta)
