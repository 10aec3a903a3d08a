"""The settings of a fit, its columns, and the plan: what is chosen, held out and averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from driftgames.boosting.data import MOST_BINS
from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.checks import ExampleChecks, directions
from driftgames.boosting.data.pairs import ColumnPairs
from driftgames.boosting.data.row_sample import hold_out, rank_rows
from driftgames.boosting.engine.binned_trees import TreeLearner
from driftgames.boosting.engine.game import GameRule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.folds import is_small
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.checks import shown
from driftgames.core.typing import BoolArray, FloatArray, IntArray

FEW_BINS = 64
"""The number of bins for few examples where a size is chosen: a trial is faster then."""


@dataclass(frozen=True)
class Stopping:
    """When a fit stops early: the meanings are those of HistGradientBoostingClassifier."""

    validation_fraction: float | int | None
    n_iter_no_change: int
    scoring: object
    tol: float
    only_if_many: bool = False
    """Whether few examples play all rounds; see `fit_booster.MANY`."""

    def choose_held_out(self, hashes: Array, labels: IntArray, masses: IntArray) -> BoolArray:
        """Return which examples are held out; every class keeps examples to train on."""
        share = self.validation_fraction or 0.0
        share = share if share < 1 else share / labels.size  # a number of examples
        held_out = hold_out(rank_rows(hashes, labels, masses), share)
        if np.unique(labels[~held_out]).size < np.unique(labels).size or not held_out.any():
            raise ValueError(
                f"validation_fraction={shown(self.validation_fraction)} of {labels.size} examples "
                "must leave examples of each class to train on, and one to hold out"
            )
        return held_out

    def is_over(self, scores: list[float]) -> bool:
        """Whether none of the last scores is better than the one before them, beyond ``tol``."""
        n = self.n_iter_no_change
        return len(scores) > n and max(scores[-n:]) <= scores[-n - 1] + self.tol


GoesOn = Callable[[FloatArray, IntArray, Any], bool]
"""A question about votes on held-out examples, the numbers of these, and their calibration."""


@dataclass(frozen=True)
class Job:
    """The checked settings of a fit."""

    rule: GameRule
    """It weighs the examples."""
    shape: TreeShape
    n_rounds: int | None
    """The number of rounds; None if the examples choose it."""
    max_bins: int | None
    """The number of bins; None if it follows from the number of examples."""
    ensemble: bool | None
    """Whether the model is a mean of fold boosters; None if that follows from the plan."""
    calibrate: bool
    class_weight: object
    monotonic_cst: object
    stopping: Stopping | None
    """When a fit stops early; None if it plays all rounds."""
    n_jobs: int | None
    verbose: bool
    settings: Mapping[str, Any]
    """What the record of the fit keeps: the settings that the rounds depend on."""
    goes_on: GoesOn | None = None
    """Whether other folds play after the first one, where it races alone; None if they do."""
    pairs: bool = False
    """Whether pairs of columns may join; those of a regressor never do."""

    @classmethod
    def of(
        cls,
        values: Mapping[str, Any],
        *,
        rule: GameRule,
        shape: TreeShape,
        ensemble: bool | None,
        settings: Mapping[str, Any],
        calibrate: bool = True,
        class_weight: object = None,
        stopping: Stopping | None = None,
        pairs: bool = False,
    ) -> Job:
        """Return the job of an estimator: its checked parameters, and what follows from them."""
        n_rounds, max_bins = values["n_estimators"], values["max_bins"]
        return cls(
            rule=rule,
            shape=shape,
            n_rounds=None if isinstance(n_rounds, str) else int(n_rounds),
            max_bins=None if isinstance(max_bins, str) else int(max_bins),
            ensemble=ensemble,
            calibrate=calibrate,
            class_weight=class_weight,
            monotonic_cst=values["monotonic_cst"],
            stopping=stopping,
            n_jobs=values["n_jobs"],
            verbose=bool(values["verbose"]),
            settings=settings,
            pairs=pairs,
        )

    @property
    def makes_folds(self) -> bool:
        """Whether examples are held out, for calibration, for a race or for early stopping."""
        return (
            self.calibrate
            or self.stopping is not None
            or self.n_rounds is None
            or self.shape.is_open
            or self.ensemble is True
        )

    def for_fold(self, n_rounds: int, shape: TreeShape, n_examples: int) -> Job:
        """Return the same job for one more fit, to fewer examples, of a known size."""
        leaves = shape.most_leaves
        shape = replace(
            shape,
            max_leaves=None if leaves is None else min(leaves, n_examples),
            min_samples_leaf=max(1, min(shape.min_samples_leaf, n_examples // 2)),
        )
        return replace(
            self,
            n_rounds=n_rounds,
            shape=shape,
            ensemble=False,
            calibrate=False,
            stopping=None,
            verbose=False,
        )


@dataclass(frozen=True)
class Columns:
    """What is known of the columns of the examples, and of their labels."""

    classes: Array
    """The labels in order; of a regressor, the thresholds of the outcome."""
    n_features: int
    names: Array | None = None
    gaps: IntArray | None = None
    """Of a regressor, the mass of the pairs with each threshold; else None."""
    pairs: ColumnPairs | None = None
    """Pairs of columns that trees ask about too."""

    @classmethod
    def of(cls, classes: Array, checks: ExampleChecks) -> Columns:
        """Return the columns that examples had in their checks."""
        return cls(classes, checks.n_features, checks.names)

    def empty_model(self, encoder: CategoryEncoder | None) -> FittedModel:
        """Return a model of no rounds for these columns."""
        return FittedModel(
            self.classes,
            self.n_features,
            feature_names=self.names,
            encoder=encoder,
            pairs=self.pairs,
        )

    @property
    def n_leaf_classes(self) -> int:
        """The number of classes by which sizes of trees are chosen.

        Each class needs a leaf of its own. Thresholds do not: every leaf votes for all of them.
        """
        return self.classes.size if self.gaps is None else 2

    @property
    def cost(self) -> int:
        """How many times as long as for two classes a round takes, as a race reckons."""
        if self.gaps is not None:
            return 4
        return 1 if self.classes.size == 2 else 2

    def learner(
        self, data: BinnedData, shape: TreeShape, labels: IntArray | None, n_threads: int = 1
    ) -> TreeLearner:
        """Return the trees of a shape as the weak learner of binned examples."""
        return TreeLearner.of(data, shape, labels, self.classes.size, n_threads, self.gaps)

    def constraints(
        self, monotonic_cst: object, encoder: CategoryEncoder | None
    ) -> IntArray | None:
        """Return the monotonic constraint of each column, checked; None if there is none."""
        if monotonic_cst is None:
            return None
        signs = directions(monotonic_cst, self.n_features, self.names)
        if not signs.any():
            return None
        if self.classes.size > 2 and self.gaps is None:
            raise ValueError(
                f"monotonic_cst is for two classes; got it beside {self.classes.size}, whose "
                "votes cannot all rise with a feature: fit one class against the rest"
            )
        of_pairs = np.zeros(0 if self.pairs is None else len(self.pairs), signs.dtype)
        if encoder is None:
            return np.append(signs, of_pairs)
        for j, feature in enumerate(encoder.features):
            if signs[j] and feature is not None and not feature.ordered:
                raise ValueError(
                    "monotonic_cst must be 0 for categories without an order; feature "
                    f"{j} holds some"
                )
        return np.append(signs[encoder.feature], of_pairs)


@dataclass(frozen=True)
class Plan:
    """What a fit chooses, what it plays and what follows the rounds."""

    n_rounds: int | None
    """The number of rounds; None if it is chosen."""
    races: bool
    """Whether folds race: they choose a size, or their mean is the model."""
    averages: bool
    """Whether the model is the mean of the boosters of the folds."""
    pairs: bool
    """Whether pairs of columns may join."""
    max_bins: int | None
    stopping: Stopping | None
    is_watched: bool
    """Whether something follows the rounds, and may stop them."""
    holds_out: bool
    """Whether examples are held out of the fit that tell when to stop."""
    folds_share_bins: bool
    """Whether votes of folds come from fits on the same bins, in which held-out rows weigh zero.

    Else folds are fits of their own: where a fold must not see the labels of its held-out rows in
    its ranks of categories, and where rows are held out for early stopping.
    """

    def bins_for(self, count: Callable[[], int]) -> int:
        """Return the number of bins; ``count`` returns the number of examples."""
        if self.max_bins is not None:
            return self.max_bins
        return FEW_BINS if self.races and is_small(count()) else MOST_BINS
