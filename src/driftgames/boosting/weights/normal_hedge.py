"""The weights of NormalHedge, for NH-Boost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import carray

from driftgames._kernels.callbacks import compile_callback
from driftgames._kernels.normal_hedge import weigh_normal_hedge
from driftgames.boosting.growth.positions import RULE_ARGUMENTS, Rule
from driftgames.boosting.weights.by_mistakes import MistakeWeights
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True)
class NormalHedgeWeights(MistakeWeights):
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
        return _compile_rule()


@cache
def _compile_rule() -> Rule:
    compiled = compile_callback(*RULE_ARGUMENTS)(_weigh_mistakes)
    return Rule(compiled.address, looks_at_masses=1, parameters=np.zeros(0))


def _weigh_mistakes(
    parameters: Any, first: int, t: int, edge_sum: float, masses_at: Any, n: int, out_at: Any
) -> None:
    """Write the weights of numbers of mistakes, as `NormalHedgeWeights.weights` does."""
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
