"""Players choose distributions over the chips; Hedge learners play DGv1, and the reverse."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from driftgames._kernels.sums import dot
from driftgames.core.checks import check_kind, check_range, check_vector
from driftgames.core.typing import FloatArray
from driftgames.games.chips import Chips, hedge_moves, move
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

    def __post_init__(self) -> None:
        check_kind("potential", self.potential, Potential)

    def distribution(self, chips: Chips) -> FloatArray:
        """Return the weights of the potential as a distribution."""
        return self.potential.distribution(chips.positions, chips.t + 1)

    def observe(self, moves: FloatArray) -> None:
        """Do nothing: the chips hold the whole state."""


def minimax_player(game: DriftingGame, loss: ChipLoss, horizon: int) -> PotentialPlayer:
    """Return the minimax player of a game; this solves all its potentials. [LS14, Eq. (1)]"""
    check_kind("game", game, DriftingGame)
    solved = MinimaxPotential(loss, horizon, game.moves, game.beta, keep_table=True)
    return PotentialPlayer(solved)


class HedgeLearner(Protocol):
    """A learner that chooses distributions over actions and then learns their losses."""

    def distribution(self) -> FloatArray:
        """Return the distribution of the next round."""

    def update(self, losses: FloatArray) -> object:
        """Learn the losses of the round."""


@dataclass
class HedgeAsPlayer:
    r"""A Hedge learner playing DGv1, with losses :math:`\ell_i = z_i - \min_j z_j`.

    The rule on differences keeps these losses in [0, 1]. [LS14, Alg. 1]
    """

    learner: HedgeLearner

    def distribution(self, chips: Chips) -> FloatArray:
        """Return the learner's distribution."""
        return self.learner.distribution()

    def observe(self, moves: FloatArray) -> None:
        """Update the learner with the losses that correspond to these moves."""
        z = check_vector("moves", moves)
        self.learner.update(z - z.min(initial=np.inf))  # no moves are refused there


@dataclass
class PlayerAsHedge:
    r"""A player of DGv1 as a Hedge learner, with moves :math:`z_i = \ell_i - p\cdot\ell`.

    [LS14, Alg. 2]

    >>> from driftgames.games import PotentialPlayer
    >>> from driftgames.potentials import TwoNorm
    >>> learner = PlayerAsHedge(PotentialPlayer(TwoNorm()), n_actions=2)
    >>> learner.update([1.0, 0.0])
    0.5
    >>> learner.distribution()
    array([0.1, 0.9])
    """

    player: Player
    n_actions: int
    chips: Chips = field(init=False)

    def __post_init__(self) -> None:
        self.chips = Chips.at_start(self.n_actions)

    def distribution(self) -> FloatArray:
        """Return the player's distribution for the current chips."""
        return self.player.distribution(self.chips)

    def update(self, losses: npt.ArrayLike) -> float:
        """Move the chips by the losses and return the learner's own loss."""
        vector = check_vector("losses", losses, self.n_actions)
        check_range("losses", vector, 0.0, 1.0)
        learner_loss = dot(self.distribution(), vector)
        moves = hedge_moves(vector, learner_loss)
        self.chips = move(self.chips, moves)
        self.player.observe(moves)
        return learner_loss
