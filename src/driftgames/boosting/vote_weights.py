"""Weights of votes as multiples of one power of two: their sums are exact in any order."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_vector
from driftgames.core.typing import FloatArray


def exact_weights(vote_weights: npt.ArrayLike | None, n_votes: int) -> tuple[FloatArray, bool]:
    """Return the weights as multiples of one power of two, and whether all of them are 1.

    The default is a weight of 1 for each vote.
    """
    if vote_weights is None:
        return np.ones(n_votes), True
    weights = check_vector("vote_weights", vote_weights, n_votes)
    if (weights == 1.0).all():
        return weights, True
    return round_to_unit(weights, float(np.abs(weights).sum())), False


def round_to_unit(values: FloatArray, total: float) -> FloatArray:
    """Round values to multiples of a power of two, some ``2**-51`` of ``total``.

    Two bits are to spare: steps between votes are up to twice their sum.
    """
    scale = 51 - math.frexp(total)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, scale)), -scale))
