"""Loops over chips, written once and compiled for each potential's weight.

A loop here calls ``weight(s, t, log_scale, theta)`` and ``exponent(s, t, theta)``, scalar
functions that it does not know yet; `specialise` binds these names to a potential's own
functions and compiles the loop. ``theta`` is the tuple of that potential's parameters, and
``exponent`` the logarithm of the largest term in the weight of a chip at ``s``. A loop hands
``weight`` the positions of eight chips at a time, as `Lanes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.distribution import draw, normalise
from driftgames._kernels.jit import kernel, specialise
from driftgames._kernels.lanes import (
    LANES,
    any_of,
    first,
    fold,
    fold_lesser,
    load,
    spread,
    store,
)
from driftgames._kernels.ledger import CLOCK, LEAD, LOWEST, settle
from driftgames.core.typing import FloatArray

Theta = tuple[float, ...]
Weight = Callable[[float, float, float, Theta], float]
Exponent = Callable[[float, float, Theta], float]
Distribute = Callable[[FloatArray, FloatArray, FloatArray | None, Theta, FloatArray], None]
Replay = Callable[..., int]

weight: Weight = NotImplemented  # names for `specialise` to bind
exponent: Exponent = NotImplemented
distribute: Distribute = NotImplemented


def _weigh(
    positions: FloatArray, t: float, log_scale: float, theta: Theta, out: FloatArray
) -> None:
    """Write the weight of every chip to ``out``."""
    for i in range(0, positions.size, LANES):
        store(out, i, weight(load(positions, i, 0.0), t, log_scale, theta))


def _distribute(
    cumulative: FloatArray,
    ledger: FloatArray,
    prior: FloatArray | None,
    theta: Theta,
    out: FloatArray,
) -> None:
    """Write what Algorithm 3 plays in the next round."""
    t, lead = ledger[CLOCK] + 1.0, ledger[LEAD]
    log_scale = exponent(ledger[LOWEST] - lead, t, theta)
    total = spread(0.0)
    for i in range(0, cumulative.size, LANES):
        before = load(cumulative, i, np.inf)
        w = weight(before - lead, t, log_scale, theta)
        if prior is None:
            w = choose(before < np.inf, w, 0.0)  # beyond the last chip
        else:
            share = load(prior, i, 0.0)
            w = choose(share > 0.0, w * share, 0.0)
        store(out, i, w)
        total += w
    normalise(out, fold(total), prior)


def _replay(
    cumulative: FloatArray,
    spare: FloatArray,
    ledger: FloatArray,
    losses: npt.NDArray[Any],
    scale: tuple[float, float, float, float],
    prior: FloatArray | None,
    theta: Theta,
    learner_losses: FloatArray,
    regret: FloatArray,
    played: FloatArray,
    uniforms: FloatArray,
) -> int:
    """Play Algorithm 3 on the rows of ``losses``; return how many were played.

    A round is one pass over memory: a position is a cumulative loss less the learner's, so
    that the learner's loss, known at the end of the pass, moves all chips at once. A round
    reads one of ``cumulative`` and ``spare`` and writes the other, so after an odd number of
    rounds the state is in ``spare``. The loop stops at the first row with an entry out of
    range, which so leaves the state of the round before untouched. ``played`` keeps as many of
    the distributions as it has rows for: none, the last, or all. With ``uniforms`` the
    learner's loss is that of an action drawn from them. Without losses the next distribution
    is looked at, by the same code that plays it.
    """
    low, high, offset, factor = scale
    n, rounds = cumulative.size, len(losses)
    here, there = cumulative, spare
    for r in range(max(rounds, 1)):
        if len(played):
            distribute(here, ledger, prior, theta, played[r % len(played)])
        if rounds == 0:
            break
        row = losses[r]
        t, lead = ledger[CLOCK] + 1.0, ledger[LEAD]
        log_scale = exponent(ledger[LOWEST] - lead, t, theta)
        total, taken, lowest = spread(0.0), spread(0.0), spread(np.inf)
        inside = first(LANES)
        for i in range(0, n, LANES):
            entry, before = load(row, i, low), load(here, i, np.inf)
            inside = inside & (entry >= low) & (entry <= high)
            loss = (entry - offset) * factor
            after = before + loss
            store(there, i, after)
            w = weight(before - lead, t, log_scale, theta)
            if prior is None:
                w = choose(before < np.inf, w, 0.0)  # beyond the last chip
            else:
                # an action without mass is not occupied; its weight may overflow and is not used
                share = load(prior, i, 0.0)
                w = choose(share > 0.0, w * share, 0.0)
                after = choose(share > 0.0, after, np.inf)
            total += w
            taken = fma(w, loss, taken)
            lowest = lesser(after, lowest)
        if any_of(~inside):
            return r
        summed, best = fold(total), fold_lesser(lowest)
        learner_loss = fold(taken) / summed if summed > 0.0 else _mean(row, offset, factor, prior)
        if len(uniforms):
            drawn = draw(played[r % len(played)], uniforms[r])
            learner_loss = (row[drawn] - offset) * factor
        ledger[CLOCK], ledger[LEAD], ledger[LOWEST] = t, lead + learner_loss, best
        learner_losses[r] = learner_loss
        regret[r] = lead + learner_loss - best
        settle(there, ledger)
        here, there = there, here
    return rounds


@kernel
def _mean(row: npt.NDArray[Any], offset: float, factor: float, prior: FloatArray | None) -> float:
    """Return the loss of a player of the prior, or without one of the uniform distribution."""
    total = spread(0.0)
    for i in range(0, row.size, LANES):
        loss = (load(row, i, offset) - offset) * factor
        total += loss / float(row.size) if prior is None else load(prior, i, 0.0) * loss
    return fold(total)


def weigher(weight: Weight) -> Callable[[FloatArray, float, float, Theta, FloatArray], None]:
    """Return ``weigh(positions, t, log_scale, theta, out)`` for this weight."""
    return specialise(_weigh, kernel, weight=weight)


def replayer(weight: Weight, exponent: Exponent) -> Replay:
    """Return ``replay(...)``, Algorithm 3 over a matrix of losses, for this weight."""
    distribute = specialise(_distribute, kernel, weight=weight, exponent=exponent)
    return specialise(_replay, kernel, weight=weight, exponent=exponent, distribute=distribute)
