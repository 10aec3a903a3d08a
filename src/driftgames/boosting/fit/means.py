"""Which boosters a mean is made of: the folds of one size or several, of one deal or several.

The mean is made of the folds of the winner of a race. The folds of the size of the second least
log-loss join them, and those of the third, if that lowers the log-loss on the examples held out.
Few examples are dealt to folds again: then every size has the boosters of all deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from driftgames.boosting.fit.calibration import exact_mean
from driftgames.boosting.fit.race import MOST_SIZES, Entrant
from driftgames.boosting.model.calibration import Calibration
from driftgames.core.typing import FloatArray

_UNITS = 2**20  # parts of a vote


@dataclass(frozen=True)
class Mean:
    """The mean of the boosters of one size or several.

    ``entrants`` have the deals of a size one after the other, and ``weights`` are those of one vote
    of each. ``votes`` are on all examples: the mean of the boosters. The ``calibration`` and the
    ``log_loss`` are of the mean of those boosters that hold an example out.
    """

    entrants: tuple[Entrant, ...]
    weights: tuple[float, ...]
    votes: FloatArray
    calibration: Calibration
    log_loss: float

    @classmethod
    def of(cls, sizes: Sequence[Sequence[Entrant]]) -> Mean | None:
        """Return the mean of sizes, each by its deals and weighed by the slope of its sigmoid.

        So the logarithms of the odds are averaged. Weights are rounded to multiples of ``2**-20``:
        votes then add up exactly. None if a size has no hypothesis, or one of two has no slope.
        """
        held_out = [_combine([1.0] * len(d), [e.held_out[e.best] for e in d]) for d in sizes]
        first = sizes[0][0]
        slopes = [1.0]
        if len(sizes) > 1:
            slopes = [first.calibrate(votes).slope for votes in held_out]
        n_votes = [sum(each.n_votes for each in deals) for deals in sizes]
        if min(slopes) <= 0.0 or min(n_votes) == 0:
            return None
        each_vote = [slope / n for slope, n in zip(slopes, n_votes, strict=True)]
        weights = [max(round(w / max(each_vote) * _UNITS), 1) / _UNITS for w in each_vote]
        shares = [w * n for w, n in zip(weights, n_votes, strict=True)]
        together = _combine(shares, held_out)
        fitted = first.calibrate(together)
        votes = [_combine([e.n_votes for e in d], [e.mean_votes() for e in d]) for d in sizes]
        loss = exact_mean(fitted.losses(together, first.labels), first.masses)
        flat = [(each, w) for deals, w in zip(sizes, weights, strict=True) for each in deals]
        return cls(
            tuple(each for each, _ in flat),
            tuple(weight for _, weight in flat),
            _combine(shares, votes),
            fitted,
            loss,
        )


def best_mean(ranked: Sequence[Entrant]) -> Mean | None:
    """Return the mean of the boosters of the winner, and of one size or two more if better.

    ``ranked`` are the sizes, the winner first. None if no fold has a hypothesis.
    """
    best: Mean | None = None
    for n in range(1, min(MOST_SIZES, len(ranked)) + 1):
        mean = Mean.of([[each] for each in ranked[:n]])
        if mean is not None and (best is None or mean.log_loss < best.log_loss):
            best = mean
    return best


def _combine(shares: Sequence[float], parts: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of votes by their shares."""
    if len(parts) == 1:
        return parts[0]
    total = sum(share * part for share, part in zip(shares, parts, strict=True))
    return np.asarray(total / sum(shares))
