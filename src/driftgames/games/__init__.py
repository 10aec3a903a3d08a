"""Drifting games: chips on a line, a player who weighs them, an adversary who moves them.

In each round the player distributes weight over the chips and the adversary moves them. The rules
keep the weighted average of the moves nonnegative. A potential gives a strategy for such a game,
and every learning problem of the library is such a game. [LS14, Sec. 2, App. A]
"""

from driftgames.games.adversaries import (
    Adversary,
    GreedyAdversary,
    RandomAdversary,
    StochasticAdversary,
)
from driftgames.games.chips import Chips, move
from driftgames.games.lookahead import LookaheadAdversary
from driftgames.games.play import (
    Turn,
    play,
    player_loss,
    positions,
    potential_sum,
    rounds_that_rise,
    weights,
    worst_case,
)
from driftgames.games.players import (
    HedgeAsPlayer,
    Player,
    PlayerAsHedge,
    PotentialPlayer,
    minimax_player,
)
from driftgames.games.record import GameRecord, History
from driftgames.games.rules import DGv1, DGv2, DGv3, DriftingGame, RuleBrokenError

__all__ = [
    "Adversary",
    "Chips",
    "DGv1",
    "DGv2",
    "DGv3",
    "DriftingGame",
    "GameRecord",
    "GreedyAdversary",
    "HedgeAsPlayer",
    "History",
    "LookaheadAdversary",
    "Player",
    "PlayerAsHedge",
    "PotentialPlayer",
    "RandomAdversary",
    "RuleBrokenError",
    "StochasticAdversary",
    "Turn",
    "minimax_player",
    "move",
    "play",
    "player_loss",
    "positions",
    "potential_sum",
    "rounds_that_rise",
    "weights",
    "worst_case",
]
