"""What votes are judged by: the one place of race, mean and calibration that knows of classes.

They and the evaluation sets ask `Outcomes` for a sigmoid, for losses and for errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.calibration import Calibration, fit_sigmoid
from driftgames.boosting.model.fitted_model import winners
from driftgames.boosting.model.training_record import HeldOut
from driftgames.certificates.margins import Margins
from driftgames.core.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The classes of some examples, by their numbers, and how much each example counts.

    ``scale`` times the integer ``masses`` are the numbers of examples that the prior of a
    calibration sees. ``class_weighted`` tells whether class weights move the votes; the masses are
    without them.
    """

    labels: IntArray
    masses: IntArray
    scale: float = 1.0
    class_weighted: bool = False

    def take(self, rows: Array) -> Outcomes:
        """Return those of some examples: their numbers, or a mask."""
        return replace(self, labels=self.labels[rows], masses=self.masses[rows])

    def calibrate(self, votes: FloatArray) -> Calibration:
        """Return the sigmoid of the least log-loss."""
        weighted = self.class_weighted
        return Calibration.fit(votes, self.labels, self.masses, self.scale, class_weighted=weighted)

    def losses(self, votes: FloatArray, calibration: Calibration) -> FloatArray:
        """Return the loss of each example: the log-loss of its probabilities."""
        return calibration.losses(votes, self.labels)

    def least_loss(self, votes: FloatArray) -> float:
        """Return the mean loss with the best sigmoid."""
        if votes.ndim == 1:
            return fit_sigmoid(votes, self.labels == 1, self.masses, self.scale)[2]
        return self.calibrate(votes).log_loss(votes, self.labels, self.masses)

    def error(self, votes: FloatArray) -> float:
        """Return the share of the mass that the votes get wrong."""
        wrong = self.masses[winners(votes) != self.labels].sum()
        return int(wrong) / int(self.masses.sum())

    def count(
        self, votes: FloatArray, parts: Sequence[BoolArray], calibration: Calibration
    ) -> HeldOut:
        """Return how many examples of each part the votes and their sigmoid get wrong."""
        labels = [self.labels[each] for each in parts]
        return HeldOut.of([votes[each] for each in parts], labels, calibration)

    def margins(self, votes: FloatArray) -> Margins:
        """Return the margins of examples; of several classes, those of all pairs with a label."""
        if votes.ndim == 1:
            return Margins.on_grid(np.where(self.labels == 1, votes, -votes), self.masses)
        own = self.labels[:, None] == np.arange(votes.shape[1])
        copies = np.where(own, votes.shape[1] - 1, 1) * self.masses[:, None]
        return Margins.on_grid(np.where(own, votes, -votes).ravel(), copies.ravel())

    def mean(self, losses: FloatArray) -> float:
        """Return the mean by the masses, rounded once: the order of examples does not matter."""
        return math.fsum((self.masses * losses).tolist()) / int(self.masses.sum())

    def difference(self, one: FloatArray, other: FloatArray) -> tuple[float, float]:
        """Return the mean of ``one - other`` and its standard error."""
        more = one - other
        away = self.mean(more)
        return away, math.sqrt(self.mean((more - away) ** 2) / more.size)
