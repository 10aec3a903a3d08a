"""What draws the arms and learns from their losses, apart from names, ranges and files.

An engine holds one estimated loss per arm and a few scalars; all else follows from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels import bandit_clock as clock
from driftgames._kernels.bandit_exponential import IntArray, Respond
from driftgames._kernels.bandit_tsallis import pick
from driftgames._kernels.bandit_uniforms import take_uniform
from driftgames.core.checks import check_between, check_finite, check_range
from driftgames.core.typing import FloatArray
from driftgames.potentials import Potential

Draw = Callable[[int, int], tuple[int, float]]
Learn = Callable[[int, float, float], None]
Source = tuple[int, int]
"""The addresses of a generator, as `addresses_of` gives them."""

LONGEST = 2.0**53
"""Beyond this round a clock in floating point stands still."""


class Engine(ABC):
    """The moving part of a policy; losses are in [0, 1] and arms are indices.

    ``draw(function, state)`` returns an arm and its probability, ``learn(arm, loss, chance)``
    takes the loss, to be divided by ``chance``: the probability and gamma. Both are attributes,
    so that a stream calls the kernels without detours. ``numbers`` begins with those of
    `driftgames._kernels.bandit_clock`.
    """

    estimates: FloatArray
    numbers: FloatArray
    draw: Draw
    learn: Learn
    most_gamma: float | None = None
    """The largest gamma there may be, where it falls over time."""
    least_estimate: float = 0.0
    """No estimate is below it."""

    def __getstate__(self) -> dict[str, Any]:
        # all that `bind` makes belongs to this object alone
        kept = {"estimates", "numbers", "potential"}
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.bind()

    @property
    def t(self) -> int:
        """How many arms were pulled."""
        return int(self.numbers[clock.ROUND])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses learnt from."""
        return float(self.numbers[clock.LEARNER_LOSS])

    @property
    def answered(self) -> int:
        """How many pulls had their loss."""
        return int(self.numbers[clock.ANSWERED])

    @property
    def delay(self) -> int:
        """The sum over the pulls of how many earlier ones waited for their loss."""
        return int(self.numbers[clock.DELAY])

    @property
    def drift(self) -> float:
        """The same sum, each pull's number multiplied by its learning rate."""
        return float(self.numbers[clock.DRIFT])

    @abstractmethod
    def distribution(self) -> FloatArray:
        """Return the probabilities of the next round and change nothing."""

    @property
    @abstractmethod
    def gamma(self) -> float:
        """What the last pull adds to its probability before its loss is divided by it."""

    @abstractmethod
    def bind(self) -> None:
        """Make all that follows from the state; called when an array was replaced."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring what follows from the state up to date; called when its numbers were changed."""

    def restore(self, estimates: npt.NDArray[Any], numbers: npt.NDArray[Any]) -> None:
        """Take the numbers of a file, or say why no game can have left them."""
        pairs = (("estimates", estimates, self.estimates), ("numbers", numbers, self.numbers))
        for name, saved, own in pairs:
            if saved.shape != own.shape or saved.dtype != own.dtype:
                wanted, found = f"{own.dtype}{list(own.shape)}", f"{saved.dtype}{list(saved.shape)}"
                raise ValueError(f"{name} must be {wanted}; got {found}")
        check_finite("estimates", estimates)
        check_range("estimates", estimates, self.least_estimate, np.inf)
        t = _whole("the clock", numbers[clock.ROUND], LONGEST)
        answered = _whole("the number of losses", numbers[clock.ANSWERED], t)
        check_between("the learner's loss", numbers[clock.LEARNER_LOSS], 0.0, answered)
        delay = _whole("the delay", numbers[clock.DELAY], t * (t - 1) / 2)
        most = self.highest_rate(numbers) * delay * (1 + 1e-9)
        check_between("the drift", numbers[clock.DRIFT], 0.0, most)
        self.check(estimates, numbers)
        self.estimates[:], self.numbers[:] = estimates, numbers
        self.refresh()

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return the largest learning rate that an engine with these numbers has had."""
        return 0.0

    @abstractmethod
    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Say what is wrong with the numbers that follow those of the clock."""

    @abstractmethod
    def replay(self, losses: FloatArray, source: Source, drawn: IntArray, paid: FloatArray) -> None:
        """Play the rows of ``losses``; write which arms were drawn and what they cost."""

    @abstractmethod
    def play(
        self,
        respond: Respond,
        losses: FloatArray,
        source: Source,
        drawn: IntArray,
        paid: FloatArray,
    ) -> None:
        """Play against an adversary, who writes a row of ``losses`` each round."""


