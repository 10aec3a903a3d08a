r"""Rounds of forecasts and outcomes with linearised losses, as one compiled loop.

A round weighs the experts, mixes their forecasts, sees the outcome, and charges expert i

.. math:: \ell_{t,i} = g_t (x_{t,i} - \hat y_t), \qquad \hat y_t = p_t\cdot x_t, \quad
          g_t = \ell'(\hat y_t, y_t)

The learner's own loss is 0. An expert that sleeps is charged this, so its position does not
change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from driftgames._kernels.arithmetic import choose, greater, lesser
from driftgames._kernels.distribution import settle_weights
from driftgames._kernels.jit import kernel, specialise
from driftgames._kernels.lanes import LANES, fold_lesser, load, load_mask, spread, store
from driftgames._kernels.sums import dot_of
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.slopes import Slope, slope_at
from driftgames.hedge.two_pass import Advance, Learn, Weigh, compile_advance

MixRounds = Callable[..., None]

weigh: Weigh = NotImplemented  # names for `specialise` to bind
advance: Advance = NotImplemented


def _mix_rounds(
    cumulative: FloatArray,
    totals: FloatArray,
    memory: FloatArray,
    forecasts: FloatArray,
    outcomes: FloatArray,
    slope: Slope,
    factor: float,
    prior: FloatArray | None,
    awake: BoolArray | None,
    mixed: FloatArray,
    played: FloatArray,
    buffers: FloatArray,
) -> None:
    """Play the rows of ``forecasts``; ``mixed`` receives the predictions.

    ``factor`` brings losses into the units of the totals. The forecast of a sleeping expert is
    that of one awake. ``played`` receives the distributions if it has rows for them.
    """
    kind, parameter = slope
    n = cumulative.size
    p, losses, state = buffers[0], buffers[1], (cumulative, totals, memory)
    for r in range(len(outcomes)):
        whole = weigh(state, prior, p)
        if awake is None:
            total = settle_weights(p, whole, prior, None)
        else:
            total = settle_weights(p, whole, prior, awake[r])
        row = forecasts[r]
        least, most = spread(np.inf), spread(-np.inf)
        for i in range(0, n, LANES):
            store(p, i, load(p, i, 0.0) / total)
            least = lesser(load(row, i, np.inf), least)
            most = greater(load(row, i, -np.inf), most)
        # a rounded mean must not leave the range of the experts
        mean = min(max(dot_of(p, row), fold_lesser(least)), -fold_lesser(-most))
        charge = slope_at(kind, parameter, mean, outcomes[r]) * factor
        for i in range(0, n, LANES):
            loss = charge * (load(row, i, 0.0) - mean)
            if awake is not None:
                loss = choose(load_mask(awake[r], i), loss, 0.0)
            store(losses, i, loss)
        advance(state, prior, losses, whole, 0.0)
        mixed[r] = mean
        if len(played):
            for i in range(n):
                played[r, i] = p[i]


def compile_mixing(weigh: Weigh, learn: Learn) -> MixRounds:
    """Return the loop over the rows of a matrix of forecasts for a learner's two functions."""
    return specialise(_mix_rounds, kernel, weigh=weigh, advance=compile_advance(learn))
