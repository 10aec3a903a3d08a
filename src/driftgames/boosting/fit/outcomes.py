"""What votes are judged by: the classes of examples, or numbers between thresholds.

Races, means of boosters, calibration and evaluation sets ask `Outcomes`, and know no more of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.calibration import Calibration, fit_sigmoid
from driftgames.boosting.model.fitted_model import winners
from driftgames.boosting.model.sigmoids import Sigmoids
from driftgames.boosting.model.training_record import HeldOut
from driftgames.certificates.margins import Margins
from driftgames.core.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Outcomes(ABC):
    """The outcomes of some examples, by numbers, and the integer ``masses`` of the examples."""

    labels: IntArray
    masses: IntArray

    def take(self, rows: Array) -> Self:
        """Return those of some examples: their numbers, or a mask."""
        return replace(self, labels=self.labels[rows], masses=self.masses[rows])

    def mean(self, losses: FloatArray) -> float:
        """Return the mean by the masses, rounded once: the order of examples does not matter."""
        return math.fsum((self.masses * losses).tolist()) / int(self.masses.sum())

    def difference(self, one: FloatArray, other: FloatArray) -> tuple[float, float]:
        """Return the mean of ``one - other`` and its standard error."""
        more = one - other
        away = self.mean(more)
        return away, math.sqrt(self.mean((more - away) ** 2) / more.size)

    @abstractmethod
    def can_be_held_out(self) -> bool:
        """Return whether a fold can hold examples out."""

    @abstractmethod
    def calibrate(self, votes: FloatArray) -> Any:
        """Return what makes probabilities of votes, of the least loss."""

    @abstractmethod
    def losses(self, votes: FloatArray, calibration: Any) -> FloatArray:
        """Return the loss of each example."""

    @abstractmethod
    def count(
        self, votes: FloatArray, parts: Sequence[BoolArray], calibration: Any
    ) -> HeldOut | None:
        """Return what votes got wrong in each part of the examples; None if it is not counted."""

    @abstractmethod
    def error(self, votes: FloatArray) -> float:
        """Return the share of the mass that votes get wrong, of examples or of their pairs."""

    @abstractmethod
    def margins(self, votes: FloatArray) -> Margins:
        """Return the margins of examples, or of all their pairs with labels."""


@dataclass(frozen=True, eq=False)
class ClassOutcomes(Outcomes):
    """Classes, by their numbers.

    ``scale`` times the masses are the numbers of examples that the prior of a calibration sees.
    ``class_weighted`` tells whether class weights move the votes; the masses are without them.
    """

    scale: float = 1.0
    class_weighted: bool = False

    def can_be_held_out(self) -> bool:
        """Return whether there are two examples of each class."""
        return bool(np.unique(self.labels, return_counts=True)[1].min() >= 2)

    def calibrate(self, votes: FloatArray) -> Calibration:
        """Return the sigmoid of the least log-loss."""
        weighted = self.class_weighted
        return Calibration.fit(votes, self.labels, self.masses, self.scale, class_weighted=weighted)

    def losses(self, votes: FloatArray, calibration: Calibration) -> FloatArray:
        """Return the log-loss of the probabilities of each example."""
        return calibration.losses(votes, self.labels)

    def count(
        self, votes: FloatArray, parts: Sequence[BoolArray], calibration: Calibration
    ) -> HeldOut:
        """Return what votes got wrong in each part of the examples."""
        labels = [self.labels[part] for part in parts]
        return HeldOut.of([votes[part] for part in parts], labels, calibration)

    def least_loss(self, votes: FloatArray) -> float:
        """Return the mean log-loss with the best sigmoid."""
        if votes.ndim == 1:
            return fit_sigmoid(votes, self.labels == 1, self.masses, self.scale)[2]
        return self.calibrate(votes).log_loss(votes, self.labels, self.masses)

    def error(self, votes: FloatArray) -> float:
        """Return the share of the mass whose class has not most votes."""
        wrong = self.masses[winners(votes) != self.labels].sum()
        return int(wrong) / int(self.masses.sum())

    def margins(self, votes: FloatArray) -> Margins:
        """Return the margins of examples; of several classes, those of all pairs with a label."""
        if votes.ndim == 1:
            return Margins.on_grid(np.where(self.labels == 1, votes, -votes), self.masses)
        own = self.labels[:, None] == np.arange(votes.shape[1])
        copies = np.where(own, votes.shape[1] - 1, 1) * self.masses[:, None]
        return Margins.on_grid(np.where(own, votes, -votes).ravel(), copies.ravel())


@dataclass(frozen=True, eq=False)
class ThresholdOutcomes(Outcomes):
    """Numbers, by how many thresholds are below them; ``gaps`` are the masses of the pairs.

    ``scale`` times the masses are numbers of examples.
    """

    gaps: IntArray
    scale: float = 1.0

    def can_be_held_out(self) -> bool:
        """Return whether there are two examples."""
        return self.labels.size >= 2

    def calibrate(self, votes: FloatArray) -> Sigmoids:
        """Return the sigmoids of the least log-loss over pairs."""
        return Sigmoids.fit(votes, self.labels, self.masses, self.scale)

    def losses(self, votes: FloatArray, calibration: Sigmoids) -> FloatArray:
        """Return the Brier score over the pairs of each example."""
        return calibration.losses(votes, self.labels, self.gaps)

    def count(self, votes: FloatArray, parts: Sequence[BoolArray], calibration: Sigmoids) -> None:
        """Return None: what a vote gets wrong is a distance, not a number of examples."""

    def error(self, votes: FloatArray) -> float:
        """Return the share of the mass of pairs whose vote is wrong; a tie is for "below"."""
        wrong = (votes > 0) != self._is_above(votes)
        errors = int(self.masses @ (wrong @ self.gaps))
        return errors / (int(self.masses.sum()) * int(self.gaps.sum()))

    def margins(self, votes: FloatArray) -> Margins:
        """Return the margins of all pairs with thresholds."""
        right = np.where(self._is_above(votes), votes, -votes)
        return Margins.on_grid(right.ravel(), np.outer(self.masses, self.gaps).ravel())

    def _is_above(self, votes: FloatArray) -> BoolArray:
        return self.labels[:, None] > np.arange(votes.shape[1])
