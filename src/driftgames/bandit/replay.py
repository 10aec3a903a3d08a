"""Whole games in compiled loops, block by block."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bandit_exponential import IntArray
from driftgames._kernels.bandit_totals import count_outside
from driftgames.bandit.engines import Engine, Source
from driftgames.bandit.environments import Adaptive, Environment, Oblivious
from driftgames.bandit.run import Recorder
from driftgames.bandit.units import Units
from driftgames.core.checks import as_floats, check_integer, check_range
from driftgames.core.typing import FloatArray

BLOCK = 1 << 16  # entries of a loss matrix that are made and played at a time, and fit a cache
LEAST_ROUNDS = 256  # of a block, however many arms there are


Replay = Callable[[FloatArray, Source, IntArray, FloatArray], None]
"""`Engine.replay`, or `LateReplay`."""


def check_matrix(
    source: npt.ArrayLike, n_arms: int, horizon: int | None, units: Units
) -> FloatArray:
    """Return a matrix with a column per arm, or say in what it is another."""
    matrix = as_floats(units.plural, source)
    if matrix.ndim != 2 or matrix.shape[1] != n_arms:
        wanted = f"(rounds, {n_arms})"
        raise ValueError(f"{units.plural} must be of shape {wanted}; got {matrix.shape}")
    if horizon is not None and horizon != matrix.shape[0]:
        raise ValueError(f"the matrix has {matrix.shape[0]} rounds; got horizon={horizon}")
    return matrix


def check_environment(environment: Environment, n_arms: int, horizon: int | None) -> int:
    """Return how many rounds to play, or say why they cannot be played."""
    if environment.n_arms != n_arms:
        raise ValueError(f"the environment has {environment.n_arms} arms and the policy {n_arms}")
    return check_integer("horizon", horizon, least=1)


def play_matrix(
    replay: Replay, source: Source, matrix: FloatArray, units: Units, points: int
) -> Recorder:
    """Play one round per row, of numbers in these units."""
    rounds, n_arms = matrix.shape
    recorder = Recorder(rounds, n_arms, points)
    for part in _blocks(rounds, n_arms):
        numbers = np.ascontiguousarray(matrix[part])
        if count_outside(numbers, units.low, units.high):
            check_range(units.plural, matrix, units.low, units.high)
        losses = units.to_game(numbers)
        replay(losses, source, recorder.drawn[part], recorder.paid[part])
        recorder.take(losses, part)
    return recorder


def play_environment(
    engine: Engine,
    replay: Replay,
    source: Source,
    environment: Environment,
    rounds: int,
    rng: np.random.Generator,
    points: int,
) -> Recorder:
    """Play against an environment, whose losses are in [0, 1].

    ``replay`` is for the losses of an `Oblivious` environment.
    """
    n_arms, first = environment.n_arms, engine.t + 1
    recorder = Recorder(rounds, n_arms, points)
    for part in _blocks(rounds, n_arms):
        drawn, paid = recorder.drawn[part], recorder.paid[part]
        count = part.stop - part.start
        if isinstance(environment, Oblivious):
            losses = environment.losses(first + part.start, count, rng)
            _must_be_losses(losses, (count, n_arms))
            replay(losses, source, drawn, paid)
        else:
            assert isinstance(environment, Adaptive)
            losses = np.zeros((count, n_arms))
            engine.play(environment.respond, losses, source, drawn, paid)
            _must_be_losses(losses, (count, n_arms))
        recorder.take(losses, part)
    return recorder


@contextlib.contextmanager
def all_or_nothing(engine: Engine, rng: np.random.Generator) -> Iterator[None]:
    """Put engine and generator back where they were if an error comes."""
    before = (engine.estimates.copy(), engine.numbers.copy(), rng.bit_generator.state)
    try:
        yield
    except BaseException:
        # in place, for others hold these arrays too
        engine.estimates[:], engine.numbers[:], rng.bit_generator.state = before
        engine.refresh()
        raise


def _blocks(rounds: int, n_arms: int) -> Iterator[slice]:
    step = max(LEAST_ROUNDS, BLOCK // n_arms)
    for start in range(0, rounds, step):
        yield slice(start, min(start + step, rounds))


def _must_be_losses(losses: FloatArray, shape: tuple[int, int]) -> None:
    if losses.shape != shape:
        raise ValueError(f"an environment must give losses of shape {shape}; got {losses.shape}")
    if count_outside(losses, 0.0, 1.0):
        check_range("the losses of an environment", losses, 0.0, 1.0)
