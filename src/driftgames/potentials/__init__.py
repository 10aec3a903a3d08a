"""Potentials: how bad it is for a chip to stand where it stands.

Everything in the library is one idea. Chips stand on a line; a potential says how bad each
position is; the difference of the potential one step to the left and one step to the right is
the weight of the chip; weights are the decision. A new potential is one file here, and every
learner, booster and theorem test runs on it.
"""

from driftgames.potentials.base import NoBoundError, Potential, normalise
from driftgames.potentials.exponential import Exponential
from driftgames.potentials.minimax import MinimaxPotential
from driftgames.potentials.normal_hedge_dt import NormalHedgeDT
from driftgames.potentials.recipe import RecipePotential
from driftgames.potentials.registry import POTENTIALS
from driftgames.potentials.two_norm import TwoNorm

__all__ = [
    "POTENTIALS",
    "Exponential",
    "MinimaxPotential",
    "NoBoundError",
    "NormalHedgeDT",
    "Potential",
    "RecipePotential",
    "TwoNorm",
    "normalise",
]