class PotentialEngine(Engine):
    r"""Algorithm 4 as it is printed, for any potential: O(K) a round.

    .. math:: p_{t,i} \propto \Phi_t(s_{t-1,i}-1) - \Phi_t(s_{t-1,i}+1), \qquad
              s_{t,i} = s_{t-1,i} + \mathbf 1\{i = i_t\}\,\ell_{t,i_t}/p_{t,i_t} - \ell_{t,i_t}

    [LS14, Alg. 4]
    """

    def __init__(self, potential: Potential, n_arms: int) -> None:
        self.potential = potential
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(clock.CLOCK_SIZE)
        self.bind()

    def distribution(self) -> FloatArray:
        """Return the weights of the potential as a distribution."""
        return self.potential.distribution(self.estimates - self.learner_loss, self.t + 1)

    @property
    def gamma(self) -> float:
        """0: losses are divided by the probability itself."""
        return 0.0

    def bind(self) -> None:
        """Bind the two functions of a stream."""
        self.draw, self.learn = self._draw, self._learn

    def refresh(self) -> None:
        """Do nothing: all is computed anew in every round."""

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Say nothing: there are no other numbers."""

    def replay(self, losses: FloatArray, source: Source, drawn: IntArray, paid: FloatArray) -> None:
        """Play the rows, one at a time."""
        for row in range(losses.shape[0]):
            arm, prob = self._draw(*source)
            self._learn(arm, losses[row, arm], prob)
            drawn[row], paid[row] = arm, losses[row, arm]

    def play(
        self,
        respond: Respond,
        losses: FloatArray,
        source: Source,
        drawn: IntArray,
        paid: FloatArray,
    ) -> None:
        """Play against an adversary, one round at a time."""
        play_in_python(self, respond, losses, source, drawn, paid)

    def _draw(self, function: int, state: int) -> tuple[int, float]:
        p = self.distribution()
        clock.count_pull(self.numbers, 0.0)
        arm = pick(p, take_uniform(function, state))
        return arm, float(p[arm])

    def _learn(self, arm: int, loss: float, chance: float) -> None:
        self.estimates[arm] += loss / chance
        clock.count_loss(self.numbers, float(loss))


def play_in_python(
    engine: Engine,
    respond: Respond,
    losses: FloatArray,
    source: Source,
    drawn: IntArray,
    paid: FloatArray,
) -> None:
    """Play against an adversary that is not compiled."""
    for row in range(losses.shape[0]):
        respond(engine.t + 1.0, engine.distribution(), losses[row])
        check_range("the losses of an environment", losses[row], 0.0, 1.0)
        arm, prob = engine.draw(*source)
        engine.learn(arm, float(losses[row, arm]), prob + engine.gamma)
        drawn[row], paid[row] = arm, losses[row, arm]


def _whole(name: str, value: float, most: float) -> float:
    """Return ``value``, or say that it is no whole number in ``[0, most]``."""
    if check_between(name, value, 0.0, most) % 1:
        raise ValueError(f"{name} must be a whole number; got {float(value)!r}")
    return float(value)


def is_compiled(respond: Respond) -> bool:
    """Whether an adversary can be bound into a compiled loop."""
    return getattr(respond, "py_func", None) is not None
