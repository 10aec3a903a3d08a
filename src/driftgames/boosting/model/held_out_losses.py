r"""The log-losses on examples held out, for a sigmoid that these examples chose.

A promise must hold for every sigmoid that they could have chosen. Slopes and intercepts lie in the
cells of a grid. In a cell the loss of an example is largest at a corner, because
:math:`-\ln p` is convex in slope and intercept.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames.boosting.model.calibration import Calibration
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.core.typing import FloatArray, IntArray

_OCTAVE, _LN2 = 32, 0.6931471805599453
SLOPES: FloatArray = np.concatenate(
    [[0.0], exp_all(_LN2 * np.arange(-4 * _OCTAVE, 8 * _OCTAVE + 1) / _OCTAVE)]
)
SLOPES[-1] = 256.0
"""The edges of the cells of slopes: 0, and 32 in each octave from 1/16 to 256."""

INTERCEPTS = np.arange(-128, 129) / 16.0
"""The edges of the cells of intercepts, from -8 to 8."""

_ROUNDED = 1.0 + 1e-9  # losses at the corners are right to this


def count_sigmoids(n_classes: int) -> int:
    """Return the number of cells: with more than two classes there is no intercept.

    >>> count_sigmoids(2), count_sigmoids(3)
    (98560, 385)
    """
    return (SLOPES.size - 1) * (INTERCEPTS.size - 1 if n_classes == 2 else 1)


def count_losses(
    calibration: Calibration, votes: Sequence[FloatArray], labels: Sequence[IntArray]
) -> tuple[LossCounts, ...]:
    """Return the losses of the votes of each fold; none if the sigmoid is beyond the grid."""
    corners = _corners(calibration, votes[0].ndim == 1)
    if not corners:
        return ()
    found = []
    for each, wanted in zip(votes, labels, strict=True):
        most = np.max([corner.losses(each, wanted) for corner in corners], axis=0)
        found.append(LossCounts.of(calibration.losses(each, wanted), most * _ROUNDED))
    return tuple(found)


def _corners(calibration: Calibration, two_classes: bool) -> list[Calibration]:
    """Return the corners of the cell of a sigmoid."""
    slopes = _edges(SLOPES, calibration.slope)
    intercepts = _edges(INTERCEPTS, calibration.intercept) if two_classes else [0.0]
    return [Calibration(*pair) for pair in itertools.product(slopes, intercepts)]


def _edges(grid: FloatArray, number: float) -> list[float]:
    """Return the edges of the cell of a number; none beyond the grid."""
    if not grid[0] <= number <= grid[-1]:
        return []
    at = min(int(np.searchsorted(grid, number, side="right")), grid.size - 1)
    return [float(grid[at - 1]), float(grid[at])]
