r"""Levels of intervals from outcomes that their distributions did not see (conformal prediction).

The *place* of an outcome is the level at which the predicted distribution has it. Let the places of
n outcomes held out be known, and that of a new one. If all n + 1 are exchangeable, the new place
lies below the k-th lowest of the others with a probability of at most k / (n + 1) (Vovk, Gammerman
and Shafer, *Algorithmic Learning in a Random World*, 2005). So an interval between the k-th lowest
and the k-th highest place misses a new outcome with a probability of at most 2 k / (n + 1).

An outcome may lie on a stretch of levels, an atom: its *low* place is the highest level whose
quantile is at most the outcome, its *high* place the lowest level whose quantile is at least the
outcome. Places are rounded to a grid of levels, outwards. So an outcome whose place is within an
interval lies between the ends that are predicted, to the bit: rounding misses no tie.

Levels go on beyond 0 and 1, where no quantile is: there a step of the grid is a fixed distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.regression.distribution import LEVELS, PredictedDistribution
from driftgames.core.typing import FloatArray

FINER = 8
"""The steps of the grid between two of `LEVELS`."""

BEYOND = 64
"""The steps of the grid beyond 0 and 1 in a unit of the outcome."""

MOST_PLACES = 2000
"""The most places of outcomes that a model keeps."""

_GRID = np.append(
    (LEVELS[:-1, None] + np.arange(FINER) / FINER * np.diff(LEVELS)[:, None]).ravel(), 1.0
)
_OUTWARDS = 1.0 + 2.0**-40  # more than what a distance may be rounded by


@dataclass(frozen=True, eq=False)
class Places:
    """Where outcomes lay in distributions that did not see them.

    Parameters
    ----------
    low, high : array
        Ascending places of the outcomes; of many, some.
    exponent : int
        Beyond 0 and 1 a level of 1 is a distance of ``2**exponent``.
    promised : bool
        Whether these examples are exchangeable with new ones, given the model.
    """

    low: FloatArray
    high: FloatArray
    exponent: int
    promised: bool

    @classmethod
    def of(
        cls, rows: PredictedDistribution, y: FloatArray, exponent: int, *, promised: bool
    ) -> Self:
        """Return the places of the outcomes of rows."""
        step = _step(exponent)
        with np.errstate(over="ignore"):
            below = np.ceil(_OUTWARDS * ((rows.quantiles[:, 0] - y) / step)) / BEYOND
            above = np.ceil(_OUTWARDS * ((y - rows.quantiles[:, -1]) / step)) / BEYOND
        at_most, less = _count(rows, y, np.less_equal), _count(rows, y, np.less)
        low = np.sort(np.where(at_most > 0, _GRID[at_most - 1], -below))
        high = np.sort(np.where(less < _GRID.size, _GRID[less % _GRID.size], 1.0 + above))
        if y.size > MOST_PLACES:  # the next place outwards stands for those that are left out
            at = np.arange(1, MOST_PLACES + 1) * (y.size + 1) / (MOST_PLACES + 1) - 1
            low, high = low[np.floor(at).astype(np.intp)], high[np.ceil(at).astype(np.intp)]
        return cls(low, high, exponent, promised)

    def share_within(self, low: float, high: float) -> float:
        """Return the share of the outcomes between two levels."""
        return float(np.mean((self.low >= low) & (self.high <= high)))

    def promise(self, coverage: float) -> float:
        """Return the probability with which an interval holds a new outcome, at least."""
        return 1.0 - 2 * self._outside(coverage) / (self.low.size + 1)

    def levels(self, coverage: float) -> tuple[float, float]:
        """Return the levels between which so many of the outcomes lie.

        Half of the rest lies below them, and half above; one outcome more is counted on each side.
        Where that is none, they are infinite if coverage is promised, and else 0 and 1.
        """
        k = self._outside(coverage)
        if k == 0:
            return (-math.inf, math.inf) if self.promised else (0.0, 1.0)
        low, high = sorted((float(self.low[k - 1]), float(self.high[-k])))
        return low, high

    def interval(self, rows: PredictedDistribution, coverage: float) -> FloatArray:
        """Return the ends of an interval for each row."""
        levels = np.array(self.levels(coverage))
        within = np.clip(levels, 0.0, 1.0)
        with np.errstate(over="ignore"):
            moved = np.where(levels == within, 0.0, (levels - within) * BEYOND)
            return rows.ppf(within) + moved * _step(self.exponent)

    def _outside(self, coverage: float) -> int:
        """Return how many places of each side, the new one counted, may lie outside."""
        return math.floor(round((self.low.size + 1) * (1.0 - coverage) / 2.0, 9))  # .1 of 20 is 2


def _step(exponent: int) -> float:
    """Return the distance of a step beyond the levels 0 and 1; it is not zero."""
    return math.ldexp(1.0, max(exponent - int(math.log2(BEYOND)), -1074))


def _count(rows: PredictedDistribution, y: FloatArray, compare: Callable[[Any, Any], Any]) -> Array:
    """Return how many quantiles of the grid compare with the outcome of each row as told."""
    quantiles, outcomes = rows.quantiles, y[:, None]
    known = np.asarray(compare(quantiles, outcomes)).sum(axis=1)
    between = (known > 0) & (known < LEVELS.size)
    found = np.where(known == LEVELS.size, _GRID.size, 0)
    for k in np.unique(known[between]).tolist():
        some = np.flatnonzero(known == k)
        finer = rows[some].ppf(_GRID[FINER * (k - 1) : FINER * k])
        found[some] = FINER * (k - 1) + compare(finer, outcomes[some]).sum(axis=1)
    return found
