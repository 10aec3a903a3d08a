"""A fitted regressor as a page to click through: features, examples, and what is promised.

The shape of a feature is a partial dependence: the mean prediction over examples of which this
feature alone is set to a value, less the mean prediction as they are. The parts of one example add
up to its mean: features are set to its values one after the other, from examples as they are on, in
the order of their importance; and once more in the opposite order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from driftgames.boosting.data.frames import code_columns
from driftgames.boosting.export.mean_votes import spread_rows
from driftgames.boosting.export.model_page import plain
from driftgames.boosting.regression.stages import CodedCategories, HeldOutScores, StagedModel
from driftgames.core.cells import day_text
from driftgames.core.text import visible
from driftgames.core.typing import FloatArray
from driftgames.plots.explanation_page import (
    MOST_FEATURES,
    ExplanationPage,
    FeatureShape,
    Reasons,
)

_VALUES = 16  # of a feature, at most, where its mean prediction is asked for
_ROWS = 4_000  # that are predicted for one order of one example, about


@dataclass(frozen=True, eq=False)
class ExplainedRegressor:
    """A model, the names and importances of its features, and rows to explain it by.

    ``codes`` are all rows of the examples: numbers, and codes among the ``categories``. ``dates``
    are the features whose values are days since 1970.
    """

    model: StagedModel
    scores: HeldOutScores
    names: Sequence[str]
    importances: FloatArray
    codes: FloatArray
    categories: CodedCategories
    dates: Collection[int] = ()

    @classmethod
    def of(
        cls,
        model: StagedModel,
        scores: HeldOutScores,
        names: Iterable[object],
        importances: FloatArray,
        rows: Any,
    ) -> ExplainedRegressor:
        """Return a model and rows: numbers, or what the codes of categories are found in."""
        encoder = model.stages[0].model.encoder if model.stages else None
        categories = None if encoder is None else encoder.categories
        if not model.stages:
            codes = np.zeros(rows.shape)
        elif categories is not None:
            codes = code_columns(rows, categories)[0] if rows.shape[0] else rows
        else:
            codes = rows.toarray() if scipy.sparse.issparse(rows) else rows
        return cls(model, scores, [plain(each) for each in names], importances, codes, categories)

    def page(
        self, title: str, n_examples: int, facts: Mapping[str, object], guarantee: str
    ) -> ExplanationPage:
        """Return the page, with the first examples explained one by one."""
        stages, scores = self.model.stages, self.scores
        voting = np.flatnonzero(self.importances)
        ranked = voting[np.argsort(-self.importances[voting], kind="stable")].tolist()
        return ExplanationPage(
            plain(title),
            "",
            [self._shape(j, is_drawn=k < MOST_FEATURES) for k, j in enumerate(ranked)],
            self._examples(ranked, min(n_examples, len(self.codes))),
            {
                **facts,
                "stages": len(stages),
                "rounds of all": sum(stage.model.n_rounds for stage in stages),
                "features": self.codes.shape[1],
                "held-out CRPS": f"{scores.crps[-1]:.4g}",
                "held-out mean absolute error": f"{scores.mae:.4g}",
            },
            visible(guarantee),
            of_numbers=True,
        )

    def _means(self, codes: FloatArray) -> FloatArray:
        return self.model.means(codes, categories=self.categories)

    def _shape(self, j: int, *, is_drawn: bool) -> FeatureShape:
        """Return the mean prediction by the value of one feature, from its mean on."""
        importance = float(self.importances[j])
        if not is_drawn or not len(self.codes):
            return FeatureShape(self.names[j], (), (), importance=importance)
        rows = self.codes[spread_rows(len(self.codes))]
        base = self._means(rows).mean()

        def at(value: float) -> float:
            moved = rows.copy()
            moved[:, j] = value
            return float(self._means(moved).mean() - base)

        known = None if self.categories is None else self.categories[j]
        sample = self.codes[:, j]
        seen = np.unique(sample[np.isfinite(sample)])
        cuts: list[float] = []
        if known is not None:
            points = np.arange(float(len(known)))
        else:
            if seen.size > _VALUES:
                levels = (np.arange(_VALUES) + 0.5) / _VALUES
                finite = sample[np.isfinite(sample)]
                seen = np.unique(np.quantile(finite, levels, method="nearest"))
            points = seen if seen.size else np.zeros(1)
            cuts = ((points[:-1] + points[1:]) / 2.0).tolist()
        return FeatureShape(
            self.names[j],
            cuts,
            [at(value) for value in points.tolist()],
            at(np.nan) if np.isnan(sample).any() else None,
            None if known is None else [plain(each) for each in known],
            np.where(sample < 0, np.nan, sample) if known is not None else sample,
            importance,
            is_mean=True,
            are_dates=j in self.dates,
        )

    def _examples(self, ranked: Sequence[int], n_examples: int) -> list[Reasons]:
        """Return the parts of the means of the first examples, and their distributions."""
        if not n_examples:
            return []
        first = self.codes[:n_examples]
        rows = self.model.distribution(first, categories=self.categories)
        ends = self.scores.places.interval(rows, 0.9)
        some = spread_rows(len(self.codes))
        n_rows = max(1, min(some.size, _ROWS // (len(ranked) + 1)))
        start = self.codes[some[np.linspace(0, some.size - 1, n_rows).astype(np.intp)]]
        base = float(self._means(start).mean())
        found = []
        for i in range(n_examples):
            orders = [list(ranked), list(ranked)[::-1]]
            steps = [self._steps(first[i], start, order) for order in orders]
            parts = {j: (steps[0][j] + steps[1][j]) / 2.0 for j in ranked}
            low, high = ends[i]
            found.append(
                Reasons(
                    f"example {i}",
                    f"mean {rows.mean()[i]:.5g}, 90 %: {low:.5g} to {high:.5g}",
                    [(self.names[j], self._cell(j, first[i, j]), parts[j]) for j in ranked],
                    base,
                    distribution=(rows.levels, rows.quantiles[i], (float(low), float(high))),
                )
            )
        return found

    def _steps(
        self, example: FloatArray, start: FloatArray, order: Sequence[int]
    ) -> dict[int, float]:
        """Return by how much the mean prediction moves as features take an example's values."""
        rows = np.repeat(start[None], len(order) + 1, axis=0)
        for step, j in enumerate(order, 1):
            rows[step:, :, j] = example[j]
        means = self._means(rows.reshape(-1, start.shape[1])).reshape(len(order) + 1, -1)
        moved = np.diff(means.mean(axis=1))
        return dict(zip(order, moved.tolist(), strict=True))

    def _cell(self, j: int, value: float) -> str:
        """Return a value of an example as a reader knows it."""
        known = None if self.categories is None else self.categories[j]
        if np.isnan(value):
            return "missing"
        if known is None:
            return day_text(value) if j in self.dates else f"{value:.6g}"
        return plain(known[int(value)]) if 0 <= value < len(known) else "any other"
