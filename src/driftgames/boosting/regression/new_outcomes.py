"""Examples held out of everything: which these are, and what they promise of new ones."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.row_sample import draw_keys, hash_rows, hold_out
from driftgames.boosting.regression.conformal import Places
from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution
from driftgames.boosting.regression.stages import (
    BLOCK,
    HeldOutScores,
    NumberExamples,
    StagedModel,
)
from driftgames.certificates.mean_intervals import mean_interval
from driftgames.certificates.new_numbers import ASKED, NewNumbers
from driftgames.core.checks import shown
from driftgames.core.typing import FloatArray

DELTA = 0.05
"""The chance that a bound is wrong."""


def divide(examples: NumberExamples, fraction: float | int) -> tuple[Array, Array]:
    """Return the numbers of the examples to train on, and of those held out of everything.

    These are drawn by pseudo-random keys of the columns, in the order of the keys. Copies of a row
    have different keys, whatever their outcomes.
    """
    n = examples.y.size
    share = fraction if fraction < 1 else fraction / n
    order = np.argsort(draw_keys(hash_rows(examples.X), examples.y, examples.sample_weight))
    is_held_out = hold_out(np.arange(n), share)
    if not is_held_out.any() or is_held_out.all():
        raise ValueError(
            f"validation_fraction={shown(fraction)} of {n} examples must leave one to train on, "
            "and one to hold out"
        )
    return np.sort(order[~is_held_out]), order[is_held_out]


def promise(
    model: StagedModel, scores: HeldOutScores, trained: NumberExamples, held_out: NumberExamples
) -> HeldOutScores:
    """Return the scores with what examples promise that were held out, in the order of keys."""
    low, high = float(trained.y.min()), float(trained.y.max())
    found, crps, errors = [], [], []
    for start in range(0, held_out.y.size, BLOCK):
        some = slice(start, start + BLOCK)
        rows = model.distribution(held_out.X[some], categories=held_out.categories)
        found.append(rows.quantiles)
        within, y = _clipped(rows, held_out.y[some], low, high, model.exponent)
        crps.append(within.crps(y))
        errors.append(np.abs(within.median() - y))
    rows = PredictedDistribution(LEVELS, np.concatenate(found))
    places = Places.of(rows, held_out.y, model.exponent, promised=True)
    width = math.ldexp(high, -model.exponent) - math.ldexp(low, -model.exponent)

    def bound(parts: list[FloatArray]) -> tuple[float, float]:
        """Return the mean of scores from 0 to the width of the range, and its upper bound."""
        values = np.concatenate(parts)
        shares = np.minimum(values / width, 1.0) if width else values
        found = mean_interval(shares, DELTA, side="upper")
        mean, most = (math.ldexp(each * width, model.exponent) for each in (found.mean, found.high))
        return mean, most

    (crps_mean, crps_high), (mae, mae_high) = bound(crps), bound(errors)
    new = NewNumbers(
        n_examples=held_out.y.size,
        low=low,
        high=high,
        crps=crps_mean,
        mae=mae,
        crps_high=crps_high,
        mae_high=mae_high,
        coverage=places.promise(ASKED),
        delta=DELTA,
    )
    return replace(scores, places=places, new_examples=new)


def _clipped(
    rows: PredictedDistribution, y: FloatArray, low: float, high: float, exponent: int
) -> tuple[PredictedDistribution, FloatArray]:
    """Return distributions and outcomes clipped to a range, times ``2**-exponent``."""
    quantiles = np.ldexp(np.clip(rows.quantiles, low, high), -exponent)
    return PredictedDistribution(rows.levels, quantiles), np.ldexp(np.clip(y, low, high), -exponent)
