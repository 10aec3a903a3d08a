"""Fits to examples in memory."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.frames import Categories
from driftgames.boosting.data.row_sample import hash_rows
from driftgames.boosting.data.sample_weights import (
    SampleWeights,
    check_weights,
    weigh_classes,
    weigh_examples,
)
from driftgames.boosting.face.booster_input import BoosterInput, twin_of
from driftgames.boosting.face.input_checks import check_examples, find_classes
from driftgames.boosting.face.settings import check_settings, constraints_of
from driftgames.boosting.fit.calibration import CrossFit, RowKeys, cross_fit_here
from driftgames.boosting.fit.examples import Examples, fit_examples
from driftgames.boosting.fit.monitoring import Callback, Stopping, Unseen, name_sets
from driftgames.boosting.fit.plan import Plan
from driftgames.boosting.fit.training_rows import TrainingRows
from driftgames.boosting.growth.estimator_training_set import (
    EstimatorPairs,
    EstimatorTrainingSet,
    draw_seeds,
)
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.fitted_model import expand_for
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.checks import float_errors
from driftgames.core.typing import FloatArray, IntArray


class MemoryFit(BoosterInput):
    """A classifier that is fitted to examples in memory."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> Self:
        """Fit the booster.

        With ``warm_start`` a fitted booster goes on from the rounds played already. They are
        replayed. Other settings, or examples that give other edges or errors, are refused.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix, shape (n_samples, n_features)
            NaN is a missing value. Sparse matrices stay sparse. A data frame may have columns
            of categories; see ``categorical_features``.
        y : array, shape (n_samples,)
            Labels of two values or more.
        sample_weight : array, shape (n_samples,), optional
            A prior over the examples; an example of weight 2 counts as two.
        eval_set : pair (X, y) or list of such pairs, optional
            Examples on which each round is evaluated: ``evals_result_[name]`` has the
            ``log_loss`` and the ``error`` after each.
        eval_names : list of str, optional
            Their names. Default: ``valid_0``, ``valid_1`` and so on.
        callbacks : list of callables
            Each is called after a round with its number and a `Stage`. The fit stops where one
            returns True.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was.
        """
        settings = check_settings(self)
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        noted = noted_by(self, goes_on=settings.goes_on)
        X, y, categories = check_examples(noted, X, y, reset=not settings.goes_on)
        examples = MemoryExamples(self, noted, X, y, categories)
        if sample_weight is not None or self.class_weight is not None:
            examples.weigh(sample_weight)
        return self.adopt(*fit_examples(self, examples, settings, pairs, callbacks))


def noted_by(booster: BoosterInput, *, goes_on: bool) -> BoosterInput:
    """Return a booster on which checks note columns; those of a fit that goes on are there."""
    return twin_of(booster, Fitted(booster.model_, booster.record_) if goes_on else None)


@dataclass
class MemoryExamples(Examples):
    """Examples in memory: ``X`` are columns of numbers, or codes among the ``categories``."""

    booster: BoosterInput
    noted: BoosterInput
    X: Any
    y: Array
    categories: tuple[Categories | None, ...] | None
    classes: Array = field(init=False)
    weights: SampleWeights = field(init=False)
    sample_weight: FloatArray | None = None
    """What the user says that they weigh, if it is positive."""

    def __post_init__(self) -> None:
        self.classes = find_classes(self.y)
        self.weights = SampleWeights(np.ones(self.y.size, dtype=np.int64), integer_weights=True)
        self.has_categories = self.categories is not None
        self._all: tuple[Any, Array, FloatArray | None] = self.X, self.y, None
        self._unseen: Unseen = None

    def weigh(self, sample_weight: Any) -> None:
        """Weigh the examples, and keep those of positive weight."""
        with float_errors("sample_weight"):
            own = check_weights(sample_weight, self.X, self.y, self.classes)
        self._all = self.X, self.y, own
        weighed = weigh_classes(self.booster.class_weight, self.y, self.classes, own)
        self.X, self.y, self.weights = weigh_examples(self.X, self.y, weighed)
        self.sample_weight = None if own is None else own[own > 0]

    @cached_property
    def labels(self) -> IntArray:
        """The numbers of the classes of the examples to train on, once some are held out."""
        return np.searchsorted(self.classes, self.y)

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return int(self.y.size)

    def hold_out(self, stopping: Stopping) -> None:
        """Hold out the examples that tell when to stop, unless all of them do."""
        if stopping.validation_fraction is None:
            return
        X, y, masses = self.X, self.y, self.weights.of_each
        held_out = stopping.hold_out(hash_rows(X), y, masses, self.classes)
        self._unseen = X[held_out], y[held_out], masses[held_out]
        self.X, self.y = X[~held_out], y[~held_out]
        self.weights = self.weights._replace(of_each=masses[~held_out])
        if self.sample_weight is not None:
            self.sample_weight = self.sample_weight[~held_out]

    def cut(self, plan: Plan) -> None:
        """Leave it to the rows: folds may see fewer categories."""

    def bin(self, plan: Plan, pool: ThreadPoolExecutor | None, n_threads: int) -> TrainingRows:
        """Return the examples to train on; they are put into bins when these are read."""
        return TrainingRows(
            self.X,
            self.labels,
            self.weights,
            self.categories,
            self.classes.size,
            plan.bins_for(self.count()),
            lambda encoder: constraints_of(self.booster, self.outline(encoder)),
            pool,
            n_threads,
        )

    def keys(self) -> RowKeys:
        """Return what folds are made of."""
        return RowKeys(hash_rows(self.X), self.labels, self.sample_weight)

    def unseen(self, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples that tell when to stop: those held out, or all."""
        X, y, masses = self._unseen or (self.X, self.y, self.weights.of_each)
        if encoder is not None and self.categories is not None:
            X = self._expand(encoder, encoder.recode(X, self.categories))
        return X, y, masses

    def for_estimator(self, booster: BoosterInput) -> tuple[CategoryEncoder | None, TrainingSet]:
        """Return the examples for weak hypotheses of another library."""
        labels, n_classes = self.labels, self.classes.size
        encoder, columns = None, self.X
        if self.categories is not None:
            encoder, codes = CategoryEncoder.learn(
                self.X, self.categories, labels, self.weights, ranked=False
            )
            columns = self._expand(encoder, codes)
        constraints_of(booster, self.outline(encoder))  # refused beside an estimator
        goes_on = booster.warm_start and booster.__sklearn_is_fitted__()
        seeds = draw_seeds(booster.random_state, used=booster.n_iter_ if goes_on else 0)
        if n_classes > 2:
            return encoder, EstimatorPairs(
                booster.estimator, columns, labels, n_classes, *self.weights, seeds
            )
        return encoder, EstimatorTrainingSet(
            booster.estimator, columns, self.y, self.classes, *self.weights, seeds
        )

    def cross_fit(self, booster: BoosterInput, stages: Sequence[int]) -> CrossFit:
        """Do the same as `calibration.cross_fit` for a booster fitted to these examples."""
        return cross_fit_here(booster, *self._all, self.categories, stages)

    def _expand(self, encoder: CategoryEncoder, codes: FloatArray) -> Any:
        estimator = self.booster.estimator
        return expand_for(None if estimator is None else [estimator], encoder, codes)
