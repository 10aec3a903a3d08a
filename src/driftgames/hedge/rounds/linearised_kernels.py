"""Rounds of forecasts as one loop, compiled for each learner; losses are linearised or not.

The loop is a template of a learner, as that of `driftgames.hedge.rounds.two_pass`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from driftgames._kernels.arithmetic import choose, fma, greater, lesser
from driftgames._kernels.distribution import settle_weights
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.lanes import LANES, fold, fold_lesser, load, load_mask, spread, store
from driftgames._kernels.sums import dot_of
from driftgames._kernels.templates import Part, as_part, instantiate
from driftgames.core.typing import BoolArray, FloatArray, IntArray
from driftgames.hedge.losses.loss_base import Slope, loss_at, slope_at
from driftgames.hedge.rounds.two_pass import Learn, Weigh, advance

MixRounds = Callable[..., int]

LARGEST = 1e290
"""The largest loss that the loop takes: totals of many rounds stay finite below it."""

learner = Part("learner")


@kernel
def _mix_rounds(
    cumulative: FloatArray,
    totals: FloatArray,
    memory: FloatArray,
    forecasts: FloatArray,
    outcomes: FloatArray,
    slope: Slope,
    linearised: bool,
    scale: tuple[float, float, float, float],
    prior: FloatArray | None,
    awake: BoolArray | None,
    mixed: FloatArray,
    played: FloatArray,
    buffers: FloatArray,
    sums: FloatArray,
    counts: IntArray,
) -> int:
    """Play the rows of ``forecasts`` and return their number; ``mixed`` receives the predictions.

    An action is charged the slope at the mixture's prediction times its distance from it, or, if
    not ``linearised``, its own loss. ``scale`` brings losses into the units of the totals.
    ``played`` receives the distributions if it has rows for them. The losses of the mixture and of
    every expert are added to ``sums``, and the rounds in which an expert is awake to ``counts``, if
    they have entries. The loop stops at a row whose losses are too large, and the state is then
    that of the row before.
    """
    _, _, offset, factor = scale
    n = cumulative.size
    p, losses, state = buffers[0], buffers[1], (cumulative, totals, memory)
    for r in range(len(outcomes)):
        whole = learner.weigh(state, prior, p)
        total = settle_weights(p, whole, prior, awake, r)
        row, own = forecasts[r], 0.0
        if not linearised:
            own = _charge_losses(p, total, row, outcomes[r], slope, offset, factor, losses)
        least, most = spread(np.inf), spread(-np.inf)
        for i in range(0, n, LANES):
            store(p, i, load(p, i, 0.0) / total)
            least = lesser(load(row, i, np.inf), least)
            most = greater(load(row, i, -np.inf), most)
        # a rounded mean must not leave the range of the experts
        mean = min(max(dot_of(p, row), fold_lesser(least)), -fold_lesser(-most))
        if linearised:
            charge = slope_at(slope[0], slope[1], mean, outcomes[r]) * factor
            for i in range(0, n, LANES):
                store(losses, i, charge * (load(row, i, 0.0) - mean))
        if awake is not None:
            for i in range(0, n, LANES):
                loss = choose(load_mask(awake[r], i), load(losses, i, 0.0), own)
                store(losses, i, loss)
        if not _all_below(losses, LARGEST):
            return r
        if len(sums) and not _add_up(row, awake, r, mean, outcomes[r], slope, sums, buffers[2]):
            return r
        if len(counts):
            for i in range(n):
                counts[i] += 1 if awake is None or awake[r, i] else 0
        advance(state, prior, losses, whole, own)
        mixed[r] = mean
        if len(played):
            for i in range(n):
                played[r, i] = p[i]
    return len(outcomes)


@inner_kernel
def _charge_losses(
    p: FloatArray,
    total: float,
    row: FloatArray,
    outcome: float,
    slope: Slope,
    offset: float,
    factor: float,
    losses: FloatArray,
) -> float:
    """Write the losses of all actions, and return their mean under the weights ``p``."""
    for i in range(row.size):
        losses[i] = (loss_at(slope[0], slope[1], row[i], outcome) - offset) * factor
    taken = spread(0.0)
    for i in range(0, row.size, LANES):
        taken = fma(load(p, i, 0.0), load(losses, i, 0.0), taken)
    return fold(taken) / total


@inner_kernel
def _all_below(values: FloatArray, most: float) -> bool:
    """Whether all sizes are at most ``most``; NaN is not."""
    below = True
    for i in range(values.size):
        below &= abs(values[i]) <= most
    return below


@inner_kernel
def _add_up(
    row: FloatArray,
    awake: BoolArray | None,
    r: int,
    mean: float,
    outcome: float,
    slope: Slope,
    sums: FloatArray,
    after: FloatArray,
) -> bool:
    """Add the losses of a round to ``sums``; return False and add none if a sum overflows."""
    kind, parameter = slope
    n = row.size
    own = loss_at(kind, parameter, mean, outcome)
    for i in range(n):
        asleep = awake is not None and not awake[r, i]
        lost = own if asleep else loss_at(kind, parameter, row[i], outcome)
        after[i] = sums[1 + i] + lost
    own += sums[0]
    if not (abs(own) < np.inf and _all_below(after[:n], np.finfo(np.float64).max)):
        return False
    sums[0] = own
    for i in range(n):
        sums[1 + i] = after[i]
    return True


def compile_mixing(weigh: Weigh, learn: Learn) -> MixRounds:
    """Return the loop over rows of forecasts for a learner's two functions."""
    return instantiate(_mix_rounds, learner=as_part("learner", weigh=weigh, learn=learn))
