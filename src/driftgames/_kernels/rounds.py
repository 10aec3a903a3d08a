"""The rounds of a learner that weighs in a pass of its own and remembers more than totals.

The loop calls ``weigh(cumulative, ledger, prior, memory, out)``, which writes weights and
returns their sum, and ``learn(...)``, which updates the memory when the losses are known;
`specialise` binds the two. ``memory`` is an array of the learner's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.distribution import settle_weights
from driftgames._kernels.jit import kernel, specialise
from driftgames._kernels.lanes import LANES, fold, fold_lesser, load, load_mask, spread, store
from driftgames._kernels.ledger import CLOCK, LEAD, LOWEST, all_inside, settle
from driftgames.core.typing import FloatArray

Weigh = Callable[[FloatArray, FloatArray, FloatArray | None, FloatArray, FloatArray], float]
Learn = Callable[
    [FloatArray, FloatArray, FloatArray | None, FloatArray, FloatArray, float, float], None
]

PlayRounds = Callable[..., int]

weigh: Weigh = NotImplemented  # names for `specialise` to bind
learn: Learn = NotImplemented


def _play_rounds(
    cumulative: FloatArray,
    ledger: FloatArray,
    memory: FloatArray,
    losses: npt.NDArray[Any],
    scale: tuple[float, float, float, float],
    prior: FloatArray | None,
    awake: npt.NDArray[np.bool_] | None,
    learner_losses: FloatArray,
    regret: FloatArray,
    played: FloatArray,
    buffers: FloatArray,
) -> int:
    """Play the rows of ``losses``; return how many, stopping before one out of range.

    An action asleep is charged the learner's own loss, so that it neither gains nor loses.
    ``played`` keeps the distributions if it has rows for them. Without losses the next
    distribution is looked at, by the same code that plays it.
    """
    low, high, offset, factor = scale
    n, rounds = cumulative.size, len(losses)
    p, scaled = buffers[0], buffers[1]
    for r in range(max(rounds, 1)):
        if rounds > 0 and not all_inside(losses[r], low, high):
            return r
        total = weigh(cumulative, ledger, prior, memory, p)
        if awake is None:
            total = settle_weights(p, total, prior, None)
        else:
            total = settle_weights(p, total, prior, awake[r])
        if len(played):
            for i in range(n):
                played[r, i] = p[i] / total
        if rounds == 0:
            break
        row = losses[r]
        taken = spread(0.0)
        for i in range(0, n, LANES):
            loss = (load(row, i, offset) - offset) * factor
            store(scaled, i, loss)
            taken = fma(load(p, i, 0.0), loss, taken)
        learner_loss = fold(taken) / total
        if awake is not None:
            for i in range(0, n, LANES):
                loss = choose(load_mask(awake[r], i), load(scaled, i, 0.0), learner_loss)
                store(scaled, i, loss)
        learn(cumulative, ledger, prior, memory, scaled, total, learner_loss)
        least = spread(np.inf)
        for i in range(0, n, LANES):
            after = load(cumulative, i, np.inf) + load(scaled, i, 0.0)
            store(cumulative, i, after)
            if prior is not None:
                after = choose(load(prior, i, 0.0) > 0.0, after, np.inf)
            least = lesser(after, least)
        lowest = fold_lesser(least)
        ledger[CLOCK] += 1.0
        ledger[LEAD] += learner_loss
        ledger[LOWEST] = lowest
        learner_losses[r] = learner_loss
        regret[r] = ledger[LEAD] - lowest
        settle(cumulative, ledger)
    return rounds


def rounds_of(weigh: Weigh, learn: Learn) -> PlayRounds:
    """Return the loop over the rows of a loss matrix for this way to weigh and learn."""
    return specialise(_play_rounds, kernel, weigh=weigh, learn=learn)
