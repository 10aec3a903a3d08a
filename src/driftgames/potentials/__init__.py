"""Potentials: functions of the position of a chip that decide its weight.

The library rests on one idea. Chips stand on a line, and a potential assigns a cost to each
position. The weight of a chip is the difference of the potential one step to the left and one
step to the right of it. The weights are the decision. A new potential is one class, in one file:
it registers itself by name, and every learner, booster and theorem test can use it.
"""

from driftgames.potentials.backward_heat import BackwardHeat
from driftgames.potentials.conditions import PotentialCheck, check_potential, require_potential
from driftgames.potentials.exponential import Exponential
from driftgames.potentials.minimax import MinimaxPotential
from driftgames.potentials.normal_hedge_dt import NormalHedgeDT
from driftgames.potentials.potential import POTENTIALS, NoBoundError, Potential, normalise
from driftgames.potentials.recipe import RecipePotential
from driftgames.potentials.two_norm import TwoNorm

__all__ = [
    "POTENTIALS",
    "BackwardHeat",
    "Exponential",
    "MinimaxPotential",
    "NoBoundError",
    "NormalHedgeDT",
    "Potential",
    "PotentialCheck",
    "RecipePotential",
    "TwoNorm",
    "check_potential",
    "normalise",
    "require_potential",
]
