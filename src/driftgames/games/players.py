"""Players choose distributions over the chips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from driftgames.core.typing import FloatArray
from driftgames.games.chips import Chips
from driftgames.games.rules import DriftingGame
from driftgames.potentials import MinimaxPotential, Potential
from driftgames.potentials.minimax import ChipLoss


class Player(Protocol):
    """A player chooses a distribution over the chips, then learns their moves."""

    def distribution(self, chips: Chips) -> FloatArray:
        """Return the distribution of round ``chips.t + 1``."""

    def observe(self, moves: FloatArray) -> None:
        """Learn the moves of the adversary."""


@dataclass(frozen=True)
class PotentialPlayer:
    r"""Plays :math:`p_i \propto \tfrac12(\Phi_t(s_i-1) - \Phi_t(s_i+1))`. [LS14, Alg. 3]

    >>> from driftgames.potentials import TwoNorm
    >>> PotentialPlayer(TwoNorm()).distribution(Chips.at_start(2))
    array([0.5, 0.5])
    """

    potential: Potential

    def distribution(self, chips: Chips) -> FloatArray:
        """Return the weights of the potential as a distribution."""
        return self.potential.distribution(chips.positions, chips.t + 1)

    def observe(self, moves: FloatArray) -> None:
        """Do nothing: the chips hold the whole state."""


def minimax_player(game: DriftingGame, loss: ChipLoss, horizon: int) -> PotentialPlayer:
    """Return the minimax player of a game; this solves all its potentials. [LS14, Eq. (1)]"""
    solved = MinimaxPotential(loss, horizon, game.moves, game.beta, keep_table=True)
    return PotentialPlayer(solved)
