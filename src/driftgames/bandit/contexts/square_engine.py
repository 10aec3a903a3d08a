"""The engine of `SquareCB`: an online regression for each arm, and inverse gap weighting."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.elementary import exp, log1p
from driftgames._kernels.jit import kernel
from driftgames.bandit.contexts.context_policy import ContextEngine
from driftgames.bandit.engines.clock_kernels import CLOCK_SIZE, ROUND, count_loss, count_pull
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.core.checks import (
    check_finite,
)
from driftgames.core.schema import array_of
from driftgames.core.typing import FloatArray

MODELS = {"ridge": 0.0, "logistic": 1.0}
"""The regressions, and how the kernels know them."""

FEATURES = CLOCK_SIZE  # d, the constant feature included
KIND = CLOCK_SIZE + 1  # of MODELS
GREED = CLOCK_SIZE + 2  # gamma over the rate of the bound
START = CLOCK_SIZE + 3  # the regret of the regression before the first round
DETERMINANT = CLOCK_SIZE + 4  # the sum over the arms of ln det(A / ridge)
GAMMA = CLOCK_SIZE + 5  # of the last pull
INVERSE = CLOCK_SIZE + 6  # the sum of 1 / gamma over the pulls
OPTIMISM = CLOCK_SIZE + 7  # standard deviations that are taken off an expected loss
BONUSES = CLOCK_SIZE + 8  # the sum of the squares of what was taken off, at the drawn arms
SIZE = CLOCK_SIZE + 9

LEAST_CURVATURE = 0.01  # of the logistic loss, so that a sure model can still be corrected


@kernel
def squared_errors(numbers: FloatArray) -> float:
    """Return the bound on the sum of squared errors of the optimistic regression."""
    errors = np.sqrt(numbers[START] + 0.25 * numbers[DETERMINANT]) + np.sqrt(numbers[BONUSES])
    return float(errors * errors)


@kernel
def next_gamma(numbers: FloatArray, n_arms: int) -> float:
    """Return gamma of the next pull, which never falls."""
    regret = squared_errors(numbers)
    wanted = numbers[GREED] * np.sqrt(8.0 * n_arms * (numbers[ROUND] + 1.0) / regret)
    return float(max(numbers[GAMMA], wanted))


@kernel
def predict(
    memory: FloatArray, numbers: FloatArray, x: FloatArray, optimism: float, out: FloatArray
) -> None:
    """Write the loss that the regression expects of each arm, within [0, 1].

    ``optimism`` standard deviations are taken off it.
    """
    d = x.size
    for arm in range(out.size):
        theta = memory[arm * (d + d * d) : arm * (d + d * d) + d]
        P = memory[arm * (d + d * d) + d : (arm + 1) * (d + d * d)]
        value = 0.0
        for i in range(d):
            value = fma(theta[i], x[i], value)
        spread = 0.0
        for i in range(d):
            row = 0.0
            for j in range(d):
                row = fma(P[i * d + j], x[j], row)
            spread = fma(row, x[i], spread)
        deviation = np.sqrt(max(spread, 0.0))
        if numbers[KIND] == 1.0:
            z = min(max(value - optimism * deviation, -30.0), 30.0)
            out[arm] = 1.0 / (1.0 + exp(-z))
        else:
            least = 0.5 + value / (1.0 + spread) - 0.5 * optimism * deviation
            out[arm] = min(max(least, 0.0), 1.0)


@kernel
def weigh_gaps(out: FloatArray, gamma: float) -> None:
    """Turn expected losses into probabilities: ``1 / (K + gamma * gap)``, the rest for the best."""
    best = 0
    for arm in range(1, out.size):
        if out[arm] < out[best]:
            best = arm
    least, rest = out[best], 1.0
    for arm in range(out.size):
        if arm != best:
            out[arm] = 1.0 / (out.size + gamma * (out[arm] - least))
            rest -= out[arm]
    out[best] = rest


@kernel
def learn(
    estimates: FloatArray,
    memory: FloatArray,
    numbers: FloatArray,
    x: FloatArray,
    scratch: FloatArray,
    arm: int,
    loss: float,
    chance: float,
) -> None:
    """Let the regression of the drawn arm learn its loss."""
    d = x.size
    estimates[arm] += loss / chance
    count_loss(numbers, loss)
    theta = memory[arm * (d + d * d) : arm * (d + d * d) + d]
    P = memory[arm * (d + d * d) + d : (arm + 1) * (d + d * d)]
    value, spread = 0.0, 0.0
    for i in range(d):
        row = 0.0
        for j in range(d):
            row = fma(P[i * d + j], x[j], row)
        scratch[i] = row
        spread = fma(row, x[i], spread)
        value = fma(theta[i], x[i], value)
    weight, error = 1.0, loss - 0.5 - value
    if numbers[KIND] == 1.0:
        chance_of_loss = 1.0 / (1.0 + exp(-min(max(value, -30.0), 30.0)))
        weight = max(chance_of_loss * (1.0 - chance_of_loss), LEAST_CURVATURE)
        error = (loss - chance_of_loss) / weight
    spread = max(spread, 0.0)
    step = weight / (1.0 + weight * spread)
    for i in range(d):
        theta[i] = fma(step * error, scratch[i], theta[i])
        for j in range(d):
            P[i * d + j] -= step * (scratch[i] * scratch[j])
    numbers[DETERMINANT] += log1p(weight * spread)
    numbers[BONUSES] += 0.25 * numbers[OPTIMISM] * numbers[OPTIMISM] * spread


@kernel
def draw(
    memory: FloatArray,
    numbers: FloatArray,
    x: FloatArray,
    p: FloatArray,
    function: int,
    generator: int,
) -> tuple[int, float]:
    """Draw an arm and return it with its probability."""
    gamma = next_gamma(numbers, p.size)
    predict(memory, numbers, x, numbers[OPTIMISM], p)
    weigh_gaps(p, gamma)
    count_pull(numbers, 0.0)
    numbers[GAMMA] = gamma
    numbers[INVERSE] += 1.0 / gamma
    arm = draw_index(p, next_uniform(function, generator))
    return arm, p[arm]


class SquareEngine(ContextEngine):
    """A regression per arm; ``memory`` holds its coefficients and the inverse of its matrix."""

    memory: FloatArray

    def __init__(
        self,
        n_arms: int,
        n_features: int,
        *,
        intercept: bool,
        kind: float,
        greed: float,
        ridge: float,
        norm: float,
        optimism: float,
    ) -> None:
        d = n_features + intercept
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(SIZE)
        constants = d, kind, greed, n_arms * ridge * norm**2, optimism
        self.numbers[[FEATURES, KIND, GREED, START, OPTIMISM]] = constants
        one = np.concatenate([np.zeros(d), (np.eye(d) / ridge).ravel()])
        self.memory = np.tile(one, n_arms)
        self._x, self._p, self._work = np.ones(d), np.empty(n_arms), np.empty(d)
        self.context = self._x[:n_features]

    def draw(self, function: int, state: int) -> tuple[int, float]:
        """Draw an arm for the context."""
        return draw(self.memory, self.numbers, self._x, self._p, function, state)

    def learn(self, arm: int, loss: float, chance: float) -> None:
        """Learn a loss that came in the context."""
        learn(self.estimates, self.memory, self.numbers, self._x, self._work, arm, loss, chance)

    def expected(self, optimism: float = 0.0) -> FloatArray:
        """Return the loss that the regression expects of each arm, less some deviations."""
        found = np.empty(self.estimates.size)
        predict(self.memory, self.numbers, self._x, optimism, found)
        return found

    def distribution(self) -> FloatArray:
        """Return the probabilities for the context."""
        p = self.expected(self.numbers[OPTIMISM].item())
        weigh_gaps(p, next_gamma(self.numbers, p.size))
        return p

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for the constants of another engine, or an impossible number."""
        constants = [FEATURES, KIND, GREED, START, OPTIMISM]
        wanted, found = self.numbers[constants].tolist(), numbers[constants].tolist()
        if found != wanted:
            raise ValueError(f"the constants must be {wanted}; got {found}")
        check_finite("numbers", numbers)
        if (numbers[[DETERMINANT, GAMMA, INVERSE, BONUSES]] < 0).any():
            raise ValueError("a number of the regression must not be negative")

    def check_memory(self, memory: FloatArray) -> None:
        """Raise ValueError unless these are coefficients and positive definite matrices."""
        array_of(self.memory.size).check("memory", memory)
        check_finite("memory", memory)
        d = int(self.numbers[FEATURES])
        matrices = memory.reshape(-1, d + d * d)[:, d:].reshape(-1, d, d)
        if not np.array_equal(matrices, matrices.transpose(0, 2, 1)):
            raise ValueError("a matrix of the regression must be symmetric")
        if (matrices.diagonal(axis1=1, axis2=2) <= 0).any():
            raise ValueError("the diagonal of a matrix of the regression must be above 0")
