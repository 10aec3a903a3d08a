"""The weights of a potential: its differences at the positions of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from driftgames._kernels.jit import inner_kernel, kernel, specialise
from driftgames.boosting.growth.engine import RuleKernel
from driftgames.boosting.weights.by_mistakes import MistakeWeights
from driftgames.core.typing import FloatArray, IntArray
from driftgames.potentials import Potential
from driftgames.potentials.compiled import CompiledPotential, Exponent, Kernels, Theta, Weight

weight: Weight = NotImplemented  # names for `specialise` to bind
exponent: Exponent = NotImplemented


@dataclass(frozen=True)
class PotentialWeights(MistakeWeights):
    """``(Phi_t(s - 1) - Phi_t(s + 1)) / 2``: the booster of any potential. [LS14, Alg. 6]"""

    potential: Potential

    def weights(self, mistakes: IntArray, t: int, edge_sum: float, masses: IntArray) -> FloatArray:
        """Return the potential's weights; zeros after the last round of its game."""
        if isinstance(self.potential, CompiledPotential):  # finite positions need no check
            weights, theta = np.empty(mistakes.size), self.potential.theta
            loop = _compile_loop(self.potential.kernels)
            loop(theta, int(mistakes[0]), t, edge_sum, masses, weights)
            return weights
        positions = np.asarray((t - 1) / 2 - edge_sum - mistakes, dtype=np.float64)
        over = t > self.potential.last_round
        return np.zeros(mistakes.size) if over else self.potential.weights(positions, t)

    def compiled(self) -> tuple[RuleKernel, Any] | None:
        """Return the compiled rule of a compiled potential."""
        if not isinstance(self.potential, CompiledPotential):
            return None
        return _compile_rule(self.potential.kernels), self.potential.theta


@cache
def _compile_rule(kernels: Kernels) -> RuleKernel:
    bound = {"weight": kernels.weight, "exponent": kernels.exponent}
    return RuleKernel(specialise(_weigh_mistakes, inner_kernel, **bound), False)


@cache
def _compile_loop(kernels: Kernels) -> Any:
    """Return the same loop for Python code."""
    bound = {"weight": kernels.weight, "exponent": kernels.exponent}
    return specialise(_weigh_mistakes, kernel, **bound)


def _weigh_mistakes(
    theta: Theta, first: int, t: int, edge_sum: float, masses: FloatArray, out: FloatArray
) -> None:
    """Write the weights of numbers of mistakes, relative to the scale of the last one."""
    origin = (t - 1) / 2 - edge_sum
    log_scale = exponent(origin - float(first + out.size - 1), float(t), theta)
    for k in range(out.size):
        out[k] = weight(origin - float(first + k), float(t), log_scale, theta)
