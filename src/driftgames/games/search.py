"""The exact worst case of a small game, by trying everything the adversary can do."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

import numpy as np

from driftgames.core.checks import check_integer
from driftgames.games.chips import Chips, average_loss, move
from driftgames.games.players import Player
from driftgames.games.rules import RuleBrokenError, Rules
from driftgames.potentials.minimax import Loss


def worst_case(
    player: Player,
    loss: Loss,
    *,
    rules: Rules,
    moves: Sequence[float],
    n_chips: int,
    horizon: int,
) -> float:
    r"""Return :math:`L_T(D)`, the most that the player can lose, over moves of a finite set.

    The adversary may use any of ``moves`` for each chip that the rules allow together. There
    are ``len(moves) ** (n_chips * horizon)`` games, so all three must be small.
    [LS14, Sec. 2]

    >>> from driftgames.games import DriftingGame, minimax_player
    >>> majority = lambda s: s <= 0
    >>> game = DriftingGame(moves=(-1, 1), beta=0.0)
    >>> player = minimax_player(game, majority, horizon=3)
    >>> worst_case(player, majority, rules=game, moves=(-1, 1), n_chips=4, horizon=3)
    0.5
    """
    rounds = check_integer("horizon", horizon, least=1)
    joint = [np.array(z, dtype=np.float64) for z in itertools.product(moves, repeat=n_chips)]

    def search(player: Player, chips: Chips) -> float:
        if chips.t == rounds:
            return average_loss(loss, chips)
        p = player.distribution(chips)
        worst = -np.inf
        for z in joint:
            try:
                rules.check(p, z)
            except RuleBrokenError:
                continue
            told = copy.deepcopy(player)  # a player may remember, and each game is its own
            told.observe(z)
            worst = max(worst, search(told, move(chips, z)))
        return worst

    return search(player, Chips.at_start(n_chips))
