"""A fitted model as a page to click through: features, reasons, guarantee and scorecard."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.export.mean_votes import (
    Boosters,
    Credits,
    MeanVotes,
    credit_votes,
    mean_by_category,
    mean_by_value,
    spread_rows,
)
from driftgames.boosting.export.scorecard import render_scorecard
from driftgames.boosting.model.explanation import CategoryVotes, ShapeFunction
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import Member
from driftgames.core.cells import day_text
from driftgames.core.text import shorten, visible
from driftgames.core.typing import FloatArray, IntArray
from driftgames.plots.explanation_page import (
    MOST_CLASSES,
    MOST_FEATURES,
    ClassVotes,
    ExplanationPage,
    FeatureShape,
    Reasons,
)

ValuesOf = Callable[[int], FloatArray]
"""The values of a feature in the examples; categories are codes."""


class ExplainedRows(NamedTuple):
    """Encoded rows, the values of their features, and how many of them are explained.

    ``dates`` are the features whose values are days since 1970.
    """

    rows: Matrix
    values_of: ValuesOf
    n_explained: int
    dates: Collection[int] = ()


def make_page(
    explained: ExplainedModel,
    title: str,
    at: int | None,
    facts: Mapping[str, object],
    guarantee: str,
) -> ExplanationPage:
    """Return the page of a model, opened at the class of number ``at``.

    Default: the last class; the reasons are then those of `FittedModel.explain`. With more than two
    classes the page has a switch.
    """
    model = explained.model
    try:
        tabs = {"Scorecard": render_scorecard(model)}
    except AttributeError:  # the questions of trees vote together
        tabs = {}
    n_classes = len(model.classes)
    opened = n_classes - 1 if at is None else at
    switch = list(range(n_classes)) if 2 < n_classes <= MOST_CLASSES else []
    shapes = explained.shapes([opened, *switch])
    reasons = explained.reasons([at, *switch])
    labels = [plain(each) for each in model.classes]
    return ExplanationPage(
        plain(title),
        labels[opened],
        shapes[0],
        reasons[0],
        {name: plain(value) if isinstance(value, str) else value for name, value in facts.items()},
        visible(guarantee),
        tabs,
        [ClassVotes(labels[k], shapes[k + 1], reasons[k + 1]) for k in switch],
    )


def plain(text: object) -> str:
    """Return a text that is short and has no control characters: names come from files."""
    return visible(shorten(str(text), 60))


@dataclass(frozen=True)
class ExplainedModel:
    """A model, the importance of its features, the boosters that it averages, and examples."""

    model: FittedModel
    importances: FloatArray
    members: Sequence[Member]
    examples: ExplainedRows | None

    def shapes(self, classes: Sequence[int]) -> list[list[FeatureShape]]:
        """Return what each feature that votes does, for each of these classes.

        Those of trees are means over examples.
        """
        boosters = Boosters.of(self.model, self.members)
        try:
            by_class = self.model.shape_functions()
        except AttributeError:
            return self._mean_shapes(classes, boosters)
        parts = []
        if boosters.shares.size > 1:
            parts = [each.shape_functions() for each in boosters.models(self.model)]
        found = []
        for label in classes:
            at = label if len(by_class) > 1 else 0
            turned = len(by_class) == 1 and label == 0
            shapes = by_class[at].items()
            found.append(
                [
                    self._shape(
                        j,
                        -shape if turned else shape,
                        boosters.spread(
                            np.array([_votes_at(shape, part[at].get(j)) for part in parts]),
                            _votes_at(shape, shape),
                        ),
                    )
                    for j, shape in shapes
                ]
            )
        return found

    def _name(self, feature: int) -> str:
        names = self.model.feature_names
        return f"x{feature}" if names is None else plain(names[feature])

    def _categories(self, feature: int) -> list[str] | None:
        encoder = self.model.encoder
        names = None if encoder is None else encoder.categories[feature]
        return None if names is None else [plain(each) for each in names]

    def _sample(self, feature: int) -> FloatArray | None:
        """Return the values of a feature in the examples; NaN is missing."""
        if self.examples is None:
            return None
        values = self.examples.values_of(feature)
        return values[~np.isinf(values)]

    def _are_dates(self, feature: int) -> bool:
        return self.examples is not None and feature in self.examples.dates

    def _shape(
        self, j: int, shape: ShapeFunction | CategoryVotes, spread: FloatArray | None
    ) -> FeatureShape:
        """Return what one feature of stumps does."""
        sample = self._sample(j)
        missing = shape.missing if sample is None or np.isnan(sample).any() else None
        ends = _ends(shape)
        return FeatureShape(
            self._name(j),
            ends,
            shape.values if isinstance(shape, CategoryVotes) else shape.values[: ends.size + 1],
            missing,
            self._categories(j),
            sample,
            float(self.importances[j]),
            spread=spread,
            are_dates=self._are_dates(j),
        )

    def _mean_shapes(self, classes: Sequence[int], boosters: Boosters) -> list[list[FeatureShape]]:
        """Return the mean vote of each feature of trees, by its value in the examples."""
        voting = np.flatnonzero(self.importances)
        drawn = voting[np.argsort(-self.importances[voting], kind="stable")][:MOST_FEATURES]
        credited: list[Credits] = []
        if self.examples is not None and self.examples.rows.shape[0]:
            examples = spread_rows(self.examples.rows.shape[0])
            rows = self.examples.rows[examples]
            credited = credit_votes(self.model, rows, classes, drawn, boosters)
        if not credited:
            only = [
                FeatureShape(self._name(j), (), (), importance=float(self.importances[j]))
                for j in voting.tolist()
            ]
            return [only] * len(classes)
        places = {j: k for k, j in enumerate(drawn.tolist())}
        return [
            [
                self._mean_shape(j, examples, credit.votes[:, :, places[j]], boosters)
                if j in places
                else FeatureShape(self._name(j), (), (), importance=float(self.importances[j]))
                for j in voting.tolist()
            ]
            for credit in credited
        ]

    def _mean_shape(
        self, j: int, examples: IntArray, votes: FloatArray, boosters: Boosters
    ) -> FeatureShape:
        """Return the mean of votes, a row of each booster, on these examples."""
        assert self.examples is not None
        x, categories = self.examples.values_of(j)[examples], self._categories(j)
        there, gone = np.isfinite(x), np.isnan(x)
        mean = MeanVotes(np.empty(0), np.zeros(1), None)
        if categories is not None:
            mean = mean_by_category(x[there], votes[:, there], len(categories), boosters)
        elif there.any():
            mean = mean_by_value(x[there], votes[:, there], boosters)
        return FeatureShape(
            self._name(j),
            mean.thresholds,
            mean.values,
            float(votes[:, gone].sum(axis=0).mean()) if gone.any() else None,
            categories,
            self._sample(j),
            float(self.importances[j]),
            is_mean=True,
            spread=mean.spread,
            are_dates=self._are_dates(j),
        )

    def reasons(self, classes: Sequence[int | None]) -> list[list[Reasons]]:
        """Return why the model decides as it does on the first examples, for each of these classes.

        None is the class that `FittedModel.explain` takes.
        """
        if self.examples is None:
            return [[] for _ in classes]
        model, (rows, values_of, most, _) = self.model, self.examples
        rows = rows[: min(most, rows.shape[0])]
        votes = model.votes(rows)
        p, predicted = model.probabilities(votes), model.winners(votes)
        own = predicted if len(model.classes) > 2 else np.ones_like(predicted)
        needed = np.unique([*own.tolist(), *(k for k in classes if k is not None)]).astype(int)
        features = np.flatnonzero(self.importances)
        credited = dict(
            zip(
                needed.tolist(),
                credit_votes(model, rows, needed.tolist(), features),
                strict=True,
            )
        )
        cells = [[self._cell(j, x) for x in values_of(j)[: len(own)]] for j in features.tolist()]
        names = [self._name(j) for j in features.tolist()]

        def explain(i: int, label: int) -> Reasons:
            best, credit = int(predicted[i]), credited[label]
            parts = zip(names, (of[i] for of in cells), credit.votes[0, i].tolist(), strict=True)
            return Reasons(
                f"example {i}",
                f"{plain(model.classes[best])}, {p[i, best]:.1%}",
                [part for part in parts if part[2]],
                credit.base,
                plain(model.classes[label]),
            )

        return [
            [explain(i, int(own[i]) if label is None else label) for i in range(len(own))]
            for label in classes
        ]

    def _cell(self, feature: int, value: float) -> str:
        """Return a value of an example as a reader knows it; codes become categories."""
        categories = self._categories(feature)
        if np.isnan(value):
            return "missing"
        if categories is None:
            return day_text(value) if self._are_dates(feature) else f"{value:.6g}"
        return categories[int(value)] if 0 <= value < len(categories) else "any other"


def _ends(shape: ShapeFunction | CategoryVotes) -> FloatArray:
    """Return where the steps of a shape end; of categories none."""
    if isinstance(shape, CategoryVotes):
        return np.empty(0)
    return shape.thresholds[np.isfinite(shape.thresholds)]  # what lies above infinity is missing


def _votes_at(shape: ShapeFunction | CategoryVotes, other: Any) -> FloatArray:
    """Return the votes of another shape of the feature on each step of this one."""
    if isinstance(shape, CategoryVotes):
        places: Any = shape.categories
    else:
        places = np.append(_ends(shape), np.finfo(float).max)
    return np.zeros(len(places)) if other is None else np.asarray(other(places))
