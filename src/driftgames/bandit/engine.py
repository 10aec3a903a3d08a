"""Engines draw the arms and learn from their losses; they know no names, units or files.

The state of an engine is one estimated loss per arm and a few scalars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.bandit import clock_kernels as clock
from driftgames.bandit.types import Addresses, ArmArray, Respond
from driftgames.core.checks import check_between, check_finite, check_range
from driftgames.core.state import LAST_ROUND
from driftgames.core.typing import FloatArray


class Engine(ABC):
    """The moving part of a policy; losses are in [0, 1] and arms are indices.

    ``draw(function, state)`` takes the addresses of a generator and returns an arm and its
    probability. ``learn(arm, loss, chance)`` takes a loss, to be divided by ``chance``, which is
    the probability plus gamma. Both are attributes, so that a stream calls the kernels directly.
    ``numbers`` begins with the numbers of `driftgames.bandit.clock_kernels`.
    """

    estimates: FloatArray
    numbers: FloatArray
    draw: Callable[[int, int], tuple[int, float]]
    learn: Callable[[int, float, float], None]
    least_estimate: float = 0.0
    """A lower bound on all estimates."""

    @property
    def t(self) -> int:
        """The number of pulls."""
        return int(self.numbers[clock.ROUND])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses that came."""
        return float(self.numbers[clock.LEARNER_LOSS])

    @property
    def delay(self) -> int:
        """The sum over the pulls of the number of earlier pulls that waited for their loss."""
        return int(self.numbers[clock.DELAY])

    @property
    def drift(self) -> float:
        """The same sum, each term multiplied by the learning rate of its pull."""
        return float(self.numbers[clock.DRIFT])

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

    @abstractmethod
    def bind(self) -> None:
        """Make all that follows from the state; called after an array was replaced."""

    def refresh(self) -> None:  # noqa: B027 (an engine may have nothing to refresh)
        """Bring all that follows from the state up to date; called after an array changed."""

    def check(  # noqa: B027 (an engine may have no numbers of its own)
        self, estimates: FloatArray, numbers: FloatArray
    ) -> None:
        """Raise ValueError if the numbers that follow those of the clock are impossible."""

    # ---------------------------------------------------------------- what all engines share

    def replay(
        self, losses: FloatArray, addresses: Addresses, drawn: ArmArray, paid: FloatArray
    ) -> None:
        """Play one round per row of ``losses``; write the drawn arms and their losses."""
        self.play(None, losses, addresses, drawn, paid)

    def play(
        self,
        respond: Respond | None,
        losses: FloatArray,
        addresses: Addresses,
        drawn: ArmArray,
        paid: FloatArray,
    ) -> None:
        """Play against an adversary, if there is one, which writes a row of losses each round."""
        for row in range(losses.shape[0]):
            if respond is not None:
                respond(self.t + 1.0, self.distribution(), losses[row])
                check_range("the losses of an environment", losses[row], 0.0, 1.0)
            arm, prob = self.draw(*addresses)
            self.learn(arm, float(losses[row, arm]), prob + self.gamma)
            drawn[row], paid[row] = arm, losses[row, arm]

    def check_state(self, estimates: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> None:
        """Raise ValueError if no game can end with these arrays."""
        pairs = (("estimates", estimates, self.estimates), ("numbers", numbers, self.numbers))
        for name, saved, own in pairs:
            if (saved.shape, saved.dtype) != (own.shape, own.dtype):
                wanted, found = f"{own.dtype}{list(own.shape)}", f"{saved.dtype}{list(saved.shape)}"
                raise ValueError(f"{name} must be {wanted}; got {found}")
        check_finite("estimates", estimates)
        check_range("estimates", estimates, self.least_estimate, np.inf)
        t = _check_count("the clock", numbers[clock.ROUND], LAST_ROUND)
        answered = _check_count("the number of losses", numbers[clock.ANSWERED], t)
        check_between("the learner's loss", numbers[clock.LEARNER_LOSS], 0.0, answered)
        delay = _check_count("the delay", numbers[clock.DELAY], t * (t - 1) / 2)
        most = self.highest_rate(numbers) * delay * (1 + 1e-9)
        check_between("the drift", numbers[clock.DRIFT], 0.0, most)
        self.check(estimates, numbers)

    def set_state(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Take over arrays that `check_state` has passed."""
        self.estimates[:], self.numbers[:] = estimates, numbers  # kernels are bound to the arrays
        self.refresh()


def _check_count(name: str, value: float, most: float) -> float:
    """Return ``value``, or say that it is not an integer in ``[0, most]``."""
    if check_between(name, value, 0.0, most) % 1:
        raise ValueError(f"{name} must be a whole number; got {float(value)!r}")
    return float(value)
