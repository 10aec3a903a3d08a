"""Exponential weights of bandit arms, in a sum tree: a round costs O(log K).

An arm weighs ``exp(-rate (estimate - base))``, where ``estimate`` is its estimated loss so far
and ``base`` the lowest of them when the tree was last built. The loss estimate of a round is
zero for all arms but the drawn one, so one weight changes; what all arms share cancels.

The estimates are the state and ``numbers`` holds the scalars beside them (see the names below);
the tree can be built from both at any time. All three lie in one array, which costs a call from
Python least: the scalars, the estimates, the tree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.bandit_clock import CLOCK_SIZE, ROUND, count_loss, count_pull
from driftgames._kernels.bandit_uniforms import next_uniform
from driftgames._kernels.elementary import exp
from driftgames._kernels.jit import kernel, scalar, specialise
from driftgames._kernels.lanes import LANES, load, store
from driftgames._kernels.sum_tree import find, set_leaf, sum_up
from driftgames._kernels.sums import lowest
from driftgames.core.typing import FloatArray

IntArray = npt.NDArray[np.int32]
Respond = Callable[[float, FloatArray, FloatArray], None]
"""``respond(t, p, losses)``: an adversary that sees the distribution writes its losses."""

respond: Respond = NotImplemented  # a name for `specialise` to bind

BASE = CLOCK_SIZE  # the estimate that weighs 1
RATE = CLOCK_SIZE + 1  # eta, of this round
IMPLICIT = CLOCK_SIZE + 2  # gamma / eta: 0 for EXP3, 1/2 for EXP3-IX
DECAY = CLOCK_SIZE + 3  # eta sqrt(t) where eta falls over time, else 0
UNTIL = CLOCK_SIZE + 4  # the first round with another eta
ARMS = CLOCK_SIZE + 5  # K
SIZE = CLOCK_SIZE + 6

FAINT = 3.7e-44  # exp(-100): the tree is built anew before its root falls below
VANISHED = 600.0  # beyond this exponent a weight counts as 0; exp(-600) has all its digits


@scalar
def parts(whole: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the scalars, the estimates and the tree, as views of the one array."""
    end = SIZE + int(whole[ARMS])
    return whole[:SIZE], whole[SIZE:end], whole[end:]


@scalar
def weigh(estimate: float, rate: float, base: float) -> float:
    """Return ``exp(-rate (estimate - base))``, of a float or of `Lanes`."""
    exponent = rate * (estimate - base)
    weight: float = choose(exponent < VANISHED, exp(-exponent), 0.0)
    return weight


@kernel
def weigh_all(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Build the tree, relative to the base as it is."""
    first = tree.size >> 1
    tree[:] = 0.0
    leaves = tree[first : first + estimates.size]
    for i in range(0, estimates.size, LANES):
        store(leaves, i, weigh(load(estimates, i, 0.0), numbers[RATE], numbers[BASE]))
    sum_up(tree)


@kernel
def build(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Build the tree relative to the best arm."""
    numbers[BASE] = lowest(estimates)
    weigh_all(estimates, tree, numbers)


@kernel
def tune(numbers: FloatArray, t: float) -> None:
    """Set eta for round ``t`` where it falls as ``1/sqrt(t)``, reading five bits of the clock.

    It then changes sixteen times while the clock doubles, so that rebuilding the tree for a
    new eta costs next to nothing.
    """
    step = 1.0
    while t >= 32.0 * step:
        step *= 2.0
    read = step * np.floor(t / step)
    numbers[RATE] = numbers[DECAY] / np.sqrt(read)
    numbers[UNTIL] = read + step


@kernel
def prepare(estimates: FloatArray, tree: FloatArray, numbers: FloatArray) -> None:
    """Bring eta and the tree to the round that comes next."""
    if numbers[ROUND] + 1.0 >= numbers[UNTIL]:
        tune(numbers, numbers[ROUND] + 1.0)
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
    if tree[1] < FAINT:
        build(estimates, tree, numbers)


@kernel
def draw(whole: FloatArray, function: int, state: int) -> tuple[int, float]:
    """Call `draw_one` from Python."""
    numbers, estimates, tree = parts(whole)
    return draw_one(estimates, tree, numbers, next_uniform(function, state))


@kernel
def learn(whole: FloatArray, arm: int, loss: float, chance: float) -> None:
    """Call `learn_one` from Python."""
    numbers, estimates, tree = parts(whole)
    learn_one(estimates, tree, numbers, arm, loss, chance)


@kernel
def replay(
    estimates: FloatArray,
    tree: FloatArray,
    numbers: FloatArray,
    losses: FloatArray,
    uniforms: FloatArray,
    drawn: IntArray,
    paid: FloatArray,
) -> None:
    """Play one round per row of ``losses``; write which arm was drawn and what it cost."""
    # `draw_one` and `learn_one`, with the scalars kept in registers
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
        if tree[1] < FAINT:
            build(estimates, tree, numbers)
            base = numbers[BASE]
        drawn[row] = arm
        paid[row] = loss


@kernel
def distribute(tree: FloatArray, out: FloatArray) -> None:
    """Write the probabilities of the arms, as the tree has them."""
    leaves = tree.size >> 1
    for arm in range(out.size):
        out[arm] = tree[leaves + arm] / tree[1]


def _play(
    estimates: FloatArray,
    tree: FloatArray,
    numbers: FloatArray,
    function: int,
    state: int,
    losses: FloatArray,
    p: FloatArray,
    drawn: IntArray,
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


def player(respond: Respond) -> Callable[..., None]:
    """Return the loop of `_play` against this adversary."""
    return specialise(_play, kernel, respond=respond)
