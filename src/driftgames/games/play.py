"""The play loop: any player against any adversary, with observers, or against all of them."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.core.checks import (
    check_distribution,
    check_flag,
    check_integer,
    check_kind,
    check_vector,
)
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.generators import generator_of
from driftgames.core.progress import progress
from driftgames.core.typing import FloatArray
from driftgames.games.adversaries import Adversary
from driftgames.games.chips import Chips, average_loss, move
from driftgames.games.players import Player
from driftgames.games.record import GameRecord, History
from driftgames.games.rules import DGv1, RuleBrokenError, Rules
from driftgames.potentials import Potential
from driftgames.potentials.minimax import ChipLoss


@dataclass(frozen=True)
class Turn(Displayed):
    """One round: the distribution, the moves, and the chips after them."""

    p: FloatArray
    moves: FloatArray
    chips: Chips

    def _headline(self) -> str:
        return f"round {self.chips.t:,}, {self.p.size:,} chips"

    def _columns(self) -> Fields:
        cells = {"p": self.p, "move": self.moves, "position": self.chips.positions}
        return {"chip": range(self.p.size), **cells}

    def _sketch(self) -> Sketch:
        return self.chips._sketch()


MOST_GAMES = 10**12
"""The most games that `worst_case` plays; their number grows exponentially."""

Observer = Callable[[Turn], Any]


def play(
    player: Player,
    adversary: Adversary,
    *,
    n_chips: int,
    horizon: int,
    rules: Rules | None = None,
    observers: Mapping[str, Observer] | None = None,
    record: bool = False,
    rng: np.random.Generator | int = 0,
    show_progress: bool = True,
) -> GameRecord:
    """Play ``horizon`` rounds and return the record of the game.

    Every distribution and every move is checked against the ``rules``. Default: the game that the
    adversary plays, or else DGv1. ``record`` keeps all rounds, for `GameRecord.table`, ``plot``
    and ``animate``.

    >>> from driftgames.games import PotentialPlayer, StochasticAdversary, weights
    >>> from driftgames.potentials import NormalHedgeDT
    >>> record = play(PotentialPlayer(NormalHedgeDT()), StochasticAdversary(best=2, gap=0.3),
    ...               n_chips=5, horizon=200, observers={"weights": weights})
    >>> record.seen["weights"][-1].round(2)
    array([0., 0., 1., 0., 0.])
    """
    game = _rules_of(adversary, rules)
    generator = generator_of(rng)
    rounds = check_integer("horizon", horizon, least=1)
    check_flag("record", record)
    rows: list[tuple[FloatArray, FloatArray]] = []
    watching = {} if observers is None else observers
    check_kind("observers", watching, Mapping)
    kept: dict[str, list[Any]] = {name: [] for name in watching}
    chips = Chips.at_start(n_chips)
    with progress("playing", rounds, "rounds", show=show_progress) as advance:
        for _ in range(rounds):
            p = check_distribution("the player's distribution", player.distribution(chips), n_chips)
            moves = check_vector("moves", adversary.moves(chips, p, generator), n_chips)
            game.check(p, moves)
            chips = move(chips, moves)
            player.observe(moves)
            for name, observer in watching.items():
                kept[name].append(observer(Turn(p, moves, chips)))
            if record:
                rows.append((p.copy(), moves.copy()))
            advance(1)
    seen = {name: np.asarray(entries) for name, entries in kept.items()}
    if not record:
        return GameRecord(chips, seen)
    played, moved = (np.array(each) for each in zip(*rows, strict=True))
    potential = getattr(player, "potential", None)
    known = potential if isinstance(potential, Potential) else None
    return GameRecord(chips, seen, History.of_rounds(played, moved, known))


def _rules_of(adversary: Adversary, rules: Rules | None) -> Rules:
    """Return the rules to check; raise ValueError if the adversary plays by others."""
    own = getattr(adversary, "game", None)
    if rules is None:
        return DGv1() if own is None else own
    if own is not None and type(own) is not type(rules):
        raise ValueError(f"the adversary plays another game: it plays {own}, the rules are {rules}")
    return rules


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
    choices = check_vector("moves", moves)
    n = check_integer("n_chips", n_chips, least=1)
    if n * rounds * math.log(max(choices.size, 1)) > math.log(MOST_GAMES):
        raise ValueError(
            f"len(moves) ** (n_chips * horizon) must be at most {MOST_GAMES:g}; "
            f"got {choices.size} ** ({n} * {rounds})"
        )
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
