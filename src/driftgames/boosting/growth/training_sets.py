"""The training sets that a booster is fitted to: in memory, or with rows elsewhere."""

from __future__ import annotations

from driftgames.boosting.growth.shared_training_set import SharedTrainingSet
from driftgames.boosting.growth.training_set import RowSet

TrainingSet = RowSet | SharedTrainingSet
"""Examples and a weak learner for them: what a booster needs."""
