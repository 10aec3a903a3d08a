"""Loops over trading days: exponentiated gradient, the online Newton step and Soft-Bayes."""

from __future__ import annotations

import numpy as np

from driftgames._kernels.elementary import exp, log
from driftgames._kernels.jit import allocating_kernel, kernel
from driftgames._kernels.simplex import lowest_on_simplex
from driftgames.core.typing import FloatArray


@kernel
def exponentiated_gradient(
    logits: FloatArray, relatives: FloatArray, eta: float, portfolios: FloatArray
) -> None:
    """Move the logits through the days and write one more portfolio than there are days."""
    n_assets = logits.size
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * relatives[day - 1, k]
            for k in range(n_assets):
                logits[k] += eta * relatives[day - 1, k] / gain
        highest = logits[0]
        for k in range(1, n_assets):
            highest = max(highest, logits[k])
        total = 0.0
        for k in range(n_assets):
            portfolios[day, k] = exp(logits[k] - highest)
            total += portfolios[day, k]
        for k in range(n_assets):
            portfolios[day, k] /= total


@allocating_kernel
def online_newton_step(
    curvature: FloatArray,
    gradients: FloatArray,
    start: FloatArray,
    relatives: FloatArray,
    beta: float,
    delta: float,
    mix: float,
    portfolios: FloatArray,
) -> None:
    """Move curvature and gradients through the days; one more portfolio than there are days.

    ``start`` is where the search for the next portfolio begins, and holds it at the end; a
    search that begins at its own result ends there, to the bit.
    """
    n_assets = gradients.size
    pull = np.empty(n_assets)
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            x = relatives[day - 1]
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * x[k]
            for k in range(n_assets):
                gradients[k] += (1.0 + 1.0 / beta) * x[k] / gain
                for j in range(n_assets):
                    curvature[k, j] += (x[k] / gain) * (x[j] / gain)
        for k in range(n_assets):
            pull[k] = delta * gradients[k]
        lowest_on_simplex(curvature, pull, start)
        for k in range(n_assets):
            portfolios[day, k] = (1.0 - mix) * start[k] + mix / n_assets


@kernel
def soft_bayes(
    shares: FloatArray, played: float, relatives: FloatArray, portfolios: FloatArray
) -> None:
    """Move the shares through the days after ``played`` earlier ones; one more portfolio."""
    n_assets = shares.size
    for day in range(relatives.shape[0] + 1):
        if day > 0:
            t = played + day
            rate = np.sqrt(log(n_assets) / (2.0 * n_assets * t))
            kept = np.sqrt(t / (t + 1.0))
            gain = 0.0
            for k in range(n_assets):
                gain += portfolios[day - 1, k] * relatives[day - 1, k]
            for k in range(n_assets):
                moved = portfolios[day - 1, k] * (1.0 - rate + rate * relatives[day - 1, k] / gain)
                shares[k] = kept * moved + (1.0 - kept) / n_assets
        total = 0.0
        for k in range(n_assets):
            total += shares[k]
        for k in range(n_assets):
            portfolios[day, k] = shares[k] / total
