"""Exponential weights in a sum tree: the engine of EXP3 and EXP3-IX."""

from __future__ import annotations

import math
from functools import cache, partial

import numpy as np

from driftgames._kernels import bandit_exponential as kernels
from driftgames._kernels.bandit_exponential import IntArray, Respond
from driftgames._kernels.bandit_uniforms import take_uniforms
from driftgames._kernels.sum_tree import capacity
from driftgames._support.checks import FloatArray
from driftgames.bandit.engines import Engine, Source, is_compiled, play_in_python

_player = cache(kernels.player)


def schedule(horizon: int, decay: float) -> FloatArray:
    r"""Return :math:`\eta_t = c/\sqrt{\lfloor t\rfloor_5}` for ``t = 1, ..., T``; ``decay`` is c.

    The floor keeps the five leading bits of ``t``, so that eta changes sixteen times while the
    clock doubles.

    >>> (1 / schedule(35, 1.0)[[0, 1, 30, 31, 32, 33]] ** 2).round(6)
    array([ 1.,  2., 31., 32., 32., 34.])
    """
    t = np.arange(1, horizon + 1, dtype=np.float64)
    step = np.exp2(np.maximum(np.frexp(t)[1] - 5, 0))
    return np.asarray(decay / np.sqrt(step * np.floor(t / step)))


class ExponentialEngine(Engine):
    r"""Draws with :math:`p_{t,i} \propto e^{-\eta_t \hat L_{t-1,i}}`, in O(log K) a round.

    Parameters
    ----------
    n_arms : int
        K.
    rate : float
        eta, where it is the same in all rounds.
    decay : float
        Where it is not 0, eta falls as ``decay / sqrt(t)``; see `schedule`.
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
    def t(self) -> int:
        """How many arms were pulled."""
        return int(self.numbers[kernels.ROUND])

    @property
    def learner_loss(self) -> float:
        """The sum of the losses learnt from."""
        return float(self.numbers[kernels.LEARNER_LOSS])

    @property
    def rate(self) -> float:
        """The learning rate of the last round."""
        return float(self.numbers[kernels.RATE])

    @property
    def decay(self) -> float:
        """``eta sqrt(t)`` where eta falls over time, else 0."""
        return float(self.numbers[kernels.DECAY])

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
        self.numbers[kernels.ARMS] = n_arms
        tree = np.zeros(2 * capacity(n_arms))
        whole = np.concatenate([self.numbers, self.estimates, tree])
        self.numbers, self.estimates, self._tree = kernels.parts(whole)
        self.refresh()
        self.draw = partial(kernels.draw, whole)
        self.learn = partial(kernels.learn, whole)

    def refresh(self) -> None:
        """Build the tree, relative to the base as it was: to the same bits."""
        kernels.weigh_all(self.estimates, self._tree, self.numbers)
        if not self._tree[1] >= kernels.FAINT:  # an arm left, and it was by far the best
            kernels.build(self.estimates, self._tree, self.numbers)

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
