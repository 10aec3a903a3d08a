"""The engine of EXP3 and EXP3-IX: exponential weights in a sum tree; a round costs O(log K).

An arm weighs ``exp(-rate (estimate - base))``. The ``estimate`` is its estimated loss so far. The
``base`` is the lowest estimate at the time when the tree was last built. A round changes the
estimate of the drawn arm alone, so one weight changes. A common factor of all weights cancels.

The state is the estimates and ``numbers``, the scalars that are named below. The tree follows
from both. All three lie in one array, the buffer, because one argument makes a call from Python
fastest: the scalars, the estimates, the tree.

In the tree, ``tree[1]`` is the root, node ``k`` is the sum of its children ``2k`` and ``2k + 1``,
and the leaves are the second half of the array; leaves without an arm weigh 0. A draw and a change
of one weight both walk one path. A node is always recomputed from its children. So rounding errors
do not add up, and a tree that is built anew has the same bits.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.elementary import exp
from driftgames._kernels.jit import allocating_kernel, brief_kernel, kernel, scalar
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.sums import lowest_of
from driftgames.bandit.engines.clock_kernels import CLOCK_SIZE, ROUND, count_loss, count_pull
from driftgames.bandit.engines.engine import PolicyEngine, State, Steps
from driftgames.bandit.engines.schedule import rate_at, stretch_of, sum_until
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.bandit.types import Rounds
from driftgames.core.checks import check_between, check_positive
from driftgames.core.typing import FloatArray

BASE = CLOCK_SIZE  # the estimate that weighs 1
RATE = CLOCK_SIZE + 1  # eta, of this round
IMPLICIT = CLOCK_SIZE + 2  # gamma / eta: 0 for EXP3, 1/2 for EXP3-IX
DECAY = CLOCK_SIZE + 3  # eta sqrt(t) where eta falls over time, else 0
UNTIL = CLOCK_SIZE + 4  # the first round of the next stretch of equal eta
ARMS = CLOCK_SIZE + 5  # K
SIZE = CLOCK_SIZE + 6

LEAST_ROOT = 3.7e-44  # exp(-100): when the root falls below, the tree is built anew
LARGEST_EXPONENT = 600.0  # from here on a weight is 0; exp(-600) is a normal number


def capacity(n_arms: int) -> int:
    """Return the number of leaves for this many arms: the next power of two.

    >>> [capacity(n) for n in (1, 2, 3, 10)]
    [1, 2, 4, 16]
    """
    return 1 << (n_arms - 1).bit_length()


@kernel
def sum_up(tree: FloatArray) -> None:
    """Recompute all inner nodes from the leaves."""
    for node in range((tree.size >> 1) - 1, 0, -1):
        tree[node] = tree[2 * node] + tree[2 * node + 1]


@scalar
def set_leaf(tree: FloatArray, arm: int, weight: float) -> None:
    """Give one arm another weight, in O(log n)."""
    node = (tree.size >> 1) + arm
    tree[node] = weight
    while node > 1:
        weight = weight + tree[node ^ 1]
        node >>= 1
        tree[node] = weight


@scalar
def find(tree: FloatArray, uniform: float) -> int:
    """Return the arm that a uniform number in [0, 1) draws, in O(log n).

    An arm without weight is never drawn, whatever rounding does on the way down.
    """
    leaves = tree.size >> 1
    rest = uniform * tree[1]
    node = 1
    while node < leaves:
        node *= 2
        left = tree[node]
        # a draw is unpredictable, and so would be a branch on it
        right = (rest >= left) & (tree[node + 1] > 0.0)
        rest -= left if right else 0.0
        node += right
    return node - leaves


@allocating_kernel
def views_of(buffer: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scalars, the estimates and the tree, as views of the buffer."""
    end = SIZE + int(buffer[ARMS])
    return buffer[:SIZE], buffer[SIZE:end], buffer[end:]


