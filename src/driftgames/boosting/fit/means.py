"""Which boosters a mean is made of: those of the folds of one size or several, of several deals.

The mean is made of the folds of the winner of a race. The folds of the size of the second least
log-loss join them, and those of the third, if that lowers the log-loss on the examples held out.
Few examples are dealt to folds several times: then the means of all deals are averaged.
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
    """The mean of the boosters of several entrants: sizes, and deals of them.

    ``weights`` are those of one vote of each entrant. ``votes`` are on all examples: the mean of
    the boosters. The ``calibration`` and the ``log_loss`` are of the mean of those boosters that
    hold an example out.
    """

    entrants: tuple[Entrant, ...]
    weights: tuple[float, ...]
    votes: FloatArray
    calibration: Calibration
    log_loss: float

    @classmethod
    def weigh(cls, entrants: Sequence[Entrant], weights: Sequence[float]) -> Mean:
        """Return the mean of entrants with these weights."""
        shares = [w * each.n_votes for w, each in zip(weights, entrants, strict=True)]
        held_out = _combine(shares, [each.held_out[each.best] for each in entrants])
        votes = _combine(shares, [each.mean_votes() for each in entrants])
        fitted, losses = entrants[0].judge(held_out)
        loss = exact_mean(losses, entrants[0].masses)
        return cls(tuple(entrants), tuple(weights), votes, fitted, loss)

    @classmethod
    def of(cls, parts: Sequence[Mean]) -> Mean | None:
        """Return the mean of means, each weighed by the slope of its sigmoid.

        So the logarithms of the odds are averaged. Weights are rounded to multiples of ``2**-20``:
        votes then add up exactly. None if one has no slope.
        """
        if len(parts) == 1:
            return parts[0]
        slopes = [each.calibration.slope for each in parts]
        if min(slopes) <= 0.0:
            return None
        each_vote = [slope / part.share for slope, part in zip(slopes, parts, strict=True)]
        flat = [
            (entrant, weight * by)
            for part, by in zip(parts, each_vote, strict=True)
            for entrant, weight in zip(part.entrants, part.weights, strict=True)
        ]
        most = max(weight for _, weight in flat)
        weights = [max(round(weight / most * _UNITS), 1) / _UNITS for _, weight in flat]
        return cls.weigh([entrant for entrant, _ in flat], weights)

    @property
    def share(self) -> float:
        """The sum of the weights of all votes."""
        return sum(w * each.n_votes for w, each in zip(self.weights, self.entrants, strict=True))


def best_mean(ranked: Sequence[Entrant]) -> Mean | None:
    """Return the mean of the boosters of the winner, and of one size or two more if better.

    ``ranked`` are the sizes, the winner first. None if the winner has no hypothesis.
    """
    best: Mean | None = None
    parts: list[Mean] = []
    for entrant in ranked[:MOST_SIZES]:
        if entrant.n_votes == 0:
            break
        parts.append(Mean.weigh([entrant], [1.0]))
        mean = Mean.of(parts)
        if mean is not None and (best is None or mean.log_loss < best.log_loss):
            best = mean
    return best


def _combine(shares: Sequence[float], parts: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of votes by their shares."""
    if len(parts) == 1:
        return parts[0]
    total = sum(share * part for share, part in zip(shares, parts, strict=True))
    return np.asarray(total / sum(shares))
