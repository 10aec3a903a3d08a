"""Fits in batches: what `BatchExamples` reads goes through the steps of every fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from driftgames.boosting.data.sources import Asked, open_source
from driftgames.boosting.face.input_checks import check_examples
from driftgames.boosting.face.settings import check_built_in, check_settings
from driftgames.boosting.fit.batch_passes import BatchPasses
from driftgames.boosting.fit.batches import BatchExamples
from driftgames.boosting.fit.examples import fit_examples
from driftgames.boosting.fit.memory_fit import MemoryFit, noted_by
from driftgames.boosting.fit.monitoring import Callback, name_sets
from driftgames.boosting.fit.warm_start import check_names
from driftgames.core.checks import check_integer

BATCH_ROWS = 65_536
"""The number of rows that `fit_batches` works on at a time."""


class BatchFit(MemoryFit):
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
        check_built_in(self, "fit_batches")
        settings = check_settings(self)
        goes_on = settings.goes_on
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        by_type = isinstance(self.categorical_features, str) or not self.categorical_features
        asked = Asked(batch_rows, label, weight, columns, filter, frames=not by_type)
        opened = open_source(source, asked)
        names = None if opened.names is None else np.array(opened.names, dtype=object)
        if names is not None and goes_on:
            check_names(self.model_.feature_names, names.tolist())
        noted = noted_by(self, goes_on=goes_on)

        def check(X: Any, y: Any, first: bool) -> Any:
            named = names is not None and hasattr(noted, "feature_names_in_")
            if named and isinstance(X, np.ndarray):
                del noted.feature_names_in_  # only the source knows them
            return check_examples(noted, X, y, reset=first and not goes_on)

        chooses = settings.n_estimators is None or settings.shape.is_open or self.ensemble is True
        holds_out = bool(self.early_stopping) and not pairs
        keeps_keys = settings.cross_fits or holds_out or chooses
        passes = BatchPasses(opened, check, self.class_weight, keeps_keys, bool(self.verbose))
        examples = BatchExamples(self, noted, passes, names)
        return self.adopt(*fit_examples(self, examples, settings, pairs, callbacks))
