"""Votes by feature: as functions of its values, and of one example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.frames import Categories
from driftgames.core.checks import check_flag
from driftgames.core.display import PREVIEW, Displayed, Fields, Sketch
from driftgames.core.text import shown
from driftgames.core.typing import Figure, FloatArray, IntArray
from driftgames.tables import counted

T = TypeVar("T")


class ByFeature(dict[int, T]):
    """One value for each feature that votes, by its position; after a fit on a frame by name too.

    Examples
    --------
    >>> votes = ByFeature({1: 0.25}, ["age", "income"])
    >>> votes[1] == votes["income"], "age" in votes, votes.get("age")
    (True, False, None)
    >>> votes.named()
    {'income': 0.25}
    """

    def __init__(self, values: Mapping[int, T], names: Sequence[str] | Array | None) -> None:
        super().__init__(values)
        self._names = None if names is None else [str(name) for name in names]

    def __missing__(self, key: object) -> T:
        if isinstance(key, str) and key in (self._names or ()):
            return self[(self._names or []).index(key)]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a feature, or ``default`` if the feature does not vote."""
        try:
            return self[key]
        except KeyError:
            return default

    def named(self) -> dict[str, T]:
        """Return the values by the names of their features; without names they are x0, x1, ..."""
        return {f"x{j}" if self._names is None else self._names[j]: v for j, v in self.items()}


def headline_of_shape(feature: int, name: str | None, values: FloatArray) -> str:
    """Return what a shape is, on one line."""
    title = f"x{feature}" if name is None else name
    return f"{title} votes from {values.min():+.4f} to {values.max():+.4f}"


@dataclass(frozen=True)
class ShapeFunction(Displayed):
    """The vote of one feature, as a step function of its value.

    ``values[k]`` is the vote for ``thresholds[k - 1] < x <= thresholds[k]``, and ``missing`` the
    vote if the value is missing. Votes are normalised: their sum over all features lies in
    [-1, 1].
    """

    feature: int
    thresholds: FloatArray
    values: FloatArray
    missing: float
    name: str | None = None

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return the vote at each ``x``; NaN is a missing value."""
        return np.asarray(look_up(self.thresholds, self.values, self.missing, x))

    def __neg__(self) -> ShapeFunction:
        return replace(self, values=-self.values, missing=-self.missing)

    def _headline(self) -> str:
        return headline_of_shape(self.feature, self.name, self.values)

    def _columns(self) -> Fields:
        ends = [-np.inf, *self.thresholds.tolist(), np.inf]
        last = (np.nan, np.nan, self.missing)
        rows = [*zip(ends, ends[1:], self.values.tolist(), strict=False), last]
        return dict(zip(("above", "up_to", "vote"), zip(*rows, strict=True), strict=True))

    def _sketch(self) -> Sketch | None:
        kept = np.flatnonzero(np.isfinite(self.thresholds))
        if kept.size < 2:
            return Sketch(bars={"lowest": float(self.values.min()), "highest": self.values.max()})
        votes = np.repeat(self.values[: kept.size + 1], 2)[1:-1]  # a step at each threshold
        return Sketch(np.repeat(self.thresholds[kept], 2), {"vote": votes}, label="value")


@dataclass(frozen=True)
class CategoryVotes(Displayed):
    """The vote of one feature, by category: what a `ShapeFunction` is for numbers.

    ``values[k]`` is the vote for ``categories[k]``, ``missing`` the vote if the value is missing,
    and ``unknown`` the vote for a category that the fit did not see.
    """

    feature: int
    categories: Categories
    values: FloatArray
    missing: float
    unknown: float
    name: str | None = None

    @property
    def thresholds(self) -> FloatArray:
        """Where steps at 0, 1, 2, ... end, one for each category: for drawings."""
        return np.arange(0.5, len(self.categories) - 1)

    def __neg__(self) -> CategoryVotes:
        return replace(self, values=-self.values, missing=-self.missing, unknown=-self.unknown)

    def _headline(self) -> str:
        return headline_of_shape(self.feature, self.name, self.values)

    def _columns(self) -> Fields:
        cells = [*map(str, self.categories), "(any other)", "(missing)"]
        return {"category": cells, "vote": [*self.values.tolist(), self.unknown, self.missing]}

    def _sketch(self) -> Sketch:
        votes = zip(map(str, self.categories), self.values.tolist(), strict=True)
        return Sketch(bars=dict(list(votes)[:PREVIEW]))

    def __call__(self, x: npt.ArrayLike) -> FloatArray:
        """Return the vote on each category; None is a missing value."""
        votes: dict[Any, float] = dict(zip(self.categories, self.values.tolist(), strict=True))
        votes[None] = self.missing
        return np.array(
            [votes.get(each, self.unknown) for each in np.array(x, dtype=object).ravel()]
        )


@dataclass(frozen=True)
class Explanation(Displayed):
    """The vote of each feature on one example.

    The votes and ``base`` add up to the score exactly, in any order. ``total`` is the sum of all
    vote weights, and the score over it is the decision, bit for bit. ``base`` is the part of the
    score that no feature decides; it is 0 for stumps.
    """

    features: IntArray
    votes: npt.NDArray[Any]
    total: float
    base: float = 0.0
    names: Sequence[str] | Array | None = None
    """The names of all features of the model, after a fit on a data frame."""
    label: object = None
    """The class that the votes are for; None where the model that votes has no names of classes."""

    @property
    def decision(self) -> float:
        """The normalised vote in [-1, 1], as the decision function gives it."""
        return (float(self.votes.sum()) + self.base) / (self.total or 1.0)

    @property
    def contributions(self) -> FloatArray:
        """The votes over ``total``: each feature's part of the decision."""
        return self.votes / (self.total or 1.0)

    @property
    def by_feature(self) -> ByFeature[float]:
        """The contributions, by the position of the feature or by its name."""
        parts = zip(self.features.tolist(), self.contributions.tolist(), strict=True)
        return ByFeature(dict(parts), self.names)

    def strongest(self, n_features: int = 10) -> list[tuple[Any, float]]:
        """Return the features that moved this decision most, with their contributions.

        They are names after a fit on a data frame, else positions.
        """
        order = np.argsort(-np.abs(self.votes), kind="stable")[:n_features]
        strongest = [int(self.features[f]) for f in order]
        labels: list[Any] = strongest
        if self.names is not None:
            labels = [str(self.names[j]) for j in strongest]
        return list(zip(labels, self.contributions[order].tolist(), strict=True))

    def _headline(self) -> str:
        whose = "" if self.label is None else f" for {shown(self.label)}"
        return f"vote {self.decision:+.4f}{whose}, by {counted(self.features.size, 'feature')}"

    def _facts(self) -> Fields:
        return {"vote": self.decision, "base": self.base / (self.total or 1.0)}

    def _columns(self) -> Fields:
        parts = self.strongest(self.features.size)
        return {"feature": [name for name, _ in parts], "vote": [vote for _, vote in parts]}

    def _preview(self) -> Fields:
        return {name: values[:PREVIEW] for name, values in self._columns().items()}

    def _sketch(self) -> Sketch:
        return Sketch(bars={str(name): vote for name, vote in self.strongest()})


