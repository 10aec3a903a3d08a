"""Algorithm 4 for any potential: the engine of `PotentialBandit` beyond EXP3."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.distribution import draw as draw_index
from driftgames.bandit import clock_kernels as clock
from driftgames.bandit.engine import Engine
from driftgames.bandit.types import Addresses, ArmArray
from driftgames.bandit.uniform_kernels import take_uniform
from driftgames.core.typing import FloatArray
from driftgames.potentials import Potential


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

    def bind(self) -> None:
        """Bind the two functions of a stream."""
        self.draw, self.learn = self._draw, self._learn

    def replay(
        self, losses: FloatArray, addresses: Addresses, drawn: ArmArray, paid: FloatArray
    ) -> None:
        """Play the rows, one at a time."""
        for row in range(losses.shape[0]):
            arm, prob = self._draw(*addresses)
            self._learn(arm, losses[row, arm], prob)
            drawn[row], paid[row] = arm, losses[row, arm]

    def _draw(self, function: int, state: int) -> tuple[int, float]:
        p = self.distribution()
        clock.count_pull(self.numbers, 0.0)
        arm = draw_index(p, take_uniform(function, state))
        return arm, float(p[arm])

    def _learn(self, arm: int, loss: float, chance: float) -> None:
        self.estimates[arm] += loss / chance
        clock.count_loss(self.numbers, float(loss))
