"""The engine of Tsallis-INF."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from driftgames.bandit import tsallis_kernels as kernels
from driftgames.bandit.engine import Engine
from driftgames.bandit.types import Addresses, ArmArray, Respond
from driftgames.bandit.uniform_kernels import take_uniforms
from driftgames.core.checks import check_between
from driftgames.core.typing import FloatArray


class TsallisEngine(Engine):
    """Solves for the probabilities in each round, starting at the solution of the last round."""

    def __init__(self, n_arms: int, *, reduced_variance: bool, adapt_to_delays: bool) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(kernels.SIZE)
        self.numbers[kernels.ADAPTS] = float(adapt_to_delays)
        self.numbers[kernels.SCALE] = 4.0 if reduced_variance else 2.0
        self.numbers[kernels.BASELINE] = 0.5 if reduced_variance else 0.0
        self.bind()

    def distribution(self) -> FloatArray:
        """Solve for the next round."""
        p = np.empty(self.estimates.size)
        kernels.write_next_distribution(self.estimates, p, self.numbers)
        return p

    def bind(self) -> None:
        """Bind the kernels to the arrays."""
        self._p = np.empty(self.estimates.size)
        self.least_estimate = -np.inf if self.numbers[kernels.BASELINE] > 0 else 0.0
        self.draw = partial(kernels.draw, self.estimates, self._p, self.numbers)
        self.learn = partial(kernels.learn, self.estimates, self.numbers)

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return the learning rate of the first round."""
        return float(self.numbers[kernels.SCALE])

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for an impossible number, or for the constants of another engine."""
        highest = 2.0 * np.sqrt(estimates.size)
        check_between("the start", numbers[kernels.START], 0.0, highest * (1 + 1e-9))
        check_between("the rate", numbers[kernels.RATE], 0.0, self.highest_rate(numbers))
        if numbers[kernels.ALONE] not in (0.0, 1.0):
            raise ValueError(f"alone must be 0 or 1; got {float(numbers[kernels.ALONE])!r}")
        constants = [kernels.SCALE, kernels.BASELINE, kernels.ADAPTS]
        wanted, found = self.numbers[constants].tolist(), numbers[constants].tolist()
        if found != wanted:
            raise ValueError(f"the constants must be {wanted}; got {found}")

    def replay(
        self, losses: FloatArray, addresses: Addresses, drawn: ArmArray, paid: FloatArray
    ) -> None:
        """Play the rows in one compiled call."""
        uniforms = take_uniforms(losses.shape[0], *addresses)
        kernels.replay(self.estimates, self._p, self.numbers, losses, uniforms, drawn, paid)

    def player(self, respond: Respond) -> Callable[..., None]:
        """Return the compiled loop against this adversary."""
        return partial(kernels.player(respond), self.estimates, self._p, self.numbers)
