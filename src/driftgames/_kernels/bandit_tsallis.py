r"""Weights of Tsallis-INF: the solution of one equation in one unknown.

An arm's probability is ``4 / (eta (estimate - x))**2``, where ``x`` lies below all estimates
and makes the probabilities sum to 1. With ``d`` the distance of an arm to the best one and
``u`` that of the best one to ``x``, the sum is ``S(u)``, and ``S(u)**-1/2`` is concave and rises
in ``u`` (it is a power mean of affine functions), nearly as a straight line. Newton's step on
``S(u)**-1/2 = 1`` is ``u + (S**1.5 - S) / Q``, ``Q = -S'/2``; from the first step on it comes
from the left and never overshoots.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from driftgames._kernels.bandit_exponential import Respond
from driftgames._kernels.bandit_uniforms import next_uniform
from driftgames._kernels.jit import exact_kernel, scalar, specialise
from driftgames._support.checks import FloatArray

IntArray = npt.NDArray[np.int32]

respond: Respond = NotImplemented  # a name for `specialise` to bind

ROUND = 0  # how many arms were pulled
LEARNER_LOSS = 1  # of the feedback received
START = 2  # eta u of the round before, where Newton starts
SIZE = 3

MOST_STEPS = 100  # in practice three


@exact_kernel
def solve(estimates: FloatArray, rate: float, start: float, out: FloatArray) -> float:
    """Write the probabilities and return ``eta u``."""
    best = estimates.min()
    low, high = 2.0 / rate, 2.0 * np.sqrt(estimates.size) / rate
    u = min(max(start / rate, low), high)
    for _ in range(MOST_STEPS):
        total, slope = 0.0, 0.0
        for arm in range(estimates.size):
            inverse = 1.0 / (estimates[arm] - best + u)
            square = inverse * inverse
            total += square
            slope += square * inverse
        scale = 4.0 / (rate * rate)
        total, slope = scale * total, scale * slope
        # the sum falls in u, so u itself is a bound on one side
        if total >= 1.0:
            low = u
        else:
            high = u
        following = u + (total * np.sqrt(total) - total) / slope
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if abs(following - u) <= 1e-15 * u:
            break
        u = following
    total = 0.0
    for arm in range(estimates.size):
        root = 2.0 / (rate * (estimates[arm] - best + u))
        out[arm] = root * root
        total += out[arm]
    for arm in range(estimates.size):
        out[arm] /= total
    return float(rate * u)


@exact_kernel
def pick(p: FloatArray, uniform: float) -> int:
    """Return the arm that a uniform number in [0, 1) draws; never one of probability 0."""
    chosen = 0
    rest = uniform
    for arm in range(p.size):
        if p[arm] > 0.0:
            chosen = arm
            if rest < p[arm]:
                break
            rest -= p[arm]
    return chosen


@scalar
def draw_one(
    estimates: FloatArray, p: FloatArray, numbers: FloatArray, uniform: float
) -> tuple[int, float]:
    """Return the arm that a uniform number draws and the probability it had."""
    numbers[ROUND] += 1.0
    numbers[START] = solve(estimates, 2.0 / np.sqrt(numbers[ROUND]), numbers[START], p)
    arm = pick(p, uniform)
    return arm, p[arm]


@scalar
def learn_one(
    estimates: FloatArray, numbers: FloatArray, arm: int, loss: float, prob: float
) -> None:
    """Add ``loss / prob`` to the estimate of the drawn arm."""
    estimates[arm] += loss / prob
    numbers[LEARNER_LOSS] += loss


@exact_kernel
def draw(
    estimates: FloatArray, p: FloatArray, numbers: FloatArray, function: int, state: int
) -> tuple[int, float]:
    """Call `draw_one` from Python."""
    return draw_one(estimates, p, numbers, next_uniform(function, state))


@exact_kernel
def learn(estimates: FloatArray, numbers: FloatArray, arm: int, loss: float, prob: float) -> None:
    """Call `learn_one` from Python."""
    learn_one(estimates, numbers, arm, loss, prob)


@exact_kernel
def replay(
    estimates: FloatArray,
    p: FloatArray,
    numbers: FloatArray,
    losses: FloatArray,
    uniforms: FloatArray,
    drawn: IntArray,
    paid: FloatArray,
) -> None:
    """Play one round per row of ``losses``; write which arm was drawn and what it cost."""
    for row in range(losses.shape[0]):
        arm, prob = draw_one(estimates, p, numbers, uniforms[row])
        learn_one(estimates, numbers, arm, losses[row, arm], prob)
        drawn[row] = arm
        paid[row] = losses[row, arm]


def _play(
    estimates: FloatArray,
    p: FloatArray,
    numbers: FloatArray,
    function: int,
    state: int,
    losses: FloatArray,
    drawn: IntArray,
    paid: FloatArray,
) -> None:
    """Play against an adversary that answers the distribution, one row of ``losses`` a round."""
    for row in range(losses.shape[0]):
        t = numbers[ROUND] + 1.0
        solve(estimates, 2.0 / np.sqrt(t), numbers[START], p)
        respond(t, p, losses[row])
        arm, prob = draw_one(estimates, p, numbers, next_uniform(function, state))
        learn_one(estimates, numbers, arm, losses[row, arm], prob)
        drawn[row] = arm
        paid[row] = losses[row, arm]


def player(respond: Respond) -> Callable[..., None]:
    """Return the loop of `_play` against this adversary."""
    return specialise(_play, exact_kernel, respond=respond)
