"""Exponential weights in a sum tree: the engine of EXP3 and EXP3-IX."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from driftgames.bandit import clock_kernels as clock
from driftgames.bandit import exponential_kernels as kernels
from driftgames.bandit.engine import Engine
from driftgames.bandit.schedule import rate_at, sum_until
from driftgames.bandit.types import Rounds
from driftgames.core.checks import check_between, check_positive
from driftgames.core.typing import FloatArray


class ExponentialEngine(Engine):
    r"""Draws with :math:`p_{t,i} \propto e^{-\eta_t \hat L_{t-1,i}}`, in O(log K) a round.

    Parameters
    ----------
    n_arms : int
        K.
    rate : float
        eta, if it is the same in all rounds.
    decay : float
        If it is above 0, eta falls as ``decay / sqrt(t)``; see `driftgames.bandit.schedule`.
    implicit : float
        gamma / eta: losses are estimated as ``loss / (prob + gamma)``.
    """

    steps = kernels.STEPS

    def __init__(
        self, n_arms: int, *, rate: float = 0.0, decay: float = 0.0, implicit: float = 0.0
    ) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(kernels.SIZE)
        self.numbers[kernels.RATE] = rate
        self.numbers[kernels.DECAY] = decay
        self.numbers[kernels.IMPLICIT] = implicit
        self.numbers[kernels.UNTIL] = 1.0 if decay > 0 else math.inf
        self.bind()

    @property
    def rate(self) -> float:
        """The learning rate of the last round."""
        return float(self.numbers[kernels.RATE])

    @property
    def next_rate(self) -> float:
        """The learning rate of the next round."""
        return float(rate_at(self.t + 1, self.decay)) if self.decay > 0 else self.rate

    @property
    def decay(self) -> float:
        """``eta sqrt(t)`` if eta falls over time, else 0."""
        return float(self.numbers[kernels.DECAY])

    @property
    def gamma(self) -> float:
        """Its share of the learning rate of the last round."""
        return float(self.numbers[kernels.IMPLICIT]) * self.rate

    def largest_gamma(self, numbers: FloatArray) -> float | None:
        """Return gamma of the first round if eta falls over time."""
        return float(numbers[kernels.IMPLICIT] * numbers[kernels.DECAY]) or None

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return eta of the first round."""
        return float(numbers[kernels.DECAY] if self.decay > 0 else numbers[kernels.RATE])

    def rates_until(self, horizon: Rounds) -> tuple[FloatArray, FloatArray]:
        """Return eta of round ``horizon`` and the sum of all until then."""
        if self.decay > 0:
            return rate_at(horizon, self.decay), sum_until(horizon, self.decay)
        return np.full_like(horizon, self.rate, dtype=np.float64), np.asarray(self.rate * horizon)

    def distribution(self) -> FloatArray:
        """Return the leaves of the tree over its root."""
        p, tree, numbers = np.empty(self.estimates.size), self._scratch, self.numbers
        if self.t + 1 >= numbers[kernels.UNTIL]:
            tree, numbers = tree.copy(), numbers.copy()  # the pull itself changes eta
            kernels.prepare(self.estimates, tree, numbers)
        kernels.distribute(tree, p)
        return p

    def bind(self) -> None:
        """Lay the state out in one buffer, build the tree and bind the kernels to them."""
        n_arms = self.estimates.size
        arms_changed = self.numbers[kernels.ARMS] != n_arms
        self.numbers[kernels.ARMS] = n_arms
        tree = np.zeros(2 * kernels.capacity(n_arms))
        buffer = np.concatenate([self.numbers, self.estimates, tree])
        self.numbers, self.estimates, self._scratch = kernels.views_of(buffer)
        if arms_changed:  # the old base may be far from the new estimates
            kernels.build(self.estimates, self._scratch, self.numbers)
        else:
            self.refresh()
        self.draw = partial(kernels.draw, buffer)
        self.learn = partial(kernels.learn, buffer)

    def refresh(self) -> None:
        """Build the tree relative to the present base: to the same bits."""
        kernels.weigh_all(self.estimates, self._scratch, self.numbers)

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for the constants of another engine, or for an impossible base."""
        wanted = numbers.copy()
        for constant in (kernels.IMPLICIT, kernels.ARMS):
            wanted[constant] = self.numbers[constant]
        if self.decay > 0:
            check_positive("the decay", numbers[kernels.DECAY])
            wanted[kernels.RATE], wanted[kernels.UNTIL] = 0.0, 1.0
            if numbers[clock.ROUND] > 0:
                kernels.set_rate(wanted, numbers[clock.ROUND])
        else:
            check_positive("the rate", numbers[kernels.RATE])
            wanted[kernels.DECAY], wanted[kernels.UNTIL] = 0.0, math.inf
        if not np.array_equal(numbers, wanted):
            raise ValueError(f"numbers must be {wanted.tolist()}; got {numbers.tolist()}")
        check_between("the base", numbers[kernels.BASE], 0.0, float(estimates.min()))
        tree = np.zeros_like(self._scratch)
        kernels.weigh_all(estimates, tree, numbers)
        if tree[1] < kernels.LEAST_ROOT:
            raise ValueError(f"the base must be near an estimate; got {numbers[kernels.BASE]}")
