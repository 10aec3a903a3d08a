r"""Probabilities that an outcome lies above each threshold, from votes.

.. math:: P(y > \theta_k \mid x) = \frac{1}{1 + e^{-(a_k v_k(x) + b_k)}}

where :math:`v_k` is the normalised vote for threshold :math:`k`. The numbers are found on examples
held out. One slope is fitted to all thresholds first. Each threshold then has its own slope and
intercept, with some examples more that the common slope foretells: they keep the sigmoids of the
outer thresholds, which few outcomes lie beyond, near the common one. At last the probabilities of a
row are made to fall from threshold to threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp_all
from driftgames._kernels.sums import matvec, total
from driftgames.boosting.model.calibration import find_sigmoid
from driftgames.core.typing import BoolArray, FloatArray, IntArray

_FORETOLD = 4.0  # examples that the common slope adds to each threshold


@dataclass(frozen=True, eq=False)
class Sigmoids:
    """A slope and an intercept for each threshold."""

    slopes: FloatArray
    intercepts: FloatArray

    @classmethod
    def fit(
        cls, votes: FloatArray, positions: IntArray, masses: IntArray, scale: float = 1.0
    ) -> Sigmoids:
        """Fit sigmoids to votes, a column for each threshold, on rows at these positions.

        ``scale`` times the integer ``masses`` are numbers of examples.
        """
        columns = range(votes.shape[1])
        counted = [_count(votes[:, k], positions > k, masses, scale) for k in columns]
        common = _common_slope(counted)
        slopes, intercepts = [], []
        for at, below, above in counted:
            mass = below + above
            spread = np.sqrt(total(mass * at * at) / total(mass))
            points = np.array([-spread, spread])
            foretold = _sigmoid(common * points)
            slope, intercept = find_sigmoid(
                np.append(at, points),
                np.append(mass, [_FORETOLD / 2.0] * 2),
                np.append(above, _FORETOLD / 2.0 * foretold),
            )
            slopes.append(slope)
            intercepts.append(intercept)
        return cls(np.array(slopes), np.array(intercepts))

    @property
    def slope(self) -> float:
        """The mean slope: how much a vote says."""
        return total(self.slopes) / self.slopes.size

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """Return the probability of each row to lie above each threshold: none rises."""
        above = _sigmoid(self.slopes * votes + self.intercepts)
        falling = np.minimum.accumulate(above, axis=1)
        rising = np.maximum.accumulate(above[:, ::-1], axis=1)[:, ::-1]
        return np.asarray((falling + rising) / 2.0)

    def losses(self, votes: FloatArray, positions: IntArray, gaps: IntArray) -> FloatArray:
        """Return the Brier score over the pairs of each row: its CRPS within the thresholds.

        The unit is the sum of all gaps.
        """
        is_above = positions[:, None] > np.arange(votes.shape[1])
        away = self.probabilities(votes) - is_above
        return matvec(away * away, gaps / int(gaps.sum()))


def _count(
    votes: FloatArray, is_above: BoolArray, masses: IntArray, scale: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the different votes, and the masses below and above the threshold at each."""
    at, place = np.unique(votes, return_inverse=True)
    counts = np.zeros((2, at.size), dtype=np.int64)
    np.add.at(counts, (is_above.astype(np.intp), place.reshape(-1)), masses)
    below, above = scale * counts
    return at, below, above


def _common_slope(counted: list[tuple[FloatArray, FloatArray, FloatArray]]) -> float:
    """Return the slope of the least log-loss over all pairs, without an intercept.

    The targets are Platt's, so that it is finite where votes tell all pairs apart.
    """
    at, below, above = (np.concatenate(part) for part in zip(*counted, strict=True))
    n_below, n_above = total(below), total(above)
    wanted = above * ((n_above + 1) / (n_above + 2)) + below / (n_below + 2)
    slope, _ = find_sigmoid(at, below + above, wanted, has_intercept=False)
    return slope


def _sigmoid(z: FloatArray) -> FloatArray:
    small = exp_all(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, small) / (1.0 + small))
