"""Fits beyond memory: one pass over the batches for the cuts, one for the bins.

Cuts are chosen from a summary that merges, and weights are integers. So the model is that of a fit
on all rows at once, for any size and any order of the batches. Sample weights, categories and
examples that are held out take passes of their own before the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.cut_summary import CutSummary
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.settings import check_built_in, constraints_of
from driftgames.boosting.fit.assembly import begin_assembly, join
from driftgames.boosting.fit.batch_passes import BatchPasses
from driftgames.boosting.fit.calibration import CrossFit, RowKeys, cross_fit, votes_after
from driftgames.boosting.fit.examples import Examples
from driftgames.boosting.fit.monitoring import Stopping, Unseen
from driftgames.boosting.fit.plan import Plan
from driftgames.boosting.fit.training_rows import SharedBins
from driftgames.boosting.growth.training_sets import TrainingSet
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.category_counts import CategoryCounts
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import BoolArray, FloatArray, IntArray


class BatchExamples(Examples):
    """Examples in batches. The names of their columns are known if the source has ``names``."""

    def __init__(
        self, booster: BoosterInput, noted: BoosterInput, passes: BatchPasses, names: Array | None
    ) -> None:
        self.booster, self.noted, self._passes, self._names = booster, noted, passes, names
        self._encoder: CategoryEncoder | None = None
        self._cuts: Cuts | None = None
        self._unseen: list[tuple[Any, Array, IntArray]] = []
        passes.begin()
        self.has_categories = passes.categories is not None

    @property
    def classes(self) -> Array:  # type: ignore[override]  # the passes find them
        """The labels in order."""
        return self._passes.classes

    def count(self) -> int:
        """Return the number of examples of positive weight."""
        return self._passes.count()

    def hold_out(self, stopping: Stopping) -> None:
        """Hold out examples from now on, and collect them in the pass for the cuts."""
        stopping.require_fraction()

        def choose(keys: RowKeys, masses: IntArray) -> BoolArray:
            numbers = np.arange(self.classes.size)
            return stopping.hold_out(keys.hashes, keys.labels, masses, numbers)

        self._passes.hold_out(choose)

    def cut(self, plan: Plan) -> None:
        """Read all batches for the encoder, if there are categories, and again for the cuts."""
        passes, n_training = self._passes, 0
        if passes.categories is not None:
            self._encoder = self._learn_categories(ranked=not plan.shape.is_stump)
        if plan.has_choice and plan.max_bins is None:
            n_training = passes.count()
            if passes.held_out is not None:
                n_training -= int(np.count_nonzero(passes.held_out))
        summary = CutSummary(plan.bins_for(n_training))
        for rows in passes.read("finding cuts"):
            X, y, weights = rows.X, rows.y, rows.weights
            hashes: Array | None = rows.hashes
            if passes.held_out is not None:
                out = rows.of(passes.held_out)
                if out.any():
                    self._unseen.append((self._expand(X[out]), y[out], weights[out]))
                X, y, weights, hashes = X[~out], y[~out], weights[~out], None
            if y.size:
                plain = hashes if self._encoder is None else None
                summary.add(self._expand(X), weights, plain)
        self._cuts = summary.cuts()

    def bin(self, plan: Plan, pool: ThreadPoolExecutor | None, n_threads: int) -> SharedBins:
        """Read all batches again; return them in bins."""
        assembly, encoder = None, self._encoder
        assert self._cuts is not None
        constraints = constraints_of(self.booster, self.outline(encoder))
        for X, labels, weights in self._training("binning"):
            columns = self._expand(X)
            assembly = assembly or begin_assembly(columns, self._cuts, self.classes.size)
            assembly.add(columns, labels, weights)
        assert assembly is not None
        integer_weights = self._passes.integer_weights
        binned = assembly.finish(integer_weights=integer_weights, monotonic=constraints)
        if self._names is not None:
            self.noted.feature_names_in_ = self._names  # the columns of evaluation sets have them
        return SharedBins(binned, encoder, assembly.labels)

    def keys(self) -> RowKeys | None:
        """Return what folds are made of; None with categories, which folds would rank anew."""
        if self.has_categories:
            return None
        keys, held_out = self._passes.keys(), self._passes.held_out
        return keys if held_out is None else keys.take(np.flatnonzero(~held_out))

    def unseen(self, encoder: CategoryEncoder | None) -> Unseen:
        """Return the examples held out, and forget them."""
        parts, self._unseen = self._unseen, []
        return join(parts)

    def outline(self, encoder: CategoryEncoder | None) -> FittedModel:
        """Return a model of no rounds for these examples."""
        outline = super().outline(encoder)
        return outline if self._names is None else replace(outline, feature_names=self._names)

    def for_estimator(self, booster: BoosterInput) -> tuple[CategoryEncoder | None, TrainingSet]:
        """Refuse: weak hypotheses of another library need all rows at once."""
        check_built_in(booster, "fit_batches")
        raise AssertionError

    def cross_fit(self, booster: BoosterInput, stages: Sequence[int]) -> CrossFit:
        """Do the same as `calibration.cross_fit` for a booster fitted to these batches."""
        keys = self._passes.keys()
        own = keys.sample_weight

        def select(taken: BoolArray) -> Iterator[tuple[Any, ...]]:
            for rows in self._passes.read("calibrating"):
                some = rows.of(taken)
                if some.any():
                    weights = () if own is None else (rows.of(own)[some],)
                    yield rows.X[some], rows.y[some], *weights

        def refit(fresh: BoosterInput, held_out: BoolArray, stages: Sequence[int]) -> FloatArray:
            columns = self._expand
            if fresh is not booster:
                fresh.fit_batches(lambda: select(~held_out))
                columns = fresh.model_.encode
            votes = [votes_after(fresh, columns(X), stages) for X, *_ in select(held_out)]
            return np.concatenate(votes, axis=1)

        return cross_fit(booster, keys, refit, stages)

    def _learn_categories(self, *, ranked: bool) -> CategoryEncoder:
        categories = self._passes.categories
        assert categories is not None
        counts = [
            CategoryCounts.of(X, categories, labels, weights, self.classes.size)
            for X, labels, weights in self._training("counting categories")
        ]
        integer_weights = self._passes.integer_weights
        return CategoryEncoder.of_counts(
            categories, reduce(add, counts), integer_weights=integer_weights, ranked=ranked
        )

    def _training(self, task: str) -> Iterator[tuple[Any, IntArray, IntArray]]:
        """Yield the examples to train on: categories as codes, numbers of classes, weights."""
        held_out = self._passes.held_out
        for rows in self._passes.read(task):
            X, labels, weights = rows.X, np.searchsorted(self.classes, rows.y), rows.weights
            if held_out is not None:
                kept = ~rows.of(held_out)
                X, labels, weights = X[kept], labels[kept], weights[kept]
            if labels.size:
                yield X, labels, weights

    def _expand(self, X: Any) -> Any:
        """Return the columns that stumps and trees ask about."""
        categories = self._passes.categories
        if self._encoder is None or categories is None:
            return X
        return self._encoder.expand(self._encoder.recode(X, categories))
