r"""The sigmoid that makes probabilities of votes.

.. math:: P(y = 1 \mid x) = \frac{1}{1 + e^{-(a v(x) + b)}}

where :math:`v` is the normalised vote (Platt, 1999). Of more than two classes, class :math:`k` has
a share of :math:`e^{a v_k(x) + b_k}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftgames._kernels.elementary import exp_all, log_all
from driftgames._kernels.sums import dot, row_dots
from driftgames.boosting.model.sigmoids import fit_class_intercepts, fit_sigmoid, fit_softmax
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """A sigmoid of the vote.

    With more than two classes the probabilities are in proportion to ``exp(slope * vote)``, times
    ``exp(intercept)`` of the class if there are ``class_intercepts``. Without them the likeliest
    class is that of most votes.

    Parameters
    ----------
    slope, intercept : float
        The numbers of the sigmoid. A slope is at least 0. The intercept is 0 with more than two
        classes.
    class_intercepts : tuple of float
        With more than two classes an intercept for each, 0 for the first: where class weights have
        moved the votes, or where votes tell nothing. Default: none.
    class_weighted : bool
        Whether class weights have moved the votes. They say what errors cost, so `predict` then
        returns the class of most votes, and else the class of the largest probability. Default:
        False.
    """

    slope: float
    intercept: float
    class_intercepts: tuple[float, ...] = ()
    class_weighted: bool = False

    @classmethod
    def fit(
        cls,
        votes: FloatArray,
        labels: IntArray,
        masses: IntArray,
        scale: float = 1.0,
        *,
        class_weighted: bool = False,
    ) -> Calibration:
        """Fit the sigmoids to votes, a column for each class if there are more than two.

        ``labels`` number the classes. ``scale`` times the integer ``masses`` are the numbers of
        examples that the prior sees. If classes were weighted, each has an intercept.
        """
        if votes.ndim == 1:
            slope, intercept, _ = fit_sigmoid(votes, labels == 1, masses, scale)
            return cls(slope, intercept, class_weighted=class_weighted)
        if class_weighted:
            slope, intercepts = fit_class_intercepts(votes, labels, masses, scale)
            return cls(slope, 0.0, intercepts, class_weighted)
        slope = fit_softmax(votes, labels, masses, scale)
        if slope == 0.0:
            slope, intercepts = fit_class_intercepts(np.zeros_like(votes), labels, masses, scale)
            return cls(slope, 0.0, intercepts)
        return cls(slope, 0.0)

    def scores(self, votes: FloatArray) -> FloatArray:
        """Return the logarithms of the odds; of several classes, those of the shares.

        The likelier of two classes is the second where they are above 0; the likeliest of several
        is that of the largest.
        """
        if self.class_intercepts:
            return np.asarray(self.slope * votes + np.array(self.class_intercepts))
        return np.asarray(self.slope * votes + self.intercept)

    def decide(self, votes: FloatArray) -> FloatArray:
        """Return what `predict` compares: the scores, or the votes with class weights."""
        return votes if self.class_weighted else self.scores(votes)

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
            z = self.scores(votes)
            small = exp_all(-np.abs(z))
            up = np.where(z >= 0, 1.0, small)  # both classes have one where z is 0
            down = np.where(z <= 0, 1.0, small)
            return np.column_stack([down, up]) / (1.0 + small)[:, None]
        if self.class_intercepts:
            z = self.scores(votes)
            shares = exp_all(z - z.max(axis=1, keepdims=True))
        else:
            shares = exp_all(self.slope * (votes - votes.max(axis=1, keepdims=True)))
        return np.asarray(shares / row_dots(shares, np.ones_like(shares))[:, None])
