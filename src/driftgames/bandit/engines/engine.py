"""Engines draw the arms and learn from their losses; they know no names, units or files.

The state of an engine is one estimated loss per arm and a few scalars. The rounds of most engines
are compiled: one loop, for losses in advance and for an adversary. The loop is a template of the
`Steps` of an engine, and of an environment: ``environment.meet(state, p, row)`` comes before each
draw, where an adversary writes the row of losses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.ranges import all_inside
from driftgames._kernels.templates import Part, as_part, instantiate
from driftgames.bandit.engines.clock_kernels import ANSWERED, DELAY, DRIFT, LEARNER_LOSS, ROUND
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.bandit.types import Addresses, ArmArray, Respond
from driftgames.core.checks import check_between, check_finite, check_range
from driftgames.core.schema import array_of
from driftgames.core.state import LAST_ROUND
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


steps, environment = Part("steps"), Part("environment")


class PolicyEngine(ABC):
    """The moving part of a policy; losses are in [0, 1] and arms are indices.

    ``draw(function, state)`` takes the addresses of a generator and returns an arm and its
    probability. ``learn(arm, loss, chance)`` takes a loss, to be divided by ``chance``, which is
    the probability plus gamma. Both are attributes, so that a stream calls the kernels directly.
    ``numbers`` begins with the numbers of `driftgames.bandit.engines.clock_kernels`.
    """

    steps: ClassVar[Steps | None] = None
    """The functions of compiled rounds, if there are any."""

    estimates: FloatArray
    numbers: FloatArray
    memory: FloatArray | None = None
    """A further array of the state, if the engine has one."""

    _scratch: FloatArray
    draw: Callable[[int, int], tuple[int, float]]
    learn: Callable[[int, float, float], None]
    least_estimate: float = 0.0
    """A lower bound on all estimates."""

    @property
    def t(self) -> int:
        """The number of pulls."""
        return int(self.numbers[ROUND])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses that came."""
        return float(self.numbers[LEARNER_LOSS])

    @property
    def delay(self) -> int:
        """The sum over the pulls of the number of earlier pulls that waited for their loss."""
        return int(self.numbers[DELAY])

    @property
    def drift(self) -> float:
        """The same sum, each term multiplied by the learning rate of its pull."""
        return float(self.numbers[DRIFT])

    # ---------------------------------------------------------------- what an engine must give

    @abstractmethod
    def distribution(self) -> FloatArray:
        """Return the probabilities of the next round and change nothing."""

    @property
    def gamma(self) -> float:
        """The number that the last pull adds to its probability before a loss is divided by it."""
        return 0.0

    def largest_gamma(self, numbers: FloatArray) -> float | None:
        """Return the largest gamma of a game with these numbers; None if gamma is constant."""
        return None

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return the largest learning rate of a game with these numbers."""
        return 0.0

    def bind(self) -> None:  # noqa: B027 (an engine may have nothing to bind)
        """Make all that follows from the state; called after an array was replaced."""

    def refresh(self) -> None:  # noqa: B027 (an engine may have nothing to refresh)
        """Bring all that follows from the state up to date; called after an array changed."""

    def check(  # noqa: B027 (an engine may have no numbers of its own)
        self, estimates: FloatArray, numbers: FloatArray
    ) -> None:
        """Raise ValueError if the numbers that follow those of the clock are impossible."""

    def upgraded(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers of a file, with those that a file of an older version lacks."""
        return numbers

    def check_memory(self, memory: FloatArray) -> None:
        """Raise ValueError if ``memory`` cannot be that of this engine."""
        raise ValueError("this policy has no memory")

    # ---------------------------------------------------------------- what all engines share

    def play(
        self,
        respond: Respond | None,
        losses: FloatArray,
        addresses: Addresses,
        drawn: ArmArray,
        paid: FloatArray,
    ) -> None:
        """Play one round per row of ``losses``; write the drawn arms and their losses.

        An adversary, if there is one, writes the row of its round. If it is not compiled, neither
        are the rounds.
        """
        if self.steps is not None and (respond is None or hasattr(respond, "py_func")):
            state, p = (self.estimates, self._scratch, self.numbers), np.empty(self.estimates.size)
            _compile_loop(self.steps, respond)(state, p, *addresses, losses, drawn, paid)
            if respond is not None:
                check_losses(losses)
            return
        for row in range(losses.shape[0]):
            if respond is not None:
                respond(self.t + 1.0, self.distribution(), losses[row])
                check_losses(losses[row])
            arm, prob = self.draw(*addresses)
            self.learn(arm, float(losses[row, arm]), prob + self.gamma)
            drawn[row], paid[row] = arm, losses[row, arm]

    def check_state(self, estimates: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> None:
        """Raise ValueError if no game can end with these arrays."""
        array_of(self.estimates.size).check("estimates", estimates)
        array_of(self.numbers.size).check("numbers", numbers)
        check_finite("estimates", estimates)
        check_range("estimates", estimates, self.least_estimate, np.inf)
        t = _check_count("the clock", numbers[ROUND], LAST_ROUND)
        answered = _check_count("the number of losses", numbers[ANSWERED], t)
        check_between("the learner's loss", numbers[LEARNER_LOSS], 0.0, answered)
        delay = _check_count("the delay", numbers[DELAY], t * (t - 1) / 2)
        most = self.highest_rate(numbers) * delay * (1 + 1e-9)
        check_between("the drift", numbers[DRIFT], 0.0, most)
        self.check(estimates, numbers)

    def set_state(
        self, estimates: FloatArray, numbers: FloatArray, memory: FloatArray | None = None
    ) -> None:
        """Take over arrays that `check_state` and `check_memory` have passed."""
        self.estimates[:], self.numbers[:] = estimates, numbers  # kernels are bound to the arrays
        if self.memory is not None:
            self.memory[:] = memory
        self.refresh()


def check_losses(losses: FloatArray) -> None:
    """Raise ValueError if an environment gives losses outside [0, 1]."""
    if not all_inside(losses.ravel(), 0.0, 1.0):
        check_range("the losses of an environment", losses, 0.0, 1.0)


def _check_count(name: str, value: float, most: float) -> float:
    """Return ``value``, or say that it is not an integer in ``[0, most]``."""
    if check_between(name, value, 0.0, most) % 1:
        raise ValueError(f"{name} must be a whole number; got {float(value)!r}")
    return float(value)


@kernel
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
        environment.meet(state, p, losses[row])
        arm, prob = steps.draw(state, next_uniform(function, generator))
        steps.learn(state, arm, losses[row, arm], steps.chance(state, prob))
        drawn[row] = arm
        paid[row] = losses[row, arm]


@scalar
def _meet(state: State, p: FloatArray, row: FloatArray) -> None:
    """Let an adversary answer the distribution."""
    steps.distribute(state, p)
    environment.respond(state[2][ROUND] + 1.0, p, row)


@scalar
def _keep_row(state: State, p: FloatArray, row: FloatArray) -> None:
    """Leave the row as it is: its losses were given in advance."""


@cache
def _compile_loop(steps: Steps, respond: Respond | None) -> Callable[..., None]:
    met = as_part("environment", meet=_keep_row if respond is None else _meet, respond=respond)
    return instantiate(_play, steps=steps, environment=met)
