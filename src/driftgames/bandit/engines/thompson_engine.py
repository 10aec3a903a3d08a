r"""The engine of `ThompsonSampling`: a grid of means per arm, weighed by what was seen.

The mean loss of an arm is one of G values. They lie at ``x**2 (3 - 2 x)`` for equally spaced x,
closer together near 0 and 1, where a coin says more. A model weighs the values of every arm:

- a loss l multiplies the weight of the value v by ``v**l (1 - v)**(1 - l)``;
- after each pull a share ``hazard`` of the weights goes back to the prior, and neighbours exchange
  a share ``spread`` of theirs.

This is Hedge with log-loss and fixed share over the values, and the exact posterior where the mean
of an arm jumps with chance ``hazard`` and walks along the grid. There may be several models: each
predicts every loss that comes, and is weighed by how well it did so.

The buffer holds, one after the other: the shares of the H models; the weights, K x H x G; and then
what follows from them or is constant: the logarithms of v and of 1 - v, the prior, hazards and
spreads, the weights of all models together (K x G), the chance to lie above each value (K x G), and
a row. Sums over values and arms have the order of their indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from driftgames._kernels.distribution import draw as draw_index
from driftgames._kernels.elementary import exp, log_all
from driftgames._kernels.jit import kernel, scalar
from driftgames._kernels.sums import total
from driftgames.bandit.engines.clock_kernels import CLOCK_SIZE, count_loss, count_pull
from driftgames.bandit.engines.engine import PolicyEngine, State, Steps
from driftgames.bandit.engines.uniform_kernels import next_uniform
from driftgames.core.checks import check_finite, check_range
from driftgames.core.schema import array_of
from driftgames.core.typing import FloatArray

CELLS = CLOCK_SIZE  # G
MODELS = CLOCK_SIZE + 1  # H
AGREE = CLOCK_SIZE + 2  # the number of draws from the posterior that must agree
SIZE = CLOCK_SIZE + 3

SWITCH = 1e-4  # of the shares of models: the chance that another model is right from now on
TINY, HUGE = 1e-200, 1e200  # products of chances are kept above TINY


@scalar
def sizes_of(estimates: FloatArray, numbers: FloatArray) -> tuple[int, int, int]:
    """Return the numbers of arms, models and values."""
    return estimates.size, int(numbers[MODELS]), int(numbers[CELLS])


@kernel
def distribute(
    estimates: FloatArray, buffer: FloatArray, numbers: FloatArray, out: FloatArray
) -> None:
    """Write the chance of each arm to have the lowest mean, to the power of AGREE, normalised.

    Within a cell of the grid, arms are ordered at random: half of a cell's weight lies above.
    """
    K, H, G = sizes_of(estimates, numbers)
    weights = buffer[H : H + K * H * G]
    rest = H + K * H * G + 3 * G + 2 * H
    mean, above = buffer[rest : rest + K * G], buffer[rest + K * G : rest + 2 * K * G]
    for arm in range(K):
        for cell in range(G):
            mean[arm * G + cell] = 0.0
        for model in range(H):
            start = (arm * H + model) * G
            for cell in range(G):
                mean[arm * G + cell] += buffer[model] * weights[start + cell]
        passed = 0.0
        for back in range(G):
            place = arm * G + (G - 1 - back)
            above[place] = passed + 0.5 * mean[place]
            passed += mean[place]
    out[:] = 0.0
    fewest = 1 << 40  # rescalings of the largest product so far
    for cell in range(G):
        product, scaled = 1.0, 0
        for arm in range(K):
            product *= above[arm * G + cell]
            if product < TINY:
                product *= HUGE
                scaled += 1
        if product == 0.0 or scaled > fewest:
            continue
        if scaled < fewest:  # what came before is smaller by a factor of HUGE at least
            fewest = scaled
            out[:] = 0.0
        for arm in range(K):
            out[arm] += mean[arm * G + cell] * (product / above[arm * G + cell])
    whole = 0.0
    for arm in range(K):
        whole += out[arm]
    if not whole > 0.0:
        out[:] = 1.0 / K
        return
    sharp = 0.0
    for arm in range(K):
        share = out[arm] / whole
        power = share
        for _ in range(1, int(numbers[AGREE])):
            power *= share
        out[arm] = power
        sharp += power
    for arm in range(K):
        out[arm] /= sharp


@kernel
def age(estimates: FloatArray, buffer: FloatArray, numbers: FloatArray) -> None:
    """Let a round pass: every model forgets a little of every arm."""
    K, H, G = sizes_of(estimates, numbers)
    weights, constants = buffer[H : H + K * H * G], buffer[H + K * H * G :]
    prior, hazards, spreads = constants[2 * G : 3 * G], constants[3 * G :], constants[3 * G + H :]
    row = buffer[buffer.size - G :]
    for model in range(H):
        hazard, spread = hazards[model], spreads[model]
        for arm in range(K):
            mine = weights[(arm * H + model) * G : (arm * H + model + 1) * G]
            if spread > 0.0:
                for cell in range(G):
                    row[cell] = mine[cell]
                for cell in range(1, G - 1):
                    mine[cell] = row[cell] + spread * (
                        row[cell - 1] - 2.0 * row[cell] + row[cell + 1]
                    )
                mine[0] = row[0] + spread * (row[1] - row[0])
                mine[G - 1] = row[G - 1] + spread * (row[G - 2] - row[G - 1])
            if hazard > 0.0:
                for cell in range(G):
                    mine[cell] = mine[cell] + hazard * (prior[cell] - mine[cell])


@kernel
def weigh(
    estimates: FloatArray, buffer: FloatArray, numbers: FloatArray, arm: int, loss: float
) -> None:
    """Weigh the values of an arm by the chance they gave to a loss, and the models by theirs."""
    K, H, G = sizes_of(estimates, numbers)
    weights, constants = buffer[H : H + K * H * G], buffer[H + K * H * G :]
    row = buffer[buffer.size - G :]
    for cell in range(G):
        row[cell] = exp(loss * constants[cell] + (1.0 - loss) * constants[G + cell])
    together = 0.0
    for model in range(H):
        mine = weights[(arm * H + model) * G : (arm * H + model + 1) * G]
        chance = 0.0
        for cell in range(G):
            mine[cell] *= row[cell]
            chance += mine[cell]
        for cell in range(G):
            mine[cell] /= chance
        buffer[model] *= chance
        together += buffer[model]
    for model in range(H):
        buffer[model] = (1.0 - SWITCH) * (buffer[model] / together) + SWITCH / H


@scalar
def draw_one(state: State, uniform: float) -> tuple[int, float]:
    """Return the arm that a uniform number draws and the probability it had."""
    estimates, buffer, numbers = state
    end = buffer.size - int(numbers[CELLS])
    p = buffer[end - estimates.size : end]
    distribute(estimates, buffer, numbers, p)
    count_pull(numbers, 0.0)
    arm = draw_index(p, uniform)
    prob = p[arm]
    age(estimates, buffer, numbers)
    return arm, prob


@scalar
def chance_of(state: State, prob: float) -> float:
    """Return the probability itself: gamma is 0."""
    return prob


@scalar
def learn_one(state: State, arm: int, loss: float, prob: float) -> None:
    """Take a loss, and add its estimate as all policies do."""
    estimates, buffer, numbers = state
    estimates[arm] += loss / prob
    count_loss(numbers, loss)
    weigh(estimates, buffer, numbers, arm, loss)


@scalar
def distribute_next(state: State, out: FloatArray) -> None:
    """Write the probabilities of the next pull and change nothing else."""
    estimates, buffer, numbers = state
    distribute(estimates, buffer, numbers, out)


@kernel
def draw(
    estimates: FloatArray, buffer: FloatArray, numbers: FloatArray, function: int, generator: int
) -> tuple[int, float]:
    """Call `draw_one` from Python."""
    return draw_one((estimates, buffer, numbers), next_uniform(function, generator))


@kernel
def learn(
    estimates: FloatArray,
    buffer: FloatArray,
    numbers: FloatArray,
    arm: int,
    loss: float,
    prob: float,
) -> None:
    """Call `learn_one` from Python."""
    learn_one((estimates, buffer, numbers), arm, loss, prob)


def values_of(cells: int) -> FloatArray:
    """Return the grid of means.

    >>> values_of(4).round(3)
    array([0.043, 0.316, 0.684, 0.957])
    """
    x = (np.arange(cells) + 0.5) / cells
    return np.asarray(x * x * (3.0 - 2.0 * x))


class ThompsonEngine(PolicyEngine):
    """Draws each arm by the chance that it is the best one, under all models together.

    ``hazards`` and ``spreads`` have an entry per model. ``memory`` is the state: the shares of the
    models and the weights of all values.
    """

    steps = Steps(draw_one, chance_of, learn_one, distribute_next)
    memory: FloatArray

    def __init__(
        self,
        n_arms: int,
        *,
        cells: int,
        agree: int,
        hazards: Sequence[float],
        spreads: Sequence[float],
    ) -> None:
        models = len(hazards)
        self.estimates = np.zeros(n_arms)
        self.numbers = np.zeros(SIZE)
        self.numbers[[CELLS, MODELS, AGREE]] = cells, models, agree
        values = values_of(cells)
        x = (np.arange(cells) + 0.5) / cells
        prior = x * (1.0 - x)  # all means alike: the slope of the grid
        prior = prior / total(prior)
        weights = np.tile(prior, n_arms * models)
        constants = [log_all(values), log_all(1.0 - values), prior, list(hazards), list(spreads)]
        scratch = np.zeros(2 * n_arms * cells + n_arms + cells)
        shares = np.full(models, 1.0 / models)
        self._scratch = np.concatenate([shares, weights, *constants, scratch])
        self.memory = self._scratch[: models + weights.size]
        self.bind()

    def distribution(self) -> FloatArray:
        """Return the chances of the arms to be the best."""
        p = np.empty(self.estimates.size)
        distribute(self.estimates, self._scratch, self.numbers, p)
        return p

    def bind(self) -> None:
        """Bind the kernels to the arrays."""
        state = (self.estimates, self._scratch, self.numbers)
        self.draw, self.learn = partial(draw, *state), partial(learn, *state)

    def means(self) -> FloatArray:
        """Return the posterior mean loss of each arm."""
        K, H = self.estimates.size, int(self.numbers[MODELS])
        weights = self.memory[H:].reshape(K, H, -1)
        values = values_of(weights.shape[-1])
        return np.asarray([(self.memory[:H] @ each) @ values for each in weights])

    def check(self, estimates: FloatArray, numbers: FloatArray) -> None:
        """Raise ValueError for the constants of another engine."""
        constants = [CELLS, MODELS, AGREE]
        wanted, found = self.numbers[constants].tolist(), numbers[constants].tolist()
        if found != wanted:
            raise ValueError(f"the constants must be {wanted}; got {found}")

    def check_memory(self, memory: FloatArray) -> None:
        """Raise ValueError unless these are shares and weights that sum to 1."""
        array_of(self.memory.size).check("memory", memory)
        check_finite("memory", memory)
        check_range("memory", memory, 0.0, 1.0 + 1e-9)
        models, cells = int(self.numbers[MODELS]), int(self.numbers[CELLS])
        sums = np.append(memory[models:].reshape(-1, cells).sum(axis=1), memory[:models].sum())
        if (np.abs(sums - 1.0) > 1e-6).any():
            raise ValueError("the shares of models and the weights of means must sum to 1")
