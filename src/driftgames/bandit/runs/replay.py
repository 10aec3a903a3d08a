"""Whole games, block by block, with losses at once or late."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftgames._kernels.ranges import all_inside
from driftgames.bandit.engines.engine import PolicyEngine, check_losses
from driftgames.bandit.runs.bandit_run import Recorder
from driftgames.bandit.runs.environments import Adaptive, Environment, Oblivious
from driftgames.bandit.types import Addresses, ArmArray, Replay, Rounds
from driftgames.core.checks import as_floats, check_integer, check_range, unmask
from driftgames.core.typing import FloatArray
from driftgames.core.units import Units

BLOCK = 1 << 16  # losses that are made and played at a time; they fit a cache
LEAST_ROUNDS = 256  # the fewest rounds of a block, for many arms


def check_matrix(
    source: npt.ArrayLike, n_arms: int, horizon: int | None, units: Units
) -> FloatArray:
    """Return a matrix with a column per arm, or say what is wrong with it."""
    matrix = as_floats(units.plural, source)
    if matrix.ndim != 2 or matrix.shape[1] != n_arms:
        wanted = f"(rounds, {n_arms})"
        raise ValueError(f"{units.plural} must be of shape {wanted}; got {matrix.shape}")
    if horizon is not None and horizon != matrix.shape[0]:
        raise ValueError(f"the matrix has {matrix.shape[0]} rounds; got horizon={horizon}")
    return matrix


def check_environment(environment: Environment, n_arms: int, horizon: int | None) -> int:
    """Return the number of rounds, or say why they cannot be played."""
    arms = check_integer("n_arms of the environment", environment.n_arms, least=1)
    if arms != n_arms:
        raise ValueError(f"the environment has {arms} arms and the policy {n_arms}")
    return check_integer("horizon", horizon, least=1)


def check_delays(delays: npt.ArrayLike, rounds: int) -> Rounds | None:
    """Return one delay per round, or None if all are 0.

    >>> check_delays(2, 3)
    array([2, 2, 2])
    """
    given = np.asarray(unmask("delays", delays))
    if given.dtype.kind not in "iu" or given.shape not in ((), (rounds,)):
        raise ValueError(
            f"delays must be an integer or {rounds} integers; got {given.dtype} of shape "
            f"{given.shape}"
        )
    if given.size and given.min() < 0:
        raise ValueError(f"delays must be nonnegative; got {given.min()}")
    return np.broadcast_to(given.astype(np.int64), rounds) if given.any() else None


class DelayedReplay:
    """Plays rows of losses; the loss of pull t comes right after pull ``t + delays[t]``.

    Losses that are due at the same time come in the order of their pulls. Losses that are due
    after the last row never come.
    """

    def __init__(self, engine: PolicyEngine, delays: Rounds) -> None:
        self._engine, self._delays = engine, delays
        self._waiting: list[tuple[int, int, int, float, float]] = []
        self._t = 0

    def __call__(
        self, losses: FloatArray, addresses: Addresses, drawn: ArmArray, paid: FloatArray
    ) -> None:
        """Play the rows, as `PolicyEngine.play` does without delays."""
        engine, waiting = self._engine, self._waiting
        for row in range(losses.shape[0]):
            arm, prob = engine.draw(*addresses)
            loss, t = float(losses[row, arm]), self._t
            due = t + int(self._delays[t])
            heapq.heappush(waiting, (due, t, arm, loss, prob + engine.gamma))
            while waiting and waiting[0][0] <= t:
                engine.learn(*heapq.heappop(waiting)[2:])
            drawn[row], paid[row] = arm, loss
            self._t += 1


def play(
    replay: Replay,
    addresses: Addresses,
    losses_of: Callable[[slice], FloatArray],
    rounds: int,
    n_arms: int,
    points: int,
) -> Recorder:
    """Play block by block; ``losses_of`` gives the losses of these rounds, on [0, 1]."""
    recorder = Recorder(rounds, n_arms, points)
    step = max(LEAST_ROUNDS, BLOCK // n_arms)
    for start in range(0, rounds, step):
        block = slice(start, min(start + step, rounds))
        losses = losses_of(block)
        replay(losses, addresses, recorder.drawn[block], recorder.paid[block])
        recorder.add(losses, block)
    return recorder


def losses_in(matrix: FloatArray, units: Units, block: slice) -> FloatArray:
    """Return the losses of a block of rows of numbers in these units."""
    numbers = np.ascontiguousarray(matrix[block])
    if not all_inside(numbers.ravel(), units.low, units.high):
        check_range(units.plural, matrix, units.low, units.high)
    return units.to_game(numbers)


def losses_from(
    environment: Environment, first: int, rng: np.random.Generator, block: slice
) -> FloatArray:
    """Return the losses of a block of rounds after ``first - 1`` others; an adversary's are 0."""
    shape = block.stop - block.start, environment.n_arms
    if not isinstance(environment, Oblivious):
        assert isinstance(environment, Adaptive)
        return np.zeros(shape)  # it writes them while the block is played
    given = environment.losses(first + block.start, shape[0], rng)
    losses = np.ascontiguousarray(as_floats("the losses of an environment", given))
    if losses.shape != shape:
        raise ValueError(f"an environment must give losses of shape {shape}; got {losses.shape}")
    check_losses(losses)
    return losses
