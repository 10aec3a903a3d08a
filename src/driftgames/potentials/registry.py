"""Every potential by name: what runs on all of them starts here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from driftgames.core.typing import FloatArray
from driftgames.potentials.base import Potential
from driftgames.potentials.exponential import Exponential
from driftgames.potentials.normal_hedge_dt import NormalHedgeDT
from driftgames.potentials.recipe import RecipePotential
from driftgames.potentials.two_norm import TwoNorm


def _squared_hinge(s: FloatArray) -> FloatArray:
    return np.minimum(s, 0.0) ** 2


POTENTIALS: dict[str, Callable[[int, float], Potential]] = {
    "exp": Exponential.tuned,
    "2-norm": lambda horizon, epsilon: TwoNorm(),
    "normalhedge.dt": lambda horizon, epsilon: NormalHedgeDT(),
    "normalhedge.dt, d=5": lambda horizon, epsilon: NormalHedgeDT(d=5.0),
    "recipe": lambda horizon, epsilon: RecipePotential(_squared_hinge, horizon),
}
"""Name to ``factory(horizon, epsilon)``; an adaptive potential needs neither.

A new entry inherits every theorem test.
"""
