r"""Errors and log-losses on examples held out, for a sigmoid that these examples chose.

A promise must hold for every sigmoid that they could have chosen. Slopes and intercepts lie in the
cells of a grid. In a cell the loss of an example is largest at a corner, because
:math:`-\ln p` is convex in slope and intercept.

Errors depend on the sigmoid by the vote from which on the second class is the likelier one,
:math:`\tau = -b/a`. It lies in a cell of one of several grids: the coarsest one in which no vote on
an example held out lies inside the cell. All thresholds of the cell then make the same errors on
these examples, and a rule that errs wherever one of them does makes no more.
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

GRIDS = (16, 64, 256, 1024, 4096, 2**14, 2**16, 2**18)
"""The numbers of cells of thresholds in [-1, 1]. Two more cells lie beyond."""

VOTE_RULES = 2
"""What `count_rules` returns where the likeliest class is that of most votes: half of the doubt."""

_ROUNDED = 1.0 + 1e-9  # losses at the corners are right to this


def count_sigmoids(n_classes: int) -> int:
    """Return the number of cells: with more than two classes there is no intercept.

    >>> count_sigmoids(2), count_sigmoids(3)
    (98560, 385)
    """
    return (SLOPES.size - 1) * (INTERCEPTS.size - 1 if n_classes == 2 else 1)


def count_rules(calibration: Calibration, votes: Sequence[FloatArray]) -> int:
    """Return by what the doubt is divided for the rule that a sigmoid makes of votes.

    The rule that follows the vote has half of the doubt, and all `GRIDS` share the other half. Of
    several classes each constant rule has an equal part of that half. 0 if a vote is too near to
    the threshold. With class weights the vote is the only rule.

    >>> votes = [np.array([-0.5, 0.0, 0.5])]
    >>> count_rules(Calibration(4.0, 0.0), votes), count_rules(Calibration(4.0, 1.0), votes)
    (2, 288)
    """
    slope, intercept = calibration.slope, calibration.intercept
    if calibration.class_weighted:
        return 1
    if votes[0].ndim > 1:
        return VOTE_RULES * (votes[0].shape[1] if calibration.class_intercepts else 1)
    if slope and not intercept:
        return VOTE_RULES
    seen = np.unique(np.concatenate(votes))
    first = int(np.count_nonzero(calibration.scores(seen) <= 0.0))  # these are of the first class
    below = float(seen[first - 1]) if first else -np.inf
    above = float(seen[first]) if first < seen.size else np.inf
    threshold = min(max(-intercept / slope if slope else -np.copysign(2.0, intercept), -2.0), 2.0)
    for n_cells in GRIDS:
        low = np.floor((threshold + 1.0) * n_cells / 2.0) * 2.0 / n_cells - 1.0
        if not -1.0 <= threshold < 1.0:  # one of the two cells beyond
            return VOTE_RULES * len(GRIDS) * (n_cells + 2)
        if below <= low and low + 2.0 / n_cells <= above:
            return VOTE_RULES * len(GRIDS) * (n_cells + 2)
    return 0


def count_losses(
    calibration: Calibration, votes: Sequence[FloatArray], labels: Sequence[IntArray]
) -> tuple[LossCounts, ...]:
    """Return the losses of the votes of each fold; none if the sigmoid is beyond the grid.

    There is no grid of intercepts for each class.
    """
    if calibration.class_intercepts:
        return ()
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
