"""The exact worst case of a small game, by enumeration of the adversary's moves."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence

import numpy as np

from driftgames.core.checks import check_integer
from driftgames.games.chips import Chips, average_loss, move
from driftgames.games.players import Player
from driftgames.games.rules import RuleBrokenError, Rules
from driftgames.potentials.minimax import ChipLoss


def worst_case(
    player: Player,
    loss: ChipLoss,
    *,
    rules: Rules,
    moves: Sequence[float],
    n_chips: int,
    horizon: int,
) -> float:
    r"""Return :math:`L_T(D)`, the largest loss of the player, over moves of a finite set.

    The adversary may use any of ``moves`` for each chip, if the rules allow the joint move. There
    are ``len(moves) ** (n_chips * horizon)`` games, so all three numbers must be small.
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
        p = player.distribution(chips)
        worst = -np.inf
        for z in joint:
            try:
                rules.check(p, z)
            except RuleBrokenError:
                continue
            moved = move(chips, z)
            if moved.t == rounds:
                worst = max(worst, average_loss(loss, moved))
                continue
            branch = copy.deepcopy(player)  # a player may have state, and each game needs its own
            branch.observe(z)
            worst = max(worst, search(branch, moved))
        return worst

    return search(player, Chips.at_start(n_chips))
