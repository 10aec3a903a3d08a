"""Chips: positions and a clock, and the pure functions that move them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_integer, check_kind, check_vector
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.typing import FloatArray
from driftgames.potentials.minimax import ChipLoss


@dataclass(frozen=True)
class Chips(Displayed):
    """The positions of the chips after ``t`` rounds.

    >>> chips = move(Chips.at_start(2), [1.0, -1.0])
    >>> chips
    <Chips: 2 chips, t 1, furthest left -1>
    >>> chips.positions
    array([ 1., -1.])
    """

    positions: FloatArray
    t: int = 0

    def _headline(self) -> str:
        lowest = float(self.positions.min())
        return f"{self.positions.size:,} chips, t {self.t:,}, furthest left {lowest:.4g}"

    def _columns(self) -> Fields:
        return {"chip": range(self.positions.size), "position": self.positions}

    def _sketch(self) -> Sketch:
        return Sketch(bars={str(i): float(s) for i, s in enumerate(self.positions)})

    @classmethod
    def at_start(cls, n_chips: int) -> Chips:
        """Return chips at position 0 before the first round."""
        return cls(np.zeros(check_integer("n_chips", n_chips, least=1)))


def move(chips: Chips, moves: npt.ArrayLike) -> Chips:
    """Return the chips one round later, each moved by its entry of ``moves``."""
    check_kind("chips", chips, Chips)
    z = check_vector("moves", moves, chips.positions.size)
    return Chips(chips.positions + z, chips.t + 1)


def average_loss(loss: ChipLoss, chips: Chips) -> float:
    """Return the average loss of the chips at their current positions. [LS14, Sec. 2]"""
    return float(np.mean(np.asarray(loss(chips.positions), dtype=np.float64)))


def hedge_moves(losses: FloatArray, learner_loss: float) -> FloatArray:
    r"""Return the moves :math:`z_i = \ell_i - p\cdot\ell` of these losses. [LS14, Alg. 2]"""
    return np.asarray(losses - learner_loss)
