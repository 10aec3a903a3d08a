r"""Thresholds of a real outcome, and the outcomes between them.

Thresholds :math:`\theta_1 < \dots < \theta_K` are quantiles of the outcomes, with two more in each
outer bin. Each bin between them keeps what lies in it: its mean, and the quantiles of its outcomes
(*knots*). A distribution is a probability for each bin; within a bin the outcomes are spread as
those of the training examples, so no quantile leaves their range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames._kernels.jit import kernel
from driftgames._kernels.sums import dot, matvec
from driftgames.boosting.data.bins import Array
from driftgames.core.typing import FloatArray, IntArray

N_THRESHOLDS = 16
"""The usual number of thresholds, without those in the outer bins."""

_WITH_TAILS = 12  # from this number of thresholds on, outer bins are divided
_PARTS = 20  # of a step between thresholds
_TAILS = 3, 9  # where, in parts of an outer bin
_UNITS = 2**16  # the largest gap as an integer
_INNER, _OUTER = 8, 60  # the steps between the knots of a bin
_LEAST = 3  # thresholds
_FEW = 3  # so few different outcomes of a bin are atoms


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Where the thresholds lie, and which outcomes lie between them.

    Parameters
    ----------
    values : array
        The thresholds, ascending; an outcome equal to one lies below it.
    gaps : array of int
        The mass of the pairs with each threshold, in proportion to the distance between thresholds.
    means : array
        The mean outcome of each bin.
    knots : array
        The quantiles of the outcomes of each bin at equal steps, from the least to the largest.
    starts : array of int
        Where the knots of each bin begin.
    """

    values: FloatArray
    gaps: IntArray
    means: FloatArray
    knots: FloatArray
    starts: IntArray

    @classmethod
    def of(cls, y: FloatArray, masses: IntArray, n_thresholds: int = N_THRESHOLDS) -> Thresholds:
        """Return the thresholds of outcomes with these masses."""
        ascending, at = np.unique(y[masses > 0], return_inverse=True)  # copies are one of more mass
        each = np.zeros(ascending.size, dtype=np.int64)
        np.add.at(each, at, masses[masses > 0])
        below = np.cumsum(each)
        places = np.searchsorted(below, least_masses(n_thresholds, int(below[-1])))
        values = ascending[np.unique(places[places < ascending.size - 1])]
        if values.size < _LEAST:  # few different outcomes: more thresholds between the last two
            wanted = _LEAST - values.size + 2
            more = np.linspace(values[-1] if values.size else ascending[0], ascending[-1], wanted)
            values = np.unique(np.concatenate([values, more[1:-1]]))
            values = values[values < ascending[-1]]  # neighbours may have no float between them
            while values.size < _LEAST:  # none lies below these
                first = values[0] if values.size else ascending[0]
                values = np.append(np.nextafter(first, -np.inf), values)
        means, knots = [], []
        ends = np.searchsorted(ascending, values, side="right").tolist()
        for j, (begin, end) in enumerate(zip([0, *ends], [*ends, ascending.size], strict=True)):
            inside, weights = ascending[begin:end], each[begin:end]
            lowest = values[j - 1] if j else ascending[0]
            if not inside.size:
                inside = np.sort([lowest, values[j]])
                weights = np.ones(2, dtype=np.int64)
            means.append(_mean(inside, weights))
            n_steps = _OUTER if j in (0, values.size) else _INNER
            knots.append(_knots(inside, weights, lowest, n_steps))
        sizes = [part.size for part in knots]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return cls(values, _gaps(values), np.array(means), np.concatenate(knots), starts)

    @property
    def size(self) -> int:
        """The number of thresholds."""
        return int(self.values.size)

    def positions(self, y: FloatArray) -> IntArray:
        """Return how many thresholds are below each outcome."""
        return np.searchsorted(self.values, y, side="left")

    def bin_masses(self, above: FloatArray) -> FloatArray:
        """Return the probability of each bin, from those that the outcome is above a threshold."""
        one, zero = np.ones((len(above), 1)), np.zeros((len(above), 1))
        return np.hstack([one, above]) - np.hstack([above, zero])

    def expectations(self, above: FloatArray) -> FloatArray:
        """Return the mean outcome of each row."""
        return matvec(self.bin_masses(above), self.means)

    def quantiles(self, above: FloatArray, levels: FloatArray) -> FloatArray:
        """Return the outcomes at ascending levels, a column for each."""
        out = np.empty((len(above), levels.size))
        _write_quantiles(above, levels, self.knots, self.starts, out)
        return out


def least_masses(n_thresholds: int, mass: int) -> IntArray:
    """Return which mass of outcomes lies at or below each threshold at least, exactly.

    >>> least_masses(3, 100)
    array([25, 50, 75])
    >>> least_masses(16, 17).size
    20
    """
    n_steps = n_thresholds + 1
    parts = [_PARTS * k for k in range(1, n_steps)]
    if n_thresholds >= _WITH_TAILS:
        parts = [*_TAILS, *parts, *(_PARTS * n_steps - each for each in reversed(_TAILS))]
    return np.array([-(-each * mass // (_PARTS * n_steps)) for each in parts])  # rounded up


def _gaps(values: FloatArray) -> IntArray:
    """Return half the distance of the neighbours of each threshold, as integers."""
    if values.size < 2:
        return np.full(values.size, _UNITS)
    steps = np.diff(values)
    gaps = (np.append(steps[:1], steps) + np.append(steps, steps[-1:])) / 2.0
    return np.asarray(np.maximum(np.rint(gaps / gaps.max() * _UNITS), 1.0), dtype=np.int64)


def _mean(values: FloatArray, masses: IntArray) -> float:
    return dot(values, masses / int(masses.sum()))  # shares: the sum stays finite


def _knots(values: FloatArray, masses: IntArray, lowest: float, n_steps: int) -> FloatArray:
    """Return the quantiles of different ascending values at equal steps; few values are atoms.

    Others are linear from the last copy of a value to the first one of the next, at their middles.
    """
    ends = np.cumsum(masses)
    levels = np.linspace(0.0, float(ends[-1]), n_steps + 1)
    if values.size <= _FEW:
        return np.asarray(values[np.searchsorted(ends, levels)])
    half = masses.min() / 2.0
    middles = np.column_stack([ends - masses + half, ends - half])
    knots = np.interp(levels, middles.reshape(-1), np.repeat(values, 2))
    knots[0], knots[-1] = lowest, values[-1]
    return np.asarray(knots)


@kernel
def _write_quantiles(above: Array, levels: Array, knots: Array, starts: Array, out: Array) -> None:
    """Write the quantiles of each row: linear between the knots of the bin that has a level."""
    n_bins = starts.size - 1
    for i in range(above.shape[0]):
        j = 0
        begin = 0.0
        end = 1.0 - above[i, 0] if n_bins > 1 else 1.0
        for m in range(levels.size):
            while j < n_bins - 1 and levels[m] > end:
                j += 1
                begin = end
                end = 1.0 - above[i, j] if j < n_bins - 1 else 1.0
            n_steps = starts[j + 1] - starts[j] - 1
            share = (levels[m] - begin) / (end - begin) if end > begin else 1.0
            at = min(max(share, 0.0), 1.0) * n_steps
            k = min(int(at), n_steps - 1)
            low, high = knots[starts[j] + k], knots[starts[j] + k + 1]
            found = low + (at - k) * (high - low)
            out[i, m] = max(found, out[i, m - 1]) if m > 0 else found  # rounding
