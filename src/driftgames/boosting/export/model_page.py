"""A fitted model as a page to click through: features, reasons, guarantee and scorecard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.export.scorecard import render_scorecard
from driftgames.boosting.model.explanation import CategoryVotes, ShapeFunction
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.text import shorten, visible
from driftgames.core.typing import FloatArray, IntArray
from driftgames.plots.explanation_page import ExplanationPage, FeatureShape, Reasons

ValuesOf = Callable[[int], FloatArray]
"""The values of a feature in the examples; categories are codes."""


def make_page(
    model: FittedModel,
    importances: FloatArray,
    title: str,
    at: int | None,
    facts: Mapping[str, object],
    guarantee: str,
    examples: tuple[Matrix, ValuesOf, int] | None = None,
) -> ExplanationPage:
    """Return the page of a model, seen from the class of number ``at``.

    Default: the last class; the reasons are then those of `FittedModel.explain`. ``examples`` are
    encoded rows, the values of their features, and how many are explained.
    """
    try:
        tabs = {"Scorecard": render_scorecard(model)}
    except AttributeError:  # the questions of trees vote together
        tabs = {}
    seen_from = len(model.classes) - 1 if at is None else at
    return ExplanationPage(
        plain(title),
        plain(model.classes[seen_from]),
        _shapes(model, importances, seen_from, examples),
        [] if examples is None else _reasons(model, at, *examples),
        {name: plain(value) if isinstance(value, str) else value for name, value in facts.items()},
        visible(guarantee),
        tabs,
    )


def plain(text: object) -> str:
    """Return a text that is short and has no control characters: names come from files."""
    return visible(shorten(str(text), 60))


def _name(model: FittedModel, feature: int) -> str:
    names = model.feature_names
    return f"x{feature}" if names is None else plain(names[feature])


def _shapes(
    model: FittedModel,
    importances: FloatArray,
    at: int,
    examples: tuple[Matrix, ValuesOf, int] | None,
) -> list[FeatureShape]:
    """Return what each feature that votes does; those of trees have a mean over examples."""
    values_of = None if examples is None else examples[1]
    try:
        by_class = model.shape_functions()
    except AttributeError:
        if examples is not None and examples[0].shape[0]:
            return _mean_shapes(model, importances, at, examples[0], examples[1])
        return [
            FeatureShape(_name(model, j), (), (), importance=float(importances[j]))
            for j in np.flatnonzero(importances).tolist()
        ]
    shapes = by_class[at] if len(by_class) > 1 else by_class[0]
    turned = len(by_class) == 1 and at == 0
    return [
        _shape(
            -shape if turned else shape,
            _name(model, j),
            None if values_of is None else values_of(j),
            float(importances[j]),
        )
        for j, shape in shapes.items()
    ]


def _shape(
    shape: ShapeFunction | CategoryVotes, name: str, sample: FloatArray | None, importance: float
) -> FeatureShape:
    """Return what one feature does; ``sample`` are its values in the examples."""
    missing = shape.missing if sample is None or np.isnan(sample).any() else None
    sample = None if sample is None else sample[np.isfinite(sample)]
    ends, values, categories = shape.thresholds, shape.values, None
    if isinstance(shape, CategoryVotes):
        ends, categories = np.empty(0), [plain(each) for each in shape.categories]
    else:
        ends = ends[np.isfinite(ends)]  # what lies above infinity is missing
        values = values[: ends.size + 1]
    return FeatureShape(name, ends, values, missing, categories, sample, importance)


def _mean_shapes(
    model: FittedModel, importances: FloatArray, at: int, rows: Matrix, values_of: ValuesOf
) -> list[FeatureShape]:
    """Return the mean vote of each feature of trees, by its value in the examples."""
    credited = credit_votes(model, rows, at, importances.size)
    made = []
    for j in np.flatnonzero(importances).tolist():
        sample, votes = values_of(j), credited.votes[:, j]
        x = sample[credited.examples]
        there = np.isfinite(x)
        names = None if model.encoder is None else model.encoder.categories[j]
        ends, values = np.empty(0), np.zeros(1)
        if names is not None:
            values = mean_by_category(x[there], votes[there], len(names))
        elif there.any():
            ends, values = mean_by_value(x[there], votes[there])
        gone = np.isnan(x)
        made.append(
            FeatureShape(
                _name(model, j),
                ends,
                values,
                float(votes[gone].mean()) if gone.any() else None,
                None if names is None else [plain(each) for each in names],
                sample[np.isfinite(sample)],
                float(importances[j]),
                is_mean=True,
            )
        )
    return made


def _reasons(
    model: FittedModel, at: int | None, rows: Matrix, values_of: ValuesOf, n_examples: int
) -> list[Reasons]:
    """Return why the model decides as it does on the first examples."""
    n_shown = min(n_examples, rows.shape[0])
    if not n_shown:
        return []
    votes = model.votes(rows[:n_shown])
    p, predicted = model.probabilities(votes), model.winners(votes)
    reasons = []
    for i in range(n_shown):
        explanation = model.explain(rows[i : i + 1], at)
        parts = zip(explanation.features.tolist(), explanation.contributions.tolist(), strict=True)
        best = int(predicted[i])
        reasons.append(
            Reasons(
                f"example {i}",
                f"{plain(model.classes[best])}, {p[i, best]:.1%}",
                [(_name(model, j), _cell(model, j, values_of(j)[i]), v) for j, v in parts if v],
                explanation.base / (explanation.total or 1.0),
                plain(explanation.label),
            )
        )
    return reasons


def _cell(model: FittedModel, feature: int, value: float) -> object:
    """Return a value of an example as a reader knows it; codes become categories."""
    categories = None if model.encoder is None else model.encoder.categories[feature]
    if np.isnan(value):
        return "missing"
    if categories is None:
        return f"{value:.6g}"
    return plain(categories[int(value)]) if 0 <= value < len(categories) else "any other"


MOST_EXPLAINED = 200
"""How many examples are explained for it: they are spread evenly over the rows."""

_PIECES = 12
_LEAST = 8  # examples in a piece, about


class CreditedVotes(NamedTuple):
    """Examples, and the vote that each feature has on each of them."""

    examples: IntArray
    votes: FloatArray


class MeanVotes(NamedTuple):
    """A step function: ``values[k]`` up to ``thresholds[k]``, the last one beyond all of them."""

    thresholds: FloatArray
    values: FloatArray


def credit_votes(model: FittedModel, rows: Matrix, label: int, n_features: int) -> CreditedVotes:
    """Return the votes for a class on up to `MOST_EXPLAINED` of the encoded rows."""
    n_rows = rows.shape[0]
    spread = np.linspace(0, n_rows - 1, min(n_rows, MOST_EXPLAINED)).round().astype(np.int64)
    examples = np.unique(spread) if n_rows else spread[:0]
    votes = np.zeros((examples.size, n_features))
    for at, i in enumerate(examples.tolist()):
        explanation = model.explain(rows[i : i + 1], label)
        votes[at, explanation.features] = explanation.contributions
    return CreditedVotes(examples, votes)


def mean_by_value(x: FloatArray, votes: FloatArray) -> MeanVotes:
    """Return the mean vote over pieces of the line with about as many examples each.

    >>> mean_by_value(np.arange(16.0), np.repeat([0.5, -0.5], 8))
    MeanVotes(thresholds=array([7.]), values=array([ 0.5, -0.5]))
    """
    n_pieces = max(1, min(_PIECES, x.size // _LEAST))
    shares = np.arange(1, n_pieces) / n_pieces
    cuts = np.unique(np.quantile(x, shares, method="inverted_cdf"))
    cuts = cuts[cuts < x.max()]
    piece = np.searchsorted(cuts, x)  # a value is in the piece that ends with it
    return MeanVotes(cuts, np.bincount(piece, weights=votes) / np.bincount(piece))


def mean_by_category(codes: FloatArray, votes: FloatArray, n_categories: int) -> FloatArray:
    """Return the mean vote of each category; 0 for one that no example has.

    >>> mean_by_category(np.array([0.0, 2.0, 2.0]), np.array([1.0, 3.0, 5.0]), 3)
    array([1., 0., 4.])
    """
    known = (codes >= 0) & (codes < n_categories)
    at = codes[known].astype(np.int64)
    counts = np.bincount(at, minlength=n_categories)
    return np.bincount(at, weights=votes[known], minlength=n_categories) / np.maximum(counts, 1)
