"""Drifting games: chips on a line, a player who weighs them, an adversary who moves them.

Each round the player spreads weight over the chips and the adversary moves them, under rules
that keep the weighted average from falling back. A potential turns any such game into a
strategy, and every learning problem of the library into such a game. [LS14, Sec. 2, App. A]
"""

from driftgames.games.adversaries import (
    Adversary,
    GreedyAdversary,
    RandomAdversary,
    StochasticAdversary,
)
from driftgames.games.chips import Chips, move
from driftgames.games.conversions import HedgeAsPlayer, PlayerAsHedge
from driftgames.games.play import (
    GameRecord,
    Turn,
    play,
    player_loss,
    positions,
    potential_sum,
    weights,
)
from driftgames.games.players import Player, PotentialPlayer, minimax_player
from driftgames.games.rules import DGv1, DGv2, DGv3, DriftingGame, RuleBrokenError
from driftgames.games.search import worst_case

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
    "weights",
    "worst_case",
]
