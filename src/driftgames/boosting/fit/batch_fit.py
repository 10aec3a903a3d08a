"""Fits in batches: what `BatchReader` reads goes through the rounds of every fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.binned_data import BinnedData
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.sources import Asked, open_source
from driftgames.boosting.face.booster_input import BoosterInput
from driftgames.boosting.face.input_checks import check_examples, open_threads
from driftgames.boosting.fit.batches import BatchReader
from driftgames.boosting.fit.monitoring import Callback, name_sets
from driftgames.boosting.fit.rounds import BoostingRounds, outline_of
from driftgames.boosting.fit.training_rows import SharedBins
from driftgames.boosting.fit.warm_start import check_categories, check_continuation, check_names
from driftgames.boosting.model.training_record import Fitted
from driftgames.core.checks import check_integer
from driftgames.core.typing import IntArray

BATCH_ROWS = 65_536
"""The number of rows that `fit_batches` works on at a time."""


class BatchFit(BoostingRounds):
    """A classifier that is also fitted to examples in batches."""

    def fit_batches(
        self,
        source: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002  # pyarrow's word
        batch_rows: int = BATCH_ROWS,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> Self:
        """Fit the booster to examples that come in batches, and need not fit in memory.

        The model is that of `fit` on all rows, to the bit, for any size and order of the batches.
        The source is read twice: once for the cuts, once for the bins, two bytes for each value.
        Weights, categories, examples held out and calibration need more passes: docs/scale.md has
        them, and figures. ``calibrate=False`` saves the time of calibration.

        Parameters
        ----------
        source : function, list, str, pyarrow Dataset or polars LazyFrame
            A function that returns an iterator over batches, or a list of batches. A batch is
            ``(X, y)`` or ``(X, y, sample_weight)``, of what `fit` takes, memory maps or names of
            ``.npy`` files. Or parquet files: a name, a pattern such as ``"data/*.parquet"`` or a
            list of names.
        label, weight : str, optional
            The columns of the labels and of the sample weights, in parquet files, a Dataset or a
            LazyFrame.
        columns : list of str, optional
            The columns of the features. Default: all others.
        filter : expression, optional
            The rows to take: an expression of pyarrow, or of polars for a LazyFrame.
        batch_rows : int
            The largest number of rows that are worked on at a time.
        eval_set, eval_names, callbacks
            As in `fit`; evaluation sets are in memory.

        Returns
        -------
        self
            An error or an interruption leaves the booster as it was.
        """
        batch_rows = check_integer("batch_rows", batch_rows, least=1)
        self._check_built_in("fit_batches")
        settings = self._check_settings()
        goes_on = settings.goes_on
        chooses = settings.n_estimators is None or settings.shape.is_open or self.ensemble is True
        pairs = name_sets(eval_set, eval_names)
        by_type = isinstance(self.categorical_features, str) or not self.categorical_features
        asked = Asked(batch_rows, label, weight, columns, filter, frames=not by_type)
        opened = open_source(source, asked)
        names = None if opened.names is None else np.array(opened.names, dtype=object)
        if names is not None and goes_on:
            check_names(self.model_.feature_names, names.tolist())
        noted = self._twin(self._fitted if goes_on else None)

        def check(X: Any, y: Any, first: bool) -> Any:
            named = names is not None and hasattr(noted, "feature_names_in_")
            if named and isinstance(X, np.ndarray):
                del noted.feature_names_in_  # only the source knows them
            return check_examples(noted, X, y, reset=first and not goes_on)

        holds_out = bool(self.early_stopping) and not pairs
        reader = BatchReader(
            opened,
            check,
            self.class_weight,
            self._cross_fits or holds_out or chooses,
            show=bool(self.verbose),
        )
        fitted, settled = self._fit_batches(reader, noted, names, pairs, callbacks)
        if self._cross_fits and not settled:
            found = reader.cross_fit(self._twin(fitted), fitted.stages)
            fitted = self._settle(fitted, found)
        return self.adopt(*fitted)

    def _fit_batches(
        self,
        reader: BatchReader,
        noted: BoosterInput,
        names: Array | None,
        pairs: dict[str, tuple[Any, Any]],
        callbacks: Sequence[Callback],
    ) -> tuple[Fitted, bool]:
        """Fit the booster to what a reader reads; return also whether it is calibrated."""
        settings = self._check_settings()
        goes_on = settings.goes_on
        reader.begin()
        stopping = self._stops(pairs, reader.count() if self.early_stopping else 0)
        if stopping is not None and not pairs:
            reader.hold_out(stopping)
        encoder = reader.encode(ranked=not settings.shape.is_stump)
        if goes_on:
            check_categories(self, encoder)
        plan = self._plan(settings, watched=bool(pairs or callbacks) or stopping is not None)
        max_bins = settings.max_bins
        if max_bins is None:
            max_bins = plan.usual_bins(reader.count() if plan.chooses else 0)
        cuts = reader.summarise(max_bins)
        classes = reader.classes
        if goes_on:
            check_continuation(self, classes, settings.n_estimators)
        outline = outline_of(noted, classes, encoder)
        if names is not None:
            outline = replace(outline, feature_names=names)
        monotonic = self._directions(outline)
        with open_threads(self.n_jobs) as (pool, _):
            binned, labels = reader.bin(cuts, monotonic=monotonic)
            unseen = reader.take_unseen()
            if names is not None:
                noted.feature_names_in_ = names
            watch = self._watch(noted, outline, pairs, callbacks, stopping, unseen)
            keys = None
            cross_fits = self._cross_fits and stopping is None
            if encoder is None and (plan.chooses or cross_fits):
                keys = reader.training_keys()
            return self._fit_rows(
                SharedBins(binned, encoder),
                labels,
                _in_order(binned),
                plan,
                lambda encoder: (outline, watch),
                keys,
                pool,
            )


def _in_order(binned: BinnedData) -> IntArray:
    """Return the sample weights in the order of the examples."""
    weights = np.empty_like(binned.sample_weights)
    weights[slice(None) if binned.order is None else binned.order] = binned.sample_weights
    return weights
