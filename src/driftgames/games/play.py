"""The play loop: any player against any adversary, with observers, or against all of them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_distribution, check_integer
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray
from driftgames.games.adversaries import Adversary
from driftgames.games.chips import Chips, average_loss, move
from driftgames.games.players import Player
from driftgames.games.rules import DGv1, RuleBrokenError, Rules
from driftgames.potentials import Potential
from driftgames.potentials.minimax import ChipLoss


@dataclass(frozen=True)
class Turn:
    """One round: the distribution, the moves, and the chips after them."""

    p: FloatArray
    moves: FloatArray
    chips: Chips


Observer = Callable[[Turn], Any]


@dataclass(frozen=True)
class GameRecord:
    """The chips at the end of a game, and the results of each observer, one per round."""

    chips: Chips
    seen: Mapping[str, npt.NDArray[Any]]

    def loss(self, loss: ChipLoss) -> float:
        """Return the average loss of the chips at the end."""
        return average_loss(loss, self.chips)


def play(
    player: Player,
    adversary: Adversary,
    *,
    n_chips: int,
    horizon: int,
    rules: Rules | None = None,
    observers: Mapping[str, Observer] | None = None,
    rng: np.random.Generator | int = 0,
    show_progress: bool = True,
) -> GameRecord:
    """Play ``horizon`` rounds and return the record of the game.

    Every distribution and every move is checked against the ``rules``. Default: DGv1.

    >>> from driftgames.games import PotentialPlayer, StochasticAdversary, weights
    >>> from driftgames.potentials import NormalHedgeDT
    >>> record = play(PotentialPlayer(NormalHedgeDT()), StochasticAdversary(best=2, gap=0.3),
    ...               n_chips=5, horizon=200, observers={"weights": weights})
    >>> record.seen["weights"][-1].round(2)
    array([0., 0., 1., 0., 0.])
    """
    game = DGv1() if rules is None else rules
    generator = np.random.default_rng(rng)
    rounds = check_integer("horizon", horizon, least=1)
    kept: dict[str, list[Any]] = {name: [] for name in observers or {}}
    chips = Chips.at_start(n_chips)
    with progress("rounds", rounds, show=show_progress) as advance:
        for _ in range(rounds):
            p = check_distribution("the player's distribution", player.distribution(chips), n_chips)
            moves = adversary.moves(chips, p, generator)
            game.check(p, moves)
            chips = move(chips, moves)
            player.observe(moves)
            for name, observer in (observers or {}).items():
                kept[name].append(observer(Turn(p, moves, chips)))
            advance(1)
    return GameRecord(chips, {name: np.asarray(entries) for name, entries in kept.items()})


def positions(turn: Turn) -> FloatArray:
    """Observe the positions of the chips."""
    return turn.chips.positions


def weights(turn: Turn) -> FloatArray:
    """Observe the distribution of the player."""
    return turn.p


def potential_sum(potential: Potential, horizon: int) -> Observer:
    """Observe the average potential, which never rises. [LS14, Eq. (2)]"""

    def observe(turn: Turn) -> float:
        values = potential.value(turn.chips.positions, turn.chips.t, horizon=horizon)
        return float(np.mean(values))

    return observe


def rounds_that_rise(sums: Sequence[float]) -> list[int]:
    """Return the rounds in which a sum, known before round 1 and after each, rises.

    Rounding is allowed for.

    >>> rounds_that_rise([2.0, 1.5, 1.5, 1.75])
    [3]
    """
    pairs = enumerate(itertools.pairwise(sums), start=1)
    return [t for t, (before, after) in pairs if not after <= before + 1e-12 * abs(before)]


def player_loss(loss: ChipLoss) -> Observer:
    """Observe the average loss of the chips at their current positions."""
    return lambda turn: average_loss(loss, turn.chips)


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
