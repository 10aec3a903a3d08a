r"""The engine of Tsallis-INF: its weights are the solution of one equation in one unknown.

An arm's probability is ``4 / (eta (estimate - x))**2``, where ``x`` lies below all estimates
and makes the probabilities sum to 1. With ``d`` the distance of an arm to the best one and
``w`` eta times the distance of the best one to ``x``, the sum is
``S(w) = sum of 4 / (eta d + w)**2``. ``S(w)**-1/2`` is concave and rises in ``w`` (it is a power
mean of affine functions), nearly as a straight line. Newton's step on ``S(w)**-1/2 = 1`` is
``w + (S**1.5 - S) / Q``, ``Q = -S'/2``; from the first step on it comes from the left and never
overshoots. A step of relative size r leaves an error of at most ``1.5 r**2``: the second
derivative is at most ``3/w`` times the first.

All sums over arms are in the one order of `driftgames._kernels.lanes`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.lanes import LANES, fold, load, spread, store
from driftgames._kernels.sums import lowest_of
from driftgames.bandit.engines.clock_kernels import (
    CLOCK_SIZE,
    DELAY,
    ROUND,
    count_loss,
    count_pull,
    waiting,
)
from driftgames.bandit.engines.engine import PolicyEngine, State, Steps
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.core.checks import check_between
from driftgames.core.typing import FloatArray

START = CLOCK_SIZE  # w of the last pull, where Newton starts
ALONE = CLOCK_SIZE + 1  # 1 if no other pull waited when the last one was made, else 0
SCALE = CLOCK_SIZE + 2  # eta sqrt(t) of a game without delays
BASELINE = CLOCK_SIZE + 3  # the expected loss of the reduced-variance estimates; 0 without them
ADAPTS = CLOCK_SIZE + 4  # 1 if eta falls with the delay too, else 0
RATE = CLOCK_SIZE + 5  # eta, of the last pull
WINDOW = CLOCK_SIZE + 6  # the clock stops here; infinite if nothing is forgotten
SIZE = CLOCK_SIZE + 7

MOST_STEPS = 100  # two are usual
SMALL_STEP = 1e-8  # the error after a Newton step of this relative size is below 2e-16


@scalar
def next_rate(numbers: FloatArray, n_arms: int) -> float:
    """Return ``eta_t = SCALE / sqrt(t + ADAPTS D_t / sqrt(K))`` of the next pull.

    The clock t stops at WINDOW.
    """
    delay = numbers[ADAPTS] * (numbers[DELAY] + waiting(numbers))
    t = min(numbers[ROUND] + 1.0, numbers[WINDOW])
    return float(numbers[SCALE] / np.sqrt(t + delay / np.sqrt(n_arms)))


@kernel
def solve(estimates: FloatArray, rate: float, start: float, out: FloatArray) -> float:
    """Write the probabilities to ``out`` and return ``w``."""
    best = lowest_of(estimates)
    low, high = 2.0, 2.0 * np.sqrt(estimates.size)
    w = min(max(start, low), high)
    for _ in range(MOST_STEPS):
        mass, slope = sums_at(estimates, best, rate, w)
        # the sum falls in w, so w itself is a bound on one side
        if mass >= 1.0:
            low = w
        else:
            high = w
        following = w + (mass * np.sqrt(mass) - mass) / slope
        if low <= following <= high:
            step, w = abs(following - w), following
            if step <= SMALL_STEP * w:
                break
        else:
            w = 0.5 * (low + high)
            if high - low <= 1e-15 * high:
                break
    share = spread(0.0)
    for i in range(0, estimates.size, LANES):
        root = 2.0 / (rate * (load(estimates, i, np.inf) - best) + w)
        share += root * root
        store(out, i, root * root)
    scale = 1.0 / fold(share)
    for i in range(0, estimates.size, LANES):
        store(out, i, load(out, i, 0.0) * scale)
    return float(w)


@scalar
def sums_at(estimates: FloatArray, best: float, rate: float, w: float) -> tuple[float, float]:
    """Return ``S(w)`` and ``Q(w)``."""
    mass, slope = spread(0.0), spread(0.0)
    for i in range(0, estimates.size, LANES):
        root = 2.0 / (rate * (load(estimates, i, np.inf) - best) + w)
        square = root * root
        mass += square
        slope += square * root
    return fold(mass), 0.5 * fold(slope)


@scalar
def draw_one(state: State, uniform: float) -> tuple[int, float]:
    """Return the arm that a uniform number draws and the probability it had."""
    estimates, p, numbers = state
    numbers[ALONE] = 1.0 if waiting(numbers) == 0.0 else 0.0
    numbers[RATE] = next_rate(numbers, estimates.size)
    count_pull(numbers, numbers[RATE])
    numbers[START] = solve(estimates, numbers[RATE], numbers[START], p)
    arm = draw_index(p, uniform)
    if numbers[WINDOW] < np.inf:
        keep = 1.0 - 1.0 / numbers[WINDOW]
        for i in range(0, estimates.size, LANES):
            store(estimates, i, keep * load(estimates, i, 0.0))
    return arm, p[arm]


@scalar
def chance_of(state: State, prob: float) -> float:
    """Return the probability itself: gamma is 0."""
    return prob


@scalar
def learn_one(state: State, arm: int, loss: float, prob: float) -> None:
    """Add the estimated losses of the round in which ``arm`` was pulled."""
    estimates, _, numbers = state
    expected = 0.0
    if numbers[BASELINE] > 0.0 and numbers[ALONE] == 1.0:
        expected = add_baseline(estimates, numbers, arm)
    estimates[arm] += (loss - expected) / prob
    count_loss(numbers, loss)


@kernel
def add_baseline(estimates: FloatArray, numbers: FloatArray, arm: int) -> float:
    """Add B to all arms with ``p >= eta**2``; return the B of ``arm``.

    The estimates must be those of the pull, because p follows from ``p = 4 / (eta d + w)**2``.
    """
    best, rate = lowest_of(estimates), numbers[RATE]
    threshold = best + (2.0 / rate - numbers[START]) / rate
    expected = numbers[BASELINE] if estimates[arm] <= threshold else 0.0
    for i in range(0, estimates.size, LANES):
        each = load(estimates, i, np.inf)
        store(estimates, i, each + choose(each <= threshold, numbers[BASELINE], 0.0))
    return expected


@scalar
def distribute_next(state: State, out: FloatArray) -> None:
    """Write the probabilities of the next pull and change nothing else."""
    estimates, _, numbers = state
    solve(estimates, next_rate(numbers, estimates.size), numbers[START], out)


@kernel
def draw(
    estimates: FloatArray, p: FloatArray, numbers: FloatArray, function: int, generator: int
) -> tuple[int, float]:
    """Call `draw_one` from Python; three arrays are taken over in less time than a tuple."""
    return draw_one((estimates, p, numbers), next_uniform(function, generator))


@kernel
def learn(
    estimates: FloatArray, p: FloatArray, numbers: FloatArray, arm: int, loss: float, prob: float
) -> None:
    """Call `learn_one` from Python."""
    learn_one((estimates, p, numbers), arm, loss, prob)


class TsallisEngine(PolicyEngine):
    """Solves for the probabilities in each round, starting at the solution of the last round."""

    steps = Steps(draw_one, chance_of, learn_one, distribute_next)

    def __init__(
        self,
        n_arms: int,
        *,
        reduced_variance: bool,
        adapt_to_delays: bool,
        window: float = np.inf,
    ) -> None:
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(SIZE)
        self.numbers[[ADAPTS, WINDOW]] = float(adapt_to_delays), window
        self.numbers[SCALE] = 4.0 if reduced_variance else 2.0
        self.numbers[BASELINE] = 0.5 if reduced_variance else 0.0
        self.bind()

    def distribution(self) -> FloatArray:
        """Solve for the next round."""
        p = np.empty(self.estimates.size)
        distribute_next((self.estimates, self._scratch, self.numbers), p)
        return p

    def bind(self) -> None:
        """Bind the kernels to the arrays."""
        self._scratch = np.empty(self.estimates.size)  # the probabilities of a pull
        self.least_estimate = -np.inf if self.numbers[BASELINE] > 0 else 0.0
        state = (self.estimates, self._scratch, self.numbers)
        self.draw, self.learn = partial(draw, *state), partial(learn, *state)

    def upgraded(self, numbers: FloatArray) -> FloatArray:
        """Return the numbers of an older file with the window that it lacks: none."""
        return np.append(numbers, np.inf) if numbers.size == WINDOW else numbers

    def highest_rate(self, numbers: FloatArray) -> float:
        """Return the learning rate of the first round."""
        return float(self.numbers[SCALE])

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for an impossible number, or for the constants of another engine."""
        highest = 2.0 * np.sqrt(estimates.size)
        check_between("the start", numbers[START], 0.0, highest * (1 + 1e-9))
        check_between("the rate", numbers[RATE], 0.0, self.highest_rate(numbers))
        if numbers[ALONE] not in (0.0, 1.0):
            raise ValueError(f"alone must be 0 or 1; got {float(numbers[ALONE])!r}")
        constants = [SCALE, BASELINE, ADAPTS, WINDOW]
        wanted, found = self.numbers[constants].tolist(), numbers[constants].tolist()
        if found != wanted:
            raise ValueError(f"the constants must be {wanted}; got {found}")
