"""Loops over chips, written once and compiled for each potential's weight.

A loop here calls ``weight(s, t, log_scale, theta)``, a scalar function that it does not know
yet; `specialise` binds that name to a potential's own function and compiles the loop.
``theta`` is the tuple of that potential's parameters.
"""

from __future__ import annotations

from collections.abc import Callable

from driftgames._kernels.jit import kernel, specialise
from driftgames._support.checks import FloatArray

Theta = tuple[float, ...]
Weight = Callable[[float, float, float, Theta], float]

weight: Weight = NotImplemented  # a name for `specialise` to bind


def _weigh(
    positions: FloatArray, t: float, log_scale: float, theta: Theta, out: FloatArray
) -> None:
    """Write the weight of every chip to ``out``."""
    for i in range(positions.size):
        out[i] = weight(positions[i], t, log_scale, theta)


def weigher(weight: Weight) -> Callable[[FloatArray, float, float, Theta, FloatArray], None]:
    """Return ``weigh(positions, t, log_scale, theta, out)`` for this weight."""
    return specialise(_weigh, kernel, weight=weight)
