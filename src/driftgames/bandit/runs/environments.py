"""Environments make the losses: in advance, or in answer to the player."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import log, log_all
from driftgames._kernels.jit import scalar
from driftgames.bandit.types import Respond
from driftgames.core.checks import check_between, check_integer, check_range, check_vector
from driftgames.core.generators import check_generator
from driftgames.core.typing import FloatArray


class Environment(ABC):
    """Makes losses in [0, 1], one per arm and round."""

    @property
    @abstractmethod
    def n_arms(self) -> int:
        """The number of arms."""

    @property
    def gaps(self) -> FloatArray | None:
        """The mean loss of each arm less that of the best arm; None, the default, if it changes."""
        return None


class Oblivious(Environment):
    """An environment whose losses do not depend on the player."""

    @abstractmethod
    def losses(self, first_round: int, n_rounds: int, rng: np.random.Generator) -> FloatArray:
        """Return the losses of the rounds from the 1-based ``first_round`` on, one row each."""


def _check_rounds(first_round: int, n_rounds: int, rng: np.random.Generator) -> tuple[int, int]:
    check_generator("rng", rng)
    first = check_integer("first_round", first_round, least=1)
    return first, check_integer("n_rounds", n_rounds, least=0)


class Adaptive(Environment):
    """A non-oblivious adversary: it knows the distribution, not the arm that will be drawn."""

    @property
    @abstractmethod
    def respond(self) -> Respond:
        """A compiled ``respond(t, p, losses)`` that writes the losses of round ``t``."""


@dataclass(frozen=True, eq=False)
class BernoulliArms(Oblivious):
    """Losses are coin flips, the same coins in every round.

    >>> BernoulliArms.with_gap(3, 0.1).means
    array([0.4, 0.5, 0.5])
    """

    means: FloatArray

    def __post_init__(self) -> None:
        means = check_vector("means", self.means)
        check_range("means", means, 0.0, 1.0)
        object.__setattr__(self, "means", means)

    @classmethod
    def with_gap(cls, n_arms: int, gap: float) -> BernoulliArms:
        """Return coins of which the first shows a loss with chance 1/2 - gap, the others 1/2."""
        means = np.full(check_integer("n_arms", n_arms, least=1), 0.5)
        means[0] -= check_between("gap", gap, 0.0, 0.5)
        return cls(means)

    @property
    def n_arms(self) -> int:
        """The number of coins."""
        return int(self.means.size)

    @property
    def gaps(self) -> FloatArray:
        """The mean of each coin less the least one."""
        return np.asarray(self.means - self.means.min())

    def losses(self, first_round: int, n_rounds: int, rng: np.random.Generator) -> FloatArray:
        """Flip all coins."""
        n_rounds = _check_rounds(first_round, n_rounds, rng)[1]
        return (rng.random((n_rounds, self.n_arms)) < self.means).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _OfSize(Environment):
    """An environment of a number of arms."""

    arms: int

    def __post_init__(self) -> None:
        check_integer("arms", self.arms, least=1)

    @property
    def n_arms(self) -> int:
        """The number of arms."""
        return self.arms


@dataclass(frozen=True, eq=False)
class Moody(_OfSize, Oblivious):
    """Coins whose chances drift up and down together, the best one always ahead by ``gap``.

    In calm times nearly all losses are 0, and in bad times nearly all are 1. The times change
    after phases that grow by a factor of 1.6. The best arm never changes, yet averages mislead a
    policy. This is the stochastically constrained adversary of Zimmert and Seldin (2021, Sec. 7).
    """

    gap: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("gap", self.gap, 0.0, 1.0)

    @property
    def gaps(self) -> FloatArray:
        """0 for the first arm and ``gap`` for all others."""
        gaps = np.full(self.arms, self.gap)
        gaps[0] = 0.0
        return gaps

    def losses(self, first_round: int, n_rounds: int, rng: np.random.Generator) -> FloatArray:
        """Flip the coins of these rounds."""
        first_round, n_rounds = _check_rounds(first_round, n_rounds, rng)
        rounds = np.arange(first_round, first_round + n_rounds, dtype=np.float64)
        phase = np.floor(log_all(rounds) / log(1.6)).astype(np.int64)
        calm = (phase % 2 == 0)[:, np.newaxis]
        means = np.where(calm, self.gaps, 1.0 - self.gap + self.gaps)
        return (rng.random((n_rounds, self.arms)) < means).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Switching(_OfSize, Oblivious):
    """Coins of chance 1/2, but for one of chance ``1/2 - gap`` that changes every ``period``."""

    gap: float = 0.1
    period: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("gap", self.gap, 0.0, 0.5)
        check_integer("period", self.period, least=1)

    def losses(self, first_round: int, n_rounds: int, rng: np.random.Generator) -> FloatArray:
        """Flip the coins of these rounds."""
        first_round, n_rounds = _check_rounds(first_round, n_rounds, rng)
        rounds = np.arange(first_round, first_round + n_rounds)
        means = np.full((n_rounds, self.arms), 0.5)
        means[np.arange(n_rounds), (rounds - 1) // self.period % self.arms] -= self.gap
        return (rng.random((n_rounds, self.arms)) < means).astype(np.float64)


@dataclass(frozen=True)
class Spiteful(_OfSize, Adaptive):
    """A loss of 1 for the player's favourite arm (the first of them) and 0 for all others."""

    @property
    def respond(self) -> Respond:
        """Compiled."""
        return _spite


@dataclass(frozen=True)
class Lure(_OfSize, Adaptive):
    """Lets an arm win until the player trusts it: an arm loses as often as it is trusted.

    The loss of an arm is 1 where its probability exceeds 1/2, and else its probability.
    """

    @property
    def respond(self) -> Respond:
        """Compiled."""
        return _lure


@scalar
def _spite(t: float, p: FloatArray, losses: FloatArray) -> None:
    losses[:] = 0.0
    losses[np.argmax(p)] = 1.0


@scalar
def _lure(t: float, p: FloatArray, losses: FloatArray) -> None:
    for arm in range(p.size):
        losses[arm] = 1.0 if p[arm] > 0.5 else p[arm]
