"""Exponential weights in a sum tree: the engine of EXP3 and EXP3-IX."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from driftgames._kernels import bandit_clock as clock
from driftgames._kernels import bandit_exponential as kernels
from driftgames._kernels.bandit_exponential import IntArray, Respond
from driftgames._kernels.bandit_uniforms import take_uniforms
from driftgames._kernels.sum_tree import capacity
from driftgames.bandit.engines import Engine, Source, is_compiled, play_in_python
from driftgames.bandit.schedule import rate_at, sum_until
from driftgames.core.checks import check_between, check_positive
from driftgames.core.typing import FloatArray

_player = cache(kernels.player)


class ExponentialEngine(Engine):
    r"""Draws with :math:`p_{t,i} \propto e^{-\eta_t \hat L_{t-1,i}}`, in O(log K) a round.

    Parameters
    ----------
    n_arms : int
        K.
    rate : float
        eta, where it is the same in all rounds.
    decay : float
        Where it is not 0, eta falls as ``decay / sqrt(t)``; see `driftgames.bandit.schedule`.
    implicit : float
        gamma / eta: losses are estimated as ``loss / (prob + gamma)``.
    """

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
        """``eta sqrt(t)`` where eta falls over time, else 0."""
        return float(self.numbers[kernels.DECAY])

    @property
    def gamma(self) -> float:
        """Its share of the learning rate of the last round."""
        return float(self.numbers[kernels.IMPLICIT]) * self.rate

    def rates_until(self, horizon: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Return eta of round ``horizon`` and the sum of all until then."""
        if self.decay > 0:
            return rate_at(horizon, self.decay), sum_until(horizon, self.decay)
        return np.full_like(horizon, self.rate, dtype=np.float64), np.asarray(self.rate * horizon)

    def distribution(self) -> FloatArray:
        """Return the leaves of the tree over its root."""
        p, tree, numbers = np.empty(self.estimates.size), self._tree, self.numbers
        if self.t + 1 >= numbers[kernels.UNTIL]:
            tree, numbers = tree.copy(), numbers.copy()  # eta changes with the pull, not before
            kernels.prepare(self.estimates, tree, numbers)
        kernels.distribute(tree, p)
        return p

    def bind(self) -> None:
        """Lay the state out in one array, build the tree and bind the kernels to them."""
        n_arms = self.estimates.size
        others = self.numbers[kernels.ARMS] != n_arms
        self.numbers[kernels.ARMS] = n_arms
        tree = np.zeros(2 * capacity(n_arms))
        whole = np.concatenate([self.numbers, self.estimates, tree])
        self.numbers, self.estimates, self._tree = kernels.parts(whole)
        if others:  # the base was the best of other arms, and may be far from these
            kernels.build(self.estimates, self._tree, self.numbers)
        else:
            self.refresh()
        implicit = float(self.numbers[kernels.IMPLICIT])
        self.most_gamma = implicit * self.decay if implicit > 0 and self.decay > 0 else None
        self.draw = partial(kernels.draw, whole)
        self.learn = partial(kernels.learn, whole)

    def refresh(self) -> None:
        """Build the tree, relative to the base as it was: to the same bits."""
        kernels.weigh_all(self.estimates, self._tree, self.numbers)

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return eta, or that of the first round where it falls."""
        return float(numbers[kernels.DECAY] if self.decay > 0 else numbers[kernels.RATE])

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Say where the constants are not those of this engine, or the base is no estimate's."""
        wanted = numbers.copy()
        for constant in (kernels.IMPLICIT, kernels.ARMS):
            wanted[constant] = self.numbers[constant]
        if self.decay > 0:
            check_positive("the decay", numbers[kernels.DECAY])
            wanted[kernels.RATE], wanted[kernels.UNTIL] = 0.0, 1.0
            if numbers[clock.ROUND] > 0:
                kernels.tune(wanted, numbers[clock.ROUND])
        else:
            check_positive("the rate", numbers[kernels.RATE])
            wanted[kernels.DECAY], wanted[kernels.UNTIL] = 0.0, math.inf
        if not np.array_equal(numbers, wanted):
            raise ValueError(f"numbers must be {wanted.tolist()}; got {numbers.tolist()}")
        check_between("the base", numbers[kernels.BASE], 0.0, float(estimates.min()))
        tree = np.zeros_like(self._tree)
        kernels.weigh_all(estimates, tree, numbers)
        if tree[1] < kernels.FAINT:
            raise ValueError(f"the base must be near an estimate; got {numbers[kernels.BASE]}")

    def replay(self, losses: FloatArray, source: Source, drawn: IntArray, paid: FloatArray) -> None:
        """Play the rows in one compiled call."""
        uniforms = take_uniforms(losses.shape[0], *source)
        kernels.replay(self.estimates, self._tree, self.numbers, losses, uniforms, drawn, paid)

    def play(
        self,
        respond: Respond,
        losses: FloatArray,
        source: Source,
        drawn: IntArray,
        paid: FloatArray,
    ) -> None:
        """Play against an adversary; in one compiled call where it is compiled itself."""
        if not is_compiled(respond):
            return play_in_python(self, respond, losses, source, drawn, paid)
        p = np.empty(self.estimates.size)
        state = (self.estimates, self._tree, self.numbers)
        _player(respond)(*state, *source, losses, p, drawn, paid)
        return None
