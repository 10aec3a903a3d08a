r"""The sigmoid that makes probabilities of votes.

.. math:: P(y = 1 \mid x) = \frac{1}{1 + e^{-(a v(x) + b)}}

where :math:`v` is the normalised vote (Platt, 1999). Of more than two classes, class :math:`k` has
a share of :math:`e^{a v_k(x)}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import dot, row_dots
from driftgames.boosting.model.sigmoids import fit_sigmoid, fit_softmax
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """A sigmoid of the vote.

    With more than two classes the probabilities are in proportion to ``exp(slope * vote)``. All
    classes share the slope, so that the likeliest class is that of most votes.

    Parameters
    ----------
    slope, intercept : float
        The numbers of the sigmoid. A slope is at least 0. The intercept is 0 with more than two
        classes.
    """

    slope: float
    intercept: float

    @classmethod
    def fit(
        cls, votes: FloatArray, labels: IntArray, masses: IntArray, scale: float = 1.0
    ) -> Calibration:
        """Fit the sigmoids to votes, a column for each class if there are more than two.

        ``labels`` number the classes. ``scale`` times the integer ``masses`` are the numbers of
        examples that the prior sees.
        """
        if votes.ndim == 1:
            return cls(*fit_sigmoid(votes, labels == 1, masses, scale)[:2])
        return cls(fit_softmax(votes, labels, masses, scale), 0.0)

    def losses(self, votes: FloatArray, labels: IntArray) -> FloatArray:
        """Return the log-loss of the probabilities of each vote."""
        return -log_all(self.probabilities(votes)[np.arange(labels.size), labels])

    def log_loss(self, votes: FloatArray, labels: IntArray, masses: IntArray) -> float:
        """Return the mean log-loss of the probabilities of votes."""
        losses = self.losses(votes, labels)
        return dot(masses.astype(np.float64), losses) / int(masses.sum())

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """Return the probability of every class.

        >>> Calibration(4.0, 0.0).probabilities(np.array([0.0, 1.0]))
        array([[0.5       , 0.5       ],
               [0.01798621, 0.98201379]])
        """
        if votes.ndim == 1:
            z = self.slope * votes + self.intercept
            small = exp_all(-np.abs(z))
            up = np.where(z >= 0, 1.0, small)  # both classes have one where z is 0
            down = np.where(z <= 0, 1.0, small)
            return np.column_stack([down, up]) / (1.0 + small)[:, None]
        shares = exp_all(self.slope * (votes - votes.max(axis=1, keepdims=True)))
        return np.asarray(shares / row_dots(shares, np.ones_like(shares))[:, None])
