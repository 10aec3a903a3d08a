"""From weights to a distribution over actions, and from a distribution to a drawn action."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose
from driftgames._kernels.jit import inner_kernel, kernel, scalar
from driftgames._kernels.lanes import LANES, fold, load, load_mask, spread, store
from driftgames._kernels.sums import total_of
from driftgames.core.typing import FloatArray

BLOCK = 256  # actions that a draw skips at once


@scalar
def times_prior(w: float, prior: FloatArray | None, i: int, there: bool) -> float:
    """Return the weights of the actions from ``i`` on times their prior; 0 where none is there."""
    if prior is None:
        return choose(there, w, 0.0)
    # the weight of an action with prior 0 may overflow; it is not used
    share = load(prior, i, 0.0)
    return choose(share > 0.0, w * share, 0.0)


@inner_kernel
def settle_weights(
    p: FloatArray,
    total: float,
    prior: FloatArray | None,
    awake: npt.NDArray[np.bool_] | None,
    row: int,
) -> float:
    """Return the sum of the weights of those awake in this row, and set the others' to zero.

    Where all their weights are zero the prior is played, or without one the uniform
    distribution. ``total`` is the sum of all weights.
    """
    if awake is not None:
        total = _put_to_sleep(p, awake[row])
    if not total > 0.0:
        for i in range(p.size):
            p[i] = 1.0 if prior is None else prior[i]
        total = total_of(p) if awake is None else _put_to_sleep(p, awake[row])
    return total


@kernel
def normalise(p: FloatArray, total: float, prior: FloatArray | None) -> None:
    """Turn weights with this ``total`` into a distribution."""
    total = settle_weights(p, total, prior, None, 0)
    for i in range(p.size):
        p[i] /= total


@inner_kernel
def _put_to_sleep(p: FloatArray, awake: npt.NDArray[np.bool_]) -> float:
    """Set the weights of actions that sleep to zero and return the sum of the others."""
    total = spread(0.0)
    for i in range(0, p.size, LANES):
        w = choose(load_mask(awake, i), load(p, i, 0.0), 0.0)
        store(p, i, w)
        total += w
    return fold(total)


@kernel
def draw(p: FloatArray, uniform: float) -> int:
    """Return the action that a number in [0, 1) draws; one of probability 0 never is."""
    rest, start = uniform, 0
    while start + BLOCK < p.size:  # skip whole blocks by their sums
        in_block = total_of(p[start : start + BLOCK])
        if rest < in_block:
            break
        rest -= in_block
        start += BLOCK
    drawn = -1
    for i in range(start, p.size):
        if p[i] > 0.0:
            drawn = i
            if rest < p[i]:
                break
            rest -= p[i]
    while drawn < 0:  # rounding led past the last action of positive probability
        start -= 1
        drawn = start if p[start] > 0.0 else -1
    return drawn
