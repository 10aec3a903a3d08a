"""SquareCB: a contextual bandit from an online regression, by inverse gap weighting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from driftgames._kernels.arithmetic import fma
from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.elementary import exp, log1p
from driftgames._kernels.jit import kernel
from driftgames.bandit.contexts.context_policy import ContextEngine, ContextPolicy
from driftgames.bandit.engines.clock_kernels import CLOCK_SIZE, ROUND, count_loss, count_pull
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.bandit.types import Arm, Rounds
from driftgames.certificates.bounds import square_cb
from driftgames.core.checks import (
    check_between,
    check_finite,
    check_flag,
    check_integer,
    check_positive,
)
from driftgames.core.generators import RandomState
from driftgames.core.registry import choose
from driftgames.core.schema import FLAG, POSITIVE, Schema, array_of, between, integer, one_of
from driftgames.core.typing import Content, FloatArray
from driftgames.potentials import NoBoundError

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


class SquareCB(ContextPolicy):
    r"""Explore by the gaps that an optimistic online regression expects.

    .. math:: p_a = \frac1{K + \gamma_t (f_t(x, a) - f_t(x, b))} \ (a \ne b), \qquad
              b = \arg\min_a f_t(x, a), \qquad
              f_t(x, a) = \hat f_t(x, a) - \tfrac\beta2\sqrt{x^\top A_a^{-1} x}

    and the best arm b has the rest. :math:`A_a` is the matrix of the regression of an arm, so an
    arm is explored where its regression is unsure. :math:`\hat f` is a linear function of the
    context for each arm, fitted by the forecaster of Vovk, Azoury and Warmuth (online ridge
    regression), or a logistic one. With ridge regression the expected regret to the best linear
    policy is that of `driftgames.certificates.bounds.square_cb`, if the mean losses are linear in
    the context. D. Foster and A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits
    with regression oracles", ICML 2020.

    Parameters
    ----------
    n_arms, names, loss_range, gains, random_state
        As for `BanditPolicy`.
    n_features : int
        The length of a context.
    model : {"ridge", "logistic"}
        The regression. The logistic one is for losses that are mostly 0 or 1; nothing is promised
        of it.
    greed : float
        How much faster gamma grows than the bound would have it. Above 1 the policy explores
        less, and its bound grows. Default: 100.
    optimism : float
        The number of standard deviations :math:`\beta` that are taken off an expected loss.
        Default: 1.
    ridge : float
        The weight of the squared norm in the regression. Default: 1.
    norm : float
        The norm of the coefficients of an arm that the bound assumes, at most. Default: 1.
    intercept : bool
        Whether a constant feature is added. Default: True.

    Notes
    -----
    Contexts should be scaled to numbers around 1. Gamma never falls, and is
    :math:`\gamma_t = g\sqrt{8Kt/R_t}` with g the greed and :math:`R_t` the bound on the squared
    errors of f so far. By Minkowski's inequality its root is at most that of the bound for
    :math:`\hat f` plus that of the squares of what was taken off at the drawn arms, which grow as
    slowly. `PullLog` records the probabilities for `off_policy_value`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> contexts = rng.normal(size=(3000, 2)) / 2
    >>> means = np.clip(0.5 + contexts @ [[0.4, -0.4, 0.0], [0.0, 0.3, -0.3]], 0, 1)
    >>> losses = (rng.random(means.shape) < means).astype(float)
    >>> run = SquareCB(3, n_features=2, random_state=0).run(contexts, losses)
    >>> round(run.learner_loss), round(run.rival_losses.min())
    (866, 1410)
    """

    _engine: SquareEngine
    _named_arguments: ClassVar[Schema] = {
        "n_features": integer(1),
        "model": one_of(*MODELS),
        "greed": POSITIVE,
        "optimism": between(0.0, 1e6),
        "ridge": POSITIVE,
        "norm": POSITIVE,
        "intercept": FLAG,
    }

    def __init__(
        self,
        n_arms: int | None = None,
        *,
        n_features: int,
        model: str = "ridge",
        greed: float = 100.0,
        optimism: float = 1.0,
        ridge: float = 1.0,
        norm: float = 1.0,
        intercept: bool = True,
        names: Sequence[Arm] | None = None,
        loss_range: tuple[float, float] = (0.0, 1.0),
        gains: bool = False,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_arms, names=names, loss_range=loss_range, gains=gains, random_state=random_state
        )
        self.n_features = check_integer("n_features", n_features, least=1)
        self.model = model
        self.greed, self.ridge = check_positive("greed", greed), check_positive("ridge", ridge)
        self.optimism = check_between("optimism", optimism, 0.0, 1e6)
        self.norm, self.intercept = check_positive("norm", norm), check_flag("intercept", intercept)
        self._play_with(
            SquareEngine(
                self.n_arms,
                self.n_features,
                intercept=self.intercept,
                kind=choose("model", model, MODELS),
                greed=self.greed,
                ridge=self.ridge,
                norm=self.norm,
                optimism=self.optimism,
            )
        )

    @property
    def title(self) -> str:
        """Its name."""
        return f"SquareCB, {self.model} regression"

    @property
    def context_shape(self) -> tuple[int, ...]:
        """The number of features."""
        return (self.n_features,)

    @property
    def rivals(self) -> tuple[Any, ...]:
        """The arms: the best policy is at least as good as each of them."""
        return self.arms

    @property
    def caveat(self) -> str:
        """The sense in which the bound holds."""
        return (
            "in expectation, if the mean loss of each arm is linear in the context with "
            f"coefficients of norm {self.norm:g} at most"
        )

    def expected(self, context: Any) -> FloatArray:
        """Return the loss (or gain) that the regression expects of each arm."""
        seen = self._seen(context)
        with self._lock:
            self._engine.look(seen)
            found = self._engine.expected()
        return np.asarray(self._units.best + self._units.span * found)

    def _bound(self, horizon: Rounds, epsilon: FloatArray) -> FloatArray:
        if self.model != "ridge":
            raise NoBoundError("SquareCB has a bound with ridge regression alone")
        numbers = self._engine.numbers
        regret = squared_errors(numbers)
        found = square_cb(self._n_arms, float(numbers[INVERSE]), float(numbers[GAMMA]), regret)
        # gamma follows from the contexts, which are known until now
        return np.where(horizon == self.t, float(found), np.inf)

    @classmethod
    def _schema(cls, arguments: Content) -> tuple[Schema, Schema]:
        ours, state = super()._schema(arguments)
        arms, n_features = arguments.get("n_arms"), arguments.get("n_features")
        if not (isinstance(arms, int) and isinstance(n_features, int)):
            return ours, state
        d = n_features + bool(arguments.get("intercept"))
        return ours, {**state, "memory": array_of(arms * (d + d * d))}
