"""The plan of a fit: what is chosen on folds, what is played, and what follows the rounds."""

from __future__ import annotations

from typing import NamedTuple

from driftgames.boosting.data.cuts import MOST_BINS
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.settings import Settings
from driftgames.boosting.fit import calibration
from driftgames.boosting.fit.race import STAGES
from driftgames.boosting.growth.shape import TreeShape

FEW_BINS = 64
"""The number of bins for few examples where a size is chosen: a trial is faster then."""

USUAL_ROUNDS = 200
"""The number of rounds where none can be chosen."""


class Plan(NamedTuple):
    """What a fit chooses and what it plays."""

    n_rounds: int | None
    """The number of rounds; None if it is chosen."""
    max_bins: int | None
    """The number of bins; None if it follows from the number of examples."""
    shape: TreeShape
    chooses: bool
    """Whether folds race: they choose a size, or their mean is the model."""
    has_choice: bool
    """Whether folds choose the size, or chose it in the fit that goes on."""
    averages: bool
    """Whether the model is the mean of the boosters of the folds."""
    is_watched: bool
    """Whether something follows the rounds, and may stop them."""
    goes_on: bool
    cross_fits: bool

    def bins_for(self, n_examples: int) -> int:
        """Return the number of bins for so many examples."""
        return self.max_bins or usual_bins(n_examples, chosen=self.has_choice)


def make_plan(booster: BoosterInput, settings: Settings, *, watched: bool) -> Plan:
    """Return what a fit chooses, and what it plays."""
    n_rounds, max_bins, shape, goes_on, cross_fits = settings
    chooses = (shape.is_open or n_rounds is None) and not goes_on
    if n_rounds is None and (watched or booster.early_stopping):
        n_rounds = STAGES[-1]
        chooses = shape.is_open
    averages = booster.ensemble is True or (booster.ensemble == "auto" and chooses)
    if watched or booster.early_stopping or booster.warm_start:
        if booster.ensemble is True:
            raise ValueError(
                "ensemble=True takes no eval_set, callbacks or early_stopping: the mean of "
                "several boosters has no order of rounds"
            )
        averages = False
    chooses = chooses or averages
    has_choice = chooses or (goes_on and booster.record_.choice is not None)
    return Plan(
        n_rounds, max_bins, shape, chooses, has_choice, averages, watched, goes_on, cross_fits
    )


def usual_bins(n_examples: int, *, chosen: bool) -> int:
    """Return the default number of bins; there are fewer where a size is ``chosen``."""
    return FEW_BINS if chosen and n_examples < calibration.SMALL else MOST_BINS