def draw_shapes(
    shapes: Iterable[Any],
    names: npt.ArrayLike | None,
    *,
    n_features: int,
    show_missing: bool,
    values_of: Callable[[int], FloatArray] | None = None,
    label: str = "vote",
) -> Figure:
    """Draw functions of features, as `AdditiveModel.plot` does.

    The ``shapes`` are like `ShapeFunction`; they may have ``categories``. ``values_of`` gives the
    data of a feature, whose range and density are drawn.
    """
    from driftgames.plots.shapes import plot_shapes
    from driftgames.plots.style import check_titles

    shapes = list(shapes)
    check_flag("show_missing", show_missing)
    labels = None if names is None else check_titles(names)
    most = max((shape.feature for shape in shapes), default=-1)
    if labels is not None and len(labels) <= most:
        raise ValueError(f"names must be one for each feature; got {len(labels)}, x{most} has none")
    return plot_shapes(
        [shape.thresholds for shape in shapes],
        [shape.values for shape in shapes],
        [f"x{s.feature}" if labels is None else labels[s.feature] for s in shapes],
        missing=[shape.missing for shape in shapes] if show_missing else None,
        categories=[getattr(shape, "categories", None) for shape in shapes],
        sample_of=None if values_of is None else lambda at: values_of(shapes[at].feature),
        n_shapes=n_features,
        label=label,
    )


def look_up(
    thresholds: FloatArray, values: FloatArray, missing: float, x: npt.ArrayLike
) -> FloatArray:
    """Return the values of a step function at each ``x``; NaN is a missing value."""
    at = np.asarray(x, dtype=np.float64)
    absent = np.isnan(at)
    known = values[np.searchsorted(thresholds, np.where(absent, 0.0, at), side="left")]
    return np.where(absent, missing, known)
