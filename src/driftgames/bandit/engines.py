"""What draws the arms and learns from their losses, apart from names, ranges and files.

An engine holds one estimated loss per arm and a few scalars; all else follows from them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from driftgames._kernels.bandit_exponential import IntArray, Respond
from driftgames._kernels.bandit_tsallis import pick
from driftgames._kernels.bandit_uniforms import take_uniform
from driftgames._support.checks import FloatArray, check_range
from driftgames.potentials import Potential

Draw = Callable[[int, int], tuple[int, float]]
Learn = Callable[[int, float, float], None]
Source = tuple[int, int]
"""The addresses of a generator, as `addresses_of` gives them."""


class Engine(ABC):
    """The moving part of a policy; losses are in [0, 1] and arms are indices.

    ``draw(function, state)`` returns an arm and its probability, ``learn(arm, loss, prob)``
    takes the loss; both are attributes, so that a stream calls the kernels without detours.
    """

    estimates: FloatArray
    numbers: FloatArray
    draw: Draw
    learn: Learn

    def __getstate__(self) -> dict[str, Any]:
        # all that `bind` makes belongs to this object alone
        kept = {"estimates", "numbers", "potential"}
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.bind()

    @property
    @abstractmethod
    def t(self) -> int:
        """How many arms were pulled."""

    @property
    @abstractmethod
    def learner_loss(self) -> float:
        """The sum of the losses learnt from."""

    @abstractmethod
    def distribution(self) -> FloatArray:
        """Return the probabilities of the next round and change nothing."""

    @abstractmethod
    def bind(self) -> None:
        """Make all that follows from the state; called when an array was replaced."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring what follows from the state up to date; called when its numbers were changed."""

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
        self.numbers = np.zeros(2)  # the clock and the learner's loss
        self.bind()

    @property
    def t(self) -> int:
        """How many arms were pulled."""
        return int(self.numbers[0])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses learnt from."""
        return float(self.numbers[1])

    def distribution(self) -> FloatArray:
        """Return the weights of the potential as a distribution."""
        return self.potential.distribution(self.estimates - self.numbers[1], self.t + 1)

    def bind(self) -> None:
        """Bind the two functions of a stream."""
        self.draw, self.learn = self._draw, self._learn

    def refresh(self) -> None:
        """Do nothing: all is computed anew in every round."""

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
        self.numbers[0] += 1.0
        arm = pick(p, take_uniform(function, state))
        return arm, float(p[arm])

    def _learn(self, arm: int, loss: float, prob: float) -> None:
        self.estimates[arm] += loss / prob
        self.numbers[1] += loss


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
        engine.learn(arm, float(losses[row, arm]), prob)
        drawn[row], paid[row] = arm, losses[row, arm]


def is_compiled(respond: Respond) -> bool:
    """Whether an adversary can be bound into a compiled loop."""
    return getattr(respond, "py_func", None) is not None
