"""From weights to a distribution over actions, and from a distribution to a drawn action."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import kernel
from driftgames._support.checks import FloatArray


@kernel
def normalise(
    p: FloatArray,
    total: float,
    prior: FloatArray | None,
    awake: npt.NDArray[np.bool_] | None,
) -> None:
    """Turn weights with this ``total`` into a distribution over those awake.

    Where all their weights are zero the prior is played, or without one the uniform
    distribution.
    """
    if awake is not None:
        total = 0.0
        for i in range(p.size):
            p[i] = p[i] if awake[i] else 0.0
            total += p[i]
    if not total > 0.0:
        total = 0.0
        for i in range(p.size):
            p[i] = 1.0 if prior is None else prior[i]
            if awake is not None:
                p[i] = p[i] if awake[i] else 0.0
            total += p[i]
    for i in range(p.size):
        p[i] /= total


@kernel
def draw(p: FloatArray, uniform: float) -> int:
    """Return the action that a number in [0, 1) draws; one of probability 0 never is."""
    passed, drawn = 0.0, 0
    for i in range(p.size):
        if p[i] > 0.0:
            drawn = i
            passed += p[i]
            if passed > uniform:
                break
    return drawn
