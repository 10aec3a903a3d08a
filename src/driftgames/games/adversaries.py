"""Adversaries move the chips, within the rules of the game."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from driftgames._kernels.sums import dot, matvec
from driftgames.core.checks import check_between, check_integer, check_kind
from driftgames.core.text import shown
from driftgames.core.typing import FloatArray
from driftgames.games.chips import Chips, hedge_moves
from driftgames.games.rules import TOLERANCE, DGv1, DriftingGame
from driftgames.potentials import Potential

ENUMERATED = 4096
"""The largest number of joint moves that the greedy adversary enumerates."""


class Adversary(Protocol):
    """An adversary sees the player's distribution, then moves the chips."""

    def moves(self, chips: Chips, p: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the move of each chip."""


@dataclass(frozen=True)
class RandomAdversary:
    """Moves at random: in DGv1 by random losses, in the original game by moves of B."""

    game: DGv1 | DriftingGame = field(default_factory=DGv1)

    def __post_init__(self) -> None:
        _check_game(self.game)

    def moves(self, chips: Chips, p: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return random moves that the game allows."""
        if isinstance(self.game, DriftingGame):
            choices = np.asarray(self.game.moves, dtype=np.float64)
            return _push_up_to(self.game, p, rng.choice(choices, size=p.size))
        # powers of a uniform number: losses near 0, near 1, or spread between
        losses = _to_power_of_two(rng.random(p.size), int(rng.integers(-2, 3)))
        z = hedge_moves(losses, dot(p, losses))
        return np.asarray(z + rng.random() * (1 - z.max()) * rng.integers(2))


@dataclass(frozen=True)
class StochasticAdversary:
    """Losses are 0 or 1 with probability 1/2; one chip has a loss of 1 less often, by ``gap``."""

    best: int = 0
    gap: float = 0.1

    game: ClassVar[DGv1] = DGv1()

    def __post_init__(self) -> None:
        check_integer("best", self.best, least=0)
        check_between("gap", self.gap, 0.0, 0.5)

    def moves(self, chips: Chips, p: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the moves that correspond to these losses. [LS14, Alg. 2]"""
        if self.best >= p.size:
            raise ValueError(f"best must be one of the {p.size} chips; got {self.best}")
        chances = np.full(p.size, 0.5)
        chances[self.best] -= self.gap
        losses = (rng.random(p.size) < chances).astype(np.float64)
        return hedge_moves(losses, dot(p, losses))


@dataclass(frozen=True)
class GreedyAdversary:
    r"""Maximises :math:`\sum_i \Phi_t(s_i + z_i)` over moves that the game allows.

    In DGv1 the maximum is at :math:`z = \ell - p\cdot\ell` with every loss 0 or 1, because the
    sum is convex in the losses and decreases to the right. If there are at most `ENUMERATED` such
    losses, all are tried. If there are more, the maximum is approximated: the losses split the
    chips in the order of their positions or of their probabilities. In the original game all
    chips are then moved to the right, and afterwards to the left in the order of their gain per
    unit of probability.
    """

    potential: Potential
    game: DGv1 | DriftingGame = field(default_factory=DGv1)

    def __post_init__(self) -> None:
        check_kind("potential", self.potential, Potential)
        _check_game(self.game)

    def moves(self, chips: Chips, p: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return the candidate moves with the largest next sum of potentials."""
        if isinstance(self.game, DriftingGame):
            candidates = self._drifting(self.game, chips, p)
        else:
            losses = zero_one_losses(chips, p)
            candidates = losses - matvec(losses, p)[:, np.newaxis]
        ends = chips.positions + candidates
        values = np.asarray(self.potential.value(ends.ravel(), chips.t + 1), dtype=np.float64)
        sums = matvec(values.reshape(ends.shape), np.ones(p.size))
        return np.asarray(candidates[int(np.argmax(sums))])

    def _drifting(self, game: DriftingGame, chips: Chips, p: FloatArray) -> FloatArray:
        choices = np.sort(np.asarray(game.moves, dtype=np.float64))
        least = game.beta - TOLERANCE
        if choices.size**p.size <= ENUMERATED:
            joint = _joint(tuple(choices), p.size)
            return np.asarray(joint[matvec(joint, p) >= least])
        z = np.full(p.size, choices[-1])
        t = chips.t + 1
        for lower in choices[-2::-1]:
            here = self.potential.value(chips.positions + z, t)
            gain = self.potential.value(chips.positions + lower, t) - here
            cost = p * (z - lower)
            for i in np.argsort(-gain / np.where(cost > 0, cost, np.inf), kind="stable"):
                if dot(p, z) - cost[i] >= least and gain[i] > 0:
                    z[i] = lower
        return z[np.newaxis, :]


def _check_game(game: object) -> None:
    if not isinstance(game, DGv1 | DriftingGame):
        raise ValueError(f"game must be DGv1 or DriftingGame; got {shown(game)}")


def zero_one_losses(chips: Chips, p: FloatArray) -> FloatArray:
    """Return candidate losses of 0 and 1, one row each.

    All of them if there are at most `ENUMERATED`. Otherwise those that split the chips in the
    order of their positions or of their probabilities.
    """
    n = p.size
    if 2**n <= ENUMERATED:
        return _joint((0.0, 1.0), n)
    below = np.tri(n + 1, n, -1)  # row k has its first k entries 1
    ranks = [np.argsort(np.argsort(key, kind="stable")) for key in (chips.positions, p)]
    if (ranks[0] + ranks[1] == n - 1).all():  # weights fall with the position: the same splits
        ranks.pop()
    splits = [below[:, rank] for rank in ranks]
    return np.concatenate([half for split in splits for half in (split, 1.0 - split)])


@functools.lru_cache(maxsize=16)
def _joint(choices: tuple[float, ...], n: int) -> FloatArray:
    """Return every row of ``n`` choices. All callers share the array and only read it."""
    return np.array(list(itertools.product(choices, repeat=n)))


def _to_power_of_two(x: FloatArray, exponent: int) -> FloatArray:
    """Return ``x ** 2 ** exponent`` by squares or square roots; all machines round them alike."""
    for _ in range(abs(exponent)):
        x = x * x if exponent > 0 else np.sqrt(x)
    return x


def _push_up_to(game: DriftingGame, p: FloatArray, z: FloatArray) -> FloatArray:
    """Give chips the largest move of B, one after another, until the average reaches beta."""
    for i in np.argsort(-p, kind="stable"):
        if dot(p, z) >= game.beta:
            break
        z[i] = max(game.moves)
    return z
