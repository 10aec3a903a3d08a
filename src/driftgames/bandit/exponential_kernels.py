"""Exponential weights of bandit arms, in a sum tree: a round costs O(log K).

An arm weighs ``exp(-rate (estimate - base))``. The ``estimate`` is its estimated loss so far. The
``base`` is the lowest estimate at the time when the tree was last built. A round changes the
estimate of the drawn arm alone, so one weight changes. A common factor of all weights cancels.

The state is the estimates and ``numbers``, the scalars that are named below. The tree follows
from both. All three lie in one array, the buffer, because one argument makes a call from Python
fastest: the scalars, the estimates, the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.elementary import exp
from driftgames._kernels.jit import allocating_kernel, brief_kernel, kernel, scalar, specialise
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.sums import lowest_of
from driftgames.bandit.clock_kernels import CLOCK_SIZE, ROUND, count_loss, count_pull
from driftgames.bandit.schedule import stretch_of
from driftgames.bandit.sum_tree import find, set_leaf, sum_up
from driftgames.bandit.types import ArmArray, Respond
from driftgames.bandit.uniform_kernels import next_uniform
from driftgames.core.typing import FloatArray

respond: Respond = NotImplemented  # a name for `specialise` to bind

BASE = CLOCK_SIZE  # the estimate that weighs 1
RATE = CLOCK_SIZE + 1  # eta, of this round
IMPLICIT = CLOCK_SIZE + 2  # gamma / eta: 0 for EXP3, 1/2 for EXP3-IX
DECAY = CLOCK_SIZE + 3  # eta sqrt(t) where eta falls over time, else 0
UNTIL = CLOCK_SIZE + 4  # the first round of the next stretch of equal eta
ARMS = CLOCK_SIZE + 5  # K
SIZE = CLOCK_SIZE + 6

LEAST_ROOT = 3.7e-44  # exp(-100): when the root falls below, the tree is built anew
LARGEST_EXPONENT = 600.0  # from here on a weight is 0; exp(-600) is a normal number


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
def draw_one(
    estimates: FloatArray, tree: FloatArray, numbers: FloatArray, uniform: float
) -> tuple[int, float]:
    """Return the arm that a uniform number draws and the probability it had."""
    if numbers[ROUND] + 1.0 >= numbers[UNTIL]:
        prepare(estimates, tree, numbers)
    count_pull(numbers, numbers[RATE])
    arm = find(tree, uniform)
    return arm, tree[(tree.size >> 1) + arm] / tree[1]


@scalar
def learn_one(
    estimates: FloatArray,
    tree: FloatArray,
    numbers: FloatArray,
    arm: int,
    loss: float,
    chance: float,
) -> None:
    """Add ``loss / chance`` to the estimate of the drawn arm; ``chance`` is ``prob + gamma``."""
    estimates[arm] += loss / chance
    count_loss(numbers, loss)
    set_leaf(tree, arm, weigh(estimates[arm], numbers[RATE], numbers[BASE]))
    if tree[1] < LEAST_ROOT:
        build(estimates, tree, numbers)


@brief_kernel
def draw(buffer: FloatArray, function: int, state: int) -> tuple[int, float]:
    """Call `draw_one` from Python."""
    numbers, estimates, tree = views_of(buffer)
    return draw_one(estimates, tree, numbers, next_uniform(function, state))


@brief_kernel
def learn(buffer: FloatArray, arm: int, loss: float, chance: float) -> None:
    """Call `learn_one` from Python."""
    numbers, estimates, tree = views_of(buffer)
    learn_one(estimates, tree, numbers, arm, loss, chance)


@kernel
def replay(
    estimates: FloatArray,
    tree: FloatArray,
    numbers: FloatArray,
    losses: FloatArray,
    uniforms: FloatArray,
    drawn: ArmArray,
    paid: FloatArray,
) -> None:
    """Play one round per row of ``losses``; write the drawn arms and their losses."""
    # this repeats `draw_one` and `learn_one`, with the scalars in registers
    rate, base = numbers[RATE], numbers[BASE]
    for row in range(losses.shape[0]):
        if numbers[ROUND] + 1.0 >= numbers[UNTIL]:
            prepare(estimates, tree, numbers)
            rate, base = numbers[RATE], numbers[BASE]
        count_pull(numbers, rate)
        arm = find(tree, uniforms[row])
        loss, prob = losses[row, arm], tree[(tree.size >> 1) + arm] / tree[1]
        estimates[arm] += loss / (prob + numbers[IMPLICIT] * rate)
        count_loss(numbers, loss)
        set_leaf(tree, arm, weigh(estimates[arm], rate, base))
        if tree[1] < LEAST_ROOT:
            build(estimates, tree, numbers)
            base = numbers[BASE]
        drawn[row] = arm
        paid[row] = loss


@kernel
def distribute(tree: FloatArray, out: FloatArray) -> None:
    """Write the probabilities of the arms: the leaves of the tree over its root."""
    leaves = tree.size >> 1
    for arm in range(out.size):
        out[arm] = tree[leaves + arm] / tree[1]


def _play(
    estimates: FloatArray,
    tree: FloatArray,
    numbers: FloatArray,
    p: FloatArray,
    function: int,
    state: int,
    losses: FloatArray,
    drawn: ArmArray,
    paid: FloatArray,
) -> None:
    """Play against an adversary that answers the distribution, one row of ``losses`` a round."""
    for row in range(losses.shape[0]):
        prepare(estimates, tree, numbers)
        distribute(tree, p)
        respond(numbers[ROUND] + 1.0, p, losses[row])
        arm, prob = draw_one(estimates, tree, numbers, next_uniform(function, state))
        chance = prob + numbers[IMPLICIT] * numbers[RATE]
        learn_one(estimates, tree, numbers, arm, losses[row, arm], chance)
        drawn[row] = arm
        paid[row] = losses[row, arm]


@cache
def player(respond: Respond) -> Callable[..., None]:
    """Return the loop of `_play` against this adversary."""
    return specialise(_play, kernel, respond=respond)
