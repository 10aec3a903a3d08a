"""The totals of a game: the clock, the learner's loss, the lowest loss and the floor.

Cumulative losses are float64 for losses of any dtype, as the learner's own total is. All totals
are measured from a floor that rises with them, so they stay small numbers in a long game. The
floor is an integer: subtracting it rounds nothing.
"""

from __future__ import annotations

import numpy as np

from driftgames._kernels.jit import kernel, scalar
from driftgames.core.typing import FloatArray

CLOCK, LEARNER, LOWEST, FLOOR = 0, 1, 2, 3
"""Rounds played; the learner's total and the lowest total, both above the floor; the floor."""

_RISE = 256.0  # large, so that it happens rarely; small, so that 44 binary places remain

ROUNDING_ERROR = _RISE * 2.0**-52
"""The largest rounding error of one addition to a total that is near the floor."""


@scalar
def close_round(
    cumulative: FloatArray, totals: FloatArray, learner_loss: float, lowest: float
) -> float:
    """Count a round whose losses are added up already; return the regret after it.

    ``lowest`` is the lowest total.
    """
    totals[CLOCK] += 1.0
    totals[LEARNER] += learner_loss
    totals[LOWEST] = lowest
    regret: float = totals[LEARNER] - lowest
    raise_floor(cumulative, totals)
    return regret


@kernel
def raise_floor(cumulative: FloatArray, totals: FloatArray) -> None:
    """Raise the floor if every action is far above it."""
    if totals[LOWEST] >= _RISE:
        rise = np.floor(totals[LOWEST])
        for i in range(cumulative.size):
            cumulative[i] -= rise
        totals[LEARNER] -= rise
        totals[LOWEST] -= rise
        totals[FLOOR] += rise
