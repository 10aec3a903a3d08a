r"""The gradient trick: experts are charged by the slope of the loss at the mixture's prediction.

.. math:: \ell_{t,i} = g_t\,x_{t,i}, \qquad g_t = \ell'(\hat y_t, y_t)

A learner whose regret on these losses is at most B has a regret of at most B to every convex
combination of the experts, for a convex loss. N. Cesa-Bianchi and G. Lugosi, "Prediction,
Learning, and Games", 2006, Sec. 2.5.
"""

from __future__ import annotations

import math

import numpy as np

from driftgames._kernels.sums import dot, total
from driftgames.core.checks import check_flag, shown
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.losses.loss_base import GIVEN, Loss, Range
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.hedge.rounds.scale_free import ScaleFreeLearner


def play_linearised(
    learner: ExpertLearner,
    loss: Loss,
    forecasts: FloatArray,
    outcomes: FloatArray,
    awake: BoolArray | None,
) -> FloatArray:
    """Play rounds in order and return the mixture's predictions.

    The forecast of a sleeping expert is that of one awake, and has no weight. A scale-free learner
    plays all rounds of a loss that compiled loops know in one call.
    """
    if isinstance(learner, ScaleFreeLearner) and loss.compiled_slope is not None:
        return learner.run_forecasts(forecasts, outcomes, loss.compiled_slope, awake=awake)[0]
    mixed = np.empty(len(outcomes))
    for t, row in enumerate(forecasts):
        mask = None if awake is None or awake[t].all() else awake[t]
        mixed[t] = mix(row, distribution_of_awake(learner, mask))
        slope = loss.slope(mixed[t : t + 1], outcomes[t : t + 1])
        if isinstance(learner, ScaleFreeLearner):
            asleep = None if mask is None else mask[None]
            learner.run_forecasts(row[None], slope, (GIVEN, 0.0), awake=asleep)
        else:
            heard = row if mask is None else np.where(mask, row, mixed[t])
            learner.update(slope[0] * (heard - loss.middle))
    return mixed


def charged_range(loss: Loss, linearised: bool) -> Range | None:
    """Return the range of the losses that the learner is charged; None if they have none."""
    low, high = loss.linearised_range if linearised else loss.loss_range
    return (low, high) if math.isfinite(high - low) else None


def choose_linearised(loss: Loss, linearise: bool | None) -> bool:
    """Return whether losses are linearised. Default: if the loss has a gradient."""
    if linearise is None:
        return loss.has_slope
    if check_flag("linearise", linearise) and not loss.has_slope:
        raise ValueError(f"linearise needs a loss with a gradient; got {shown(loss)}")
    return linearise


def default_learner(linearised: bool) -> str:
    """Return the learner that wins on real data: ``bench mixing_real`` and ``bench hedge_real``."""
    return "adanormalhedge" if linearised else "adahedge"


def distribution_of_awake(learner: ExpertLearner, awake: BoolArray | None) -> FloatArray:
    """Return the next distribution over the experts that are awake.

    If a sleeping expert says what the mixture says, the mixture is the mean under the whole
    distribution too. So this serves every learner, whether or not it knows of sleep.
    """
    if awake is None or learner.sleeps:
        return learner.distribution(awake=awake).astype(np.float64, copy=False)
    p = np.where(awake, learner.distribution(), 0.0)
    weight = total(p)
    return p / weight if weight > 0.0 else awake / np.count_nonzero(awake)


def mix(forecasts: FloatArray, p: FloatArray) -> float:
    """Return the mean of a row under ``p``, with the bits of the compiled loop."""
    mean = dot(p, forecasts)
    return float(min(max(mean, forecasts.min()), forecasts.max()))
