"""Engines whose rounds are compiled: one loop, for losses in advance and for an adversary.

The loop calls the functions of `Steps` by name, and ``meet(state, p, row)`` before each draw, where
an adversary writes the row of losses. `specialise` binds these names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from driftgames._kernels.jit import kernel, scalar, specialise
from driftgames.bandit.clock_kernels import ROUND
from driftgames.bandit.engine import Engine
from driftgames.bandit.types import Addresses, ArmArray, Respond
from driftgames.bandit.uniform_kernels import next_uniform
from driftgames.core.typing import FloatArray

State = tuple[FloatArray, FloatArray, FloatArray]
"""The estimates, an array of the engine's own, and the scalars."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The compiled functions of an engine.

    ``draw(state, uniform)`` returns an arm and its probability, ``chance(state, prob)`` what its
    loss is divided by, and ``learn(state, arm, loss, chance)`` takes the loss.
    ``distribute(state, p)`` writes the probabilities of the next round.
    """

    draw: Callable[[State, float], tuple[int, float]]
    chance: Callable[[State, float], float]
    learn: Callable[[State, int, float, float], None]
    distribute: Callable[[State, FloatArray], None]


draw = chance = learn = distribute = meet = respond = NotImplemented  # for `specialise` to bind


class CompiledEngine(Engine):
    """An engine that plays many rounds in one compiled call."""

    steps: ClassVar[Steps]
    _scratch: FloatArray

    def play(
        self,
        respond: Respond | None,
        losses: FloatArray,
        addresses: Addresses,
        drawn: ArmArray,
        paid: FloatArray,
    ) -> None:
        """Play in one compiled call, unless the adversary is not compiled."""
        if respond is not None and not hasattr(respond, "py_func"):
            return super().play(respond, losses, addresses, drawn, paid)
        state, p = (self.estimates, self._scratch, self.numbers), np.empty(self.estimates.size)
        return _compile_loop(self.steps, respond)(state, p, *addresses, losses, drawn, paid)


def _play(
    state: State,
    p: FloatArray,
    function: int,
    generator: int,
    losses: FloatArray,
    drawn: ArmArray,
    paid: FloatArray,
) -> None:
    """Play one round per row of ``losses``; write the drawn arms and their losses."""
    for row in range(losses.shape[0]):
        meet(state, p, losses[row])
        arm, prob = draw(state, next_uniform(function, generator))
        learn(state, arm, losses[row, arm], chance(state, prob))
        drawn[row] = arm
        paid[row] = losses[row, arm]


def _meet(state: State, p: FloatArray, row: FloatArray) -> None:
    """Let an adversary answer the distribution."""
    distribute(state, p)
    respond(state[2][ROUND] + 1.0, p, row)


@scalar
def _meet_nobody(state: State, p: FloatArray, row: FloatArray) -> None:
    """Do nothing: the losses are there."""


@cache
def _compile_loop(steps: Steps, respond: Respond | None) -> Callable[..., None]:
    meet = _meet_nobody
    if respond is not None:
        meet = specialise(_meet, scalar, respond=respond, distribute=steps.distribute)
    return specialise(
        _play, kernel, meet=meet, draw=steps.draw, chance=steps.chance, learn=steps.learn
    )