@scalar
def weigh(estimate: float, rate: float, base: float) -> float:
    """Return ``exp(-rate (estimate - base))``, of a float or of `Lanes`."""
    exponent = rate * (estimate - base)
    weight: float = choose(exponent < LARGEST_EXPONENT, exp(-exponent), 0.0)
    return weight


@kernel
def weigh_all(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Build the tree relative to the present base."""
    first = tree.size >> 1
    tree[:] = 0.0
    leaves = tree[first : first + estimates.size]
    for i in range(0, estimates.size, LANES):
        store(leaves, i, weigh(load(estimates, i, 0.0), numbers[RATE], numbers[BASE]))
    sum_up(tree)


@kernel
def build(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Build the tree relative to the best arm."""
    numbers[BASE] = lowest_of(estimates)
    weigh_all(estimates, tree, numbers)


@kernel
def set_rate(numbers: FloatArray, t: float) -> None:
    """Set eta for round ``t`` by the schedule; it stays for the whole stretch."""
    first, numbers[UNTIL] = stretch_of(t)
    numbers[RATE] = numbers[DECAY] / np.sqrt(first)


@kernel
def prepare(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Set eta and build the tree if the next round begins a new stretch."""
    if numbers[ROUND] + 1.0 >= numbers[UNTIL]:
        set_rate(numbers, numbers[ROUND] + 1.0)
        build(estimates, tree, numbers)


@scalar
def draw_one(state: State, uniform: float) -> tuple[int, float]:
    """Return the arm that a uniform number draws and the probability it had."""
    estimates, tree, numbers = state
    if numbers[ROUND] + 1.0 >= numbers[UNTIL]:
        prepare(estimates, tree, numbers)
    count_pull(numbers, numbers[RATE])
    arm = find(tree, uniform)
    return arm, tree[(tree.size >> 1) + arm] / tree[1]


@scalar
def chance_of(state: State, prob: float) -> float:
    """Return ``prob + gamma``."""
    numbers = state[2]
    return float(prob + numbers[IMPLICIT] * numbers[RATE])


@scalar
def learn_one(state: State, arm: int, loss: float, chance: float) -> None:
    """Add ``loss / chance`` to the estimate of the drawn arm."""
    estimates, tree, numbers = state
    estimates[arm] += loss / chance
    count_loss(numbers, loss)
    set_leaf(tree, arm, weigh(estimates[arm], numbers[RATE], numbers[BASE]))
    if tree[1] < LEAST_ROOT:
        build(estimates, tree, numbers)


@brief_kernel
def draw(buffer: FloatArray, function: int, state: int) -> tuple[int, float]:
    """Call `draw_one` from Python."""
    numbers, estimates, tree = views_of(buffer)
    return draw_one((estimates, tree, numbers), next_uniform(function, state))


@brief_kernel
def learn(buffer: FloatArray, arm: int, loss: float, chance: float) -> None:
    """Call `learn_one` from Python."""
    numbers, estimates, tree = views_of(buffer)
    learn_one((estimates, tree, numbers), arm, loss, chance)


@kernel
def distribute(tree: FloatArray, out: FloatArray) -> None:
    """Write the probabilities of the arms: the leaves of the tree over its root."""
    leaves = tree.size >> 1
    for arm in range(out.size):
        out[arm] = tree[leaves + arm] / tree[1]


@scalar
def distribute_next(state: State, out: FloatArray) -> None:
    """Write the probabilities of the next round, whose eta may be another one."""
    estimates, tree, numbers = state
    prepare(estimates, tree, numbers)
    distribute(tree, out)


class ExponentialEngine(PolicyEngine):
    r"""Draws with :math:`p_{t,i} \propto e^{-\eta_t \hat L_{t-1,i}}`, in O(log K) a round.

    ``rate`` is eta, if it is the same in all rounds. If ``decay`` is above 0, eta falls as
    ``decay / sqrt(t)``; see `driftgames.bandit.engines.schedule`. ``implicit`` is gamma / eta:
    losses are estimated as ``loss / (prob + gamma)``.
    """

    steps = Steps(draw_one, chance_of, learn_one, distribute_next)

    def __init__(
        self, n_arms: int, *, rate: float = 0.0, decay: float = 0.0, implicit: float = 0.0
    ) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(SIZE)
        self.numbers[[RATE, DECAY, IMPLICIT]] = rate, decay, implicit
        self.numbers[UNTIL] = 1.0 if decay > 0 else math.inf
        self.bind()

    @property
    def rate(self) -> float:
        """The learning rate of the last round."""
        return float(self.numbers[RATE])

    @property
    def next_rate(self) -> float:
        """The learning rate of the next round."""
        return float(rate_at(self.t + 1, self.decay)) if self.decay > 0 else self.rate

    @property
    def decay(self) -> float:
        """``eta sqrt(t)`` if eta falls over time, else 0."""
        return float(self.numbers[DECAY])

    @property
    def gamma(self) -> float:
        """Its share of the learning rate of the last round."""
        return float(self.numbers[IMPLICIT]) * self.rate

    def largest_gamma(self, numbers: FloatArray) -> float | None:
        """Return gamma of the first round if eta falls over time."""
        return float(numbers[IMPLICIT] * numbers[DECAY]) or None

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return eta of the first round."""
        return float(numbers[DECAY] if self.decay > 0 else numbers[RATE])

    def rates_until(self, horizon: Rounds) -> tuple[FloatArray, FloatArray]:
        """Return eta of round ``horizon`` and the sum of all until then."""
        if self.decay > 0:
            return rate_at(horizon, self.decay), sum_until(horizon, self.decay)
        return np.full_like(horizon, self.rate, dtype=np.float64), np.asarray(self.rate * horizon)

    def distribution(self) -> FloatArray:
        """Return the leaves of the tree over its root."""
        p, tree, numbers = np.empty(self.estimates.size), self._scratch, self.numbers
        if self.t + 1 >= numbers[UNTIL]:
            tree, numbers = tree.copy(), numbers.copy()  # the pull itself changes eta
            prepare(self.estimates, tree, numbers)
        distribute(tree, p)
        return p

    def bind(self) -> None:
        """Lay the state out in one buffer, build the tree and bind the kernels to them."""
        n_arms = self.numbers[ARMS] = self.estimates.size
        tree = np.zeros(2 * capacity(n_arms))
        buffer = np.concatenate([self.numbers, self.estimates, tree])
        # not `views_of`: interrupted where it makes a tuple of arrays, Numba raises a SystemError
        self.numbers, self.estimates, self._scratch = np.split(buffer, [SIZE, SIZE + n_arms])
        build(self.estimates, self._scratch, self.numbers)  # the old base may be far away
        self.draw = partial(draw, buffer)
        self.learn = partial(learn, buffer)

    def refresh(self) -> None:
        """Build the tree relative to the present base: to the same bits."""
        weigh_all(self.estimates, self._scratch, self.numbers)

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for the constants of another engine, or for an impossible base."""
        wanted = numbers.copy()
        for constant in (IMPLICIT, ARMS):
            wanted[constant] = self.numbers[constant]
        if self.decay > 0:
            check_positive("the decay", numbers[DECAY])
            wanted[RATE], wanted[UNTIL] = 0.0, 1.0
            if numbers[ROUND] > 0:
                set_rate(wanted, numbers[ROUND])
        else:
            check_positive("the rate", numbers[RATE])
            wanted[DECAY], wanted[UNTIL] = 0.0, math.inf
        if not np.array_equal(numbers, wanted):
            raise ValueError(f"numbers must be {wanted.tolist()}; got {numbers.tolist()}")
        check_between("the base", numbers[BASE], 0.0, float(estimates.min()))
        tree = np.zeros_like(self._scratch)
        weigh_all(estimates, tree, numbers)
        if tree[1] < LEAST_ROOT:
            raise ValueError(f"the base must be near an estimate; got {numbers[BASE]}")
