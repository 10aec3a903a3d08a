"""The steps of a fit, said once for all places where examples can be.

Check and weigh (an `Examples` is made of what passed the checks), hold out, encode, cut, bin,
choose, boost and calibrate. Examples in memory, `MemoryExamples`, and examples in batches,
`BatchExamples`, take these steps in their own way. On a cluster `driftgames.dask.cluster_fit` maps
them over partitions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from driftgames.boosting.data.bins import Array
from driftgames.boosting.face.booster_input import BoosterInput, twin_of
from driftgames.boosting.face.input_checks import open_threads
from driftgames.boosting.face.settings import Settings
from driftgames.boosting.fit.calibration import CrossFit, RowKeys
from driftgames.boosting.fit.monitoring import (
    Callback,
    EvaluationPairs,
    Stopping,
    Unseen,
    Watch,
    watch_fit,
)
from driftgames.boosting.fit.plan import USUAL_ROUNDS, Plan, make_plan
from driftgames.boosting.fit.rounds import boost
from driftgames.boosting.fit.training_rows import FoldRows
from driftgames.boosting.fit.tree_fit import fit_trees, settle
from driftgames.boosting.fit.warm_start import check_categories, check_continuation
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import Fitted


class Examples(ABC):
    """The examples of a fit, which `fit_examples` asks for step by step.

    The checks note names and number of the columns on the booster ``noted``.
    """

    noted: BoosterInput
    classes: Array
    has_categories: bool

    @abstractmethod
    def count(self) -> int:
        """Return the number of examples of positive weight."""

    @abstractmethod
    def hold_out(self, stopping: Stopping) -> None:
        """Hold out the examples that tell when to stop; train on the others from now on."""

    @abstractmethod
    def cut(self, plan: Plan) -> None:
        """Find the classes, the encoder and the cuts, unless all examples are at hand anyway."""

    @abstractmethod
    def bin(self, plan: Plan, pool: ThreadPoolExecutor | None, n_threads: int) -> FoldRows:
        """Return the examples to train on in bins."""

    @abstractmethod
    def keys(self) -> RowKeys | None:
        """Return what folds are made of; None if there can be no folds of these examples."""

    @abstractmethod
    def unseen(self, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples that tell when to stop."""

    @abstractmethod
    def for_estimator(self, booster: BoosterInput) -> tuple[CategoryEncoder | None, TrainingSet]:
        """Return the examples for weak hypotheses of another library."""

    @abstractmethod
    def cross_fit(self, booster: BoosterInput, stages: Sequence[int]) -> CrossFit:
        """Do the same as `calibration.cross_fit` for a booster fitted to these examples."""

    def outline(self, encoder: CategoryEncoder | None) -> FittedModel:
        """Return a model of no rounds for these examples."""
        return outline_of(self.noted, self.classes, encoder)


def fit_examples(
    booster: BoosterInput,
    examples: Examples,
    settings: Settings,
    pairs: EvaluationPairs,
    callbacks: Sequence[Callback],
) -> Fitted:
    """Fit a booster to examples, wherever they are."""
    stopping = Stopping.of(booster, examples.count) if booster.early_stopping else None
    if stopping is not None and not pairs:
        examples.hold_out(stopping)
    watched = bool(pairs or callbacks) or stopping is not None
    plan = make_plan(booster, settings, watched=watched)
    examples.cut(plan)
    if plan.goes_on:
        check_continuation(booster, examples.classes, plan.n_rounds)

    def watch_with(encoder: CategoryEncoder | None) -> tuple[FittedModel, Watch | None]:
        if plan.goes_on:
            check_categories(booster, encoder)
        outline = examples.outline(encoder)
        if not plan.is_watched:
            return outline, None
        unseen = None if stopping is None or pairs else examples.unseen(encoder)
        return outline, watch_fit(
            booster, examples.noted, outline, pairs, callbacks, stopping, unseen
        )

    calibrated = False
    with open_threads(booster.n_jobs) as (pool, n_threads):
        if booster.estimator is None:
            rows, keys = examples.bin(plan, pool, n_threads), None
            folds = plan.cross_fits and stopping is None and not examples.has_categories
            if plan.chooses or folds:
                keys = examples.keys()
            fitted, calibrated = fit_trees(booster, rows, plan, watch_with, keys, pool)
        else:
            encoder, training_set = examples.for_estimator(booster)
            n_rounds = settings.n_estimators or USUAL_ROUNDS
            fitted = boost(
                booster, training_set, *watch_with(encoder), n_rounds, goes_on=plan.goes_on
            )
    if plan.cross_fits and not calibrated:
        fitted = settle(
            booster, fitted, examples.cross_fit(twin_of(booster, fitted), fitted.stages)
        )
    return fitted


def outline_of(
    noted: BoosterInput, classes: Array, encoder: CategoryEncoder | None = None
) -> FittedModel:
    """Return a model of no rounds, with the columns that the checks noted on a booster."""
    names: Any = getattr(noted, "feature_names_in_", None)
    return FittedModel(classes, noted.n_features_in_, feature_names=names, encoder=encoder)
