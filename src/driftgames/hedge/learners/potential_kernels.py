"""Algorithm 3 as one loop over a matrix of losses, compiled for each potential.

The loop is a template of a potential: the functions of `driftgames.potentials.compiled.Kernels`.
`driftgames.hedge.plain` is the same in ten lines of NumPy: read it first. [LS14, Alg. 3]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.arithmetic import choose, fma, lesser
from driftgames._kernels.distribution import draw, normalise, times_prior
from driftgames._kernels.jit import inner_kernel, kernel
from driftgames._kernels.lanes import LANES, any_of, first, fold, fold_lesser, load, spread, store
from driftgames._kernels.templates import Part, instantiate
from driftgames.core.typing import FloatArray
from driftgames.hedge.rounds.totals import CLOCK, LEARNER, LOWEST, close_round
from driftgames.potentials.compiled import Kernels, Theta

Replay = Callable[..., int]

potential = Part("potential")


@kernel
def _replay(
    cumulative: FloatArray,
    spare: FloatArray,
    totals: FloatArray,
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

    A round is one pass over memory. A position is a cumulative loss less the learner's, so the
    learner's loss, known at the end of the pass, moves all chips at once. A round reads one of
    ``cumulative`` and ``spare`` and writes the other: after an odd number of rounds the state
    is in ``spare``. The loop stops at the first row with an entry out of range, and the state
    is then that of the round before. ``played`` receives as many of the distributions as it
    has rows: none, the last, or all. With ``uniforms`` the learner's loss is that of an action
    drawn with them. Without entries in ``learner_losses``, ``played`` receives the next
    distribution, the state does not change, and ``losses`` is one row that is not used.
    """
    low, high, offset, factor = scale
    n, rounds = cumulative.size, len(learner_losses)
    here, there = cumulative, spare
    for r in range(max(rounds, 1)):
        row = losses[r]
        t, lead = totals[CLOCK] + 1.0, totals[LEARNER]
        log_scale = potential.exponent(totals[LOWEST] - lead, t, theta)
        total, taken, lowest = spread(0.0), spread(0.0), spread(np.inf)
        inside = first(LANES)
        for i in range(0, n, LANES):
            entry, before = load(row, i, low), load(here, i, np.inf)
            inside = inside & (entry >= low) & (entry <= high)
            loss = (entry - offset) * factor
            after = before + loss
            store(there, i, after)
            w = potential.game_weight(before - lead, t, log_scale, theta)
            w = times_prior(w, prior, i, before < np.inf)
            if prior is not None:
                after = choose(load(prior, i, 0.0) > 0.0, after, np.inf)
            total += w
            taken = fma(w, loss, taken)
            lowest = lesser(after, lowest)
            if len(played):
                store(played[r % len(played)], i, w)
        if rounds > 0 and any_of(~inside):
            return r
        summed, best = fold(total), fold_lesser(lowest)
        if len(played):
            normalise(played[r % len(played)], summed, prior)
        if rounds == 0:
            break
        learner_loss = fold(taken) / summed if summed > 0.0 else _mean(row, offset, factor, prior)
        if len(uniforms):
            drawn = draw(played[r % len(played)], uniforms[r])
            learner_loss = (row[drawn] - offset) * factor
        learner_losses[r] = learner_loss
        regret[r] = close_round(there, totals, learner_loss, best)
        here, there = there, here
    return rounds


@inner_kernel
def _mean(row: npt.NDArray[Any], offset: float, factor: float, prior: FloatArray | None) -> float:
    """Return the loss of the prior, or of the uniform distribution if there is none."""
    total = spread(0.0)
    for i in range(0, row.size, LANES):
        loss = (load(row, i, offset) - offset) * factor
        total += loss / float(row.size) if prior is None else load(prior, i, 0.0) * loss
    return fold(total)


@cache
def compile_replay(kernels: Kernels) -> Replay:
    """Return the loop for a potential with these compiled functions."""
    return instantiate(_replay, potential=kernels)
