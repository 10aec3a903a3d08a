"""The upper concave envelope of a function over a few moves, evaluated at one point."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from driftgames._kernels.jit import allocating_kernel
from driftgames.core.typing import FloatArray


@allocating_kernel
def envelope(
    layer: FloatArray,
    moves: npt.NDArray[np.int64],
    beta: float,
    values: FloatArray,
    slopes: FloatArray,
) -> None:
    """Write the envelope of ``z -> layer[i + z]`` over the moves at ``beta``, for every ``i``.

    Moves are lattice steps in rising order, the first of them 0. ``slopes`` receives the
    negated slope of the envelope at ``beta``, the mean of both sides at a corner. Where
    ``beta`` lies below the least move, every move is allowed and the least one is the worst.
    """
    n_moves = moves.size
    hull = np.empty(n_moves, dtype=np.int64)
    for i in range(values.size):
        if beta < 0.0:
            values[i], slopes[i] = layer[i], 0.0
            continue
        top = 0
        for k in range(n_moves):
            z, f = moves[k], layer[i + moves[k]]
            while top >= 2:
                z1, z2 = moves[hull[top - 2]], moves[hull[top - 1]]
                f1, f2 = layer[i + z1], layer[i + z2]
                # the middle point stays only if it lies strictly above the chord
                if (f2 - f1) * (z - z1) > (f - f1) * (z2 - z1):
                    break
                top -= 1
            hull[top] = k
            top += 1

        right = 1
        while right < top - 1 and moves[hull[right]] < beta:
            right += 1
        z1, z2 = moves[hull[right - 1]], moves[hull[right]]
        f1, f2 = layer[i + z1], layer[i + z2]
        # weights of the two ends rather than a slope times a length: exact at halves
        share = (beta - z1) / (z2 - z1)
        values[i] = (1.0 - share) * f1 + share * f2
        slopes[i] = (f1 - f2) / (z2 - z1)
        if beta == z2 and right < top - 1:
            z3 = moves[hull[right + 1]]
            slopes[i] = 0.5 * (slopes[i] + (f2 - layer[i + z3]) / (z3 - z2))
