"""How libraries are compared over many sets: mean ranks, the critical distance, wins, losses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata, studentized_range

from bench.results import Key, Row

Scores = npt.NDArray[np.float64]
"""A row for each set and a column for each library; less is better."""

DIGITS = 6
"""Scores that agree in this number of digits after the point are ties."""


@dataclass(frozen=True)
class Comparison:
    """The scores of libraries on the sets that all of them have been measured on.

    Parameters
    ----------
    libraries, sets : tuple of str
        The columns and the rows of ``values``.
    values : ndarray
        Means over the splits, as they are reported; a failure is infinite.
    larger_is_better : bool
        Whether a large value is good, as of AUC.
    left_out : tuple of str
        Sets that some library has no figures for.
    """

    libraries: tuple[str, ...]
    sets: tuple[str, ...]
    values: Scores
    larger_is_better: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def scores(self) -> Scores:
        """The values as losses, rounded so that ties are ties."""
        return (-self.values if self.larger_is_better else self.values).round(DIGITS)

    @property
    def ranks(self) -> Scores:
        """The mean rank of each library; the best of a set has rank 1, ties share theirs."""
        return np.asarray(rankdata(self.scores, axis=1).mean(axis=0))

    @property
    def behind(self) -> Scores:
        """How far each library is behind the best: a row for each set."""
        scores = self.scores
        return np.asarray(scores - scores.min(axis=1, keepdims=True))

    @property
    def behind_share(self) -> Scores:
        """How far each library is behind the best, as a share of the best."""
        best = self.scores.min(axis=1, keepdims=True)
        return np.asarray(self.scores / best - 1.0)

    def wins(self, one: str, other: str) -> tuple[int, int, int]:
        """On how many sets one library is better than another, equal and worse."""
        a, b = (self.scores[:, self.libraries.index(name)] for name in (one, other))
        return int(np.sum(a < b)), int(np.sum(a == b)), int(np.sum(a > b))


def compare(
    rows: Mapping[Key, Row],
    measure: str,
    sets: Iterable[str],
    libraries: Sequence[str],
    splits: Sequence[int],
) -> Comparison:
    """Return the scores of libraries by a measure, over these splits.

    A library that failed on a split is last on that set. A set on which some library has not been
    measured yet, or was given up for its time, is left out for all, and named.
    """
    larger = measure == "auc"
    kept, left_out, values = [], [], []
    for name in sets:
        found = [[rows.get((name, split, each)) for split in splits] for each in libraries]
        if any(row is None or "skipped" in row for cell in found for row in cell):
            left_out.append(name)
            continue
        worst = -math.inf if larger else math.inf
        kept.append(name)
        values.append([np.mean([row.get(measure, worst) for row in cell if row]) for cell in found])
    shape = (len(kept), len(libraries))
    return Comparison(
        tuple(libraries),
        tuple(kept),
        np.array(values, dtype=np.float64).reshape(shape),
        larger,
        tuple(left_out),
    )


def critical_distance(n_libraries: int, n_sets: int, level: float = 0.05) -> float:
    r"""Return the distance between mean ranks beyond which two libraries differ (Nemenyi's test).

    .. math:: q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    for k libraries on N sets, where :math:`q_\alpha` is the quantile of the studentized range
    divided by :math:`\sqrt 2`. (Demšar, JMLR 7, 2006.)

    >>> round(critical_distance(5, 30), 3)
    1.114
    """
    quantile = float(studentized_range.ppf(1 - level, n_libraries, math.inf)) / math.sqrt(2)
    return quantile * math.sqrt(n_libraries * (n_libraries + 1) / (6 * n_sets))


def groups(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return the largest runs of sorted ranks that lie within a distance, two or more each.

    >>> groups([1.0, 1.5, 2.2, 4.0], 1.0)
    [(0, 1), (1, 2)]
    """
    found: list[tuple[int, int]] = []
    for first, start in enumerate(ranks):
        last = max(at for at, rank in enumerate(ranks) if rank <= start + distance)
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
