"""Categories as columns of numbers: the questions that stumps and trees ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from driftgames.boosting.data.frames import UNKNOWN, Categories, recode
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.model.additive import Explanation, ShapeFunction
from driftgames.core.display import PREVIEW, Displayed, Fields, Sketch
from driftgames.core.typing import Content, FloatArray, IntArray

RARE = 10
"""A category in which fewer examples of either class are expected has no rank."""


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
        title = f"x{self.feature}" if self.name is None else self.name
        return f"{title} votes from {self.values.min():+.4f} to {self.values.max():+.4f}"

    def _columns(self) -> Fields:
        cells = [*map(str, self.categories), "(any other)", "(missing)"]
        return {"category": cells, "vote": [*self.values.tolist(), self.unknown, self.missing]}

    def _sketch(self) -> Sketch:
        votes = zip(map(str, self.categories), self.values.tolist(), strict=True)
        return Sketch(bars=dict(list(votes)[:PREVIEW]))

    def __call__(self, x: Any) -> FloatArray:
        """Return the vote on each category; None is a missing value."""
        votes: dict[Any, float] = dict(zip(self.categories, self.values.tolist(), strict=True))
        votes[None] = self.missing
        return np.array(
            [votes.get(each, self.unknown) for each in np.array(x, dtype=object).ravel()]
        )


@dataclass(frozen=True)
class CategoryColumn:
    """One feature of categories.

    It becomes one column "is it c?" for each category ``c``, then "is it missing?" if the fit saw
    missing values, then one column for each entry of ``ranks``. That entry holds the rank of each
    category, from 1, or 0 for a category without a rank.
    """

    categories: Categories
    missing: bool
    ranks: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        n = len(self.categories)
        if len({isinstance(c, str) for c in self.categories}) > 1 or len(set(self.categories)) < n:
            raise ValueError("categories must be distinct, and all strings or all numbers")
        if not n + self.missing:
            raise ValueError("a column of categories must have a category or missing values")
        for ranks in self.ranks:
            given = sorted(rank for rank in ranks if rank)
            if len(ranks) != n or given != list(range(1, len(given) + 1)):
                raise ValueError(f"ranks must be 1, 2, ... or 0, one for each of {n} categories")

    @property
    def n_columns(self) -> int:
        """The number of columns that it becomes."""
        return len(self.categories) + self.missing + len(self.ranks)

    def encode(self) -> Content:
        """Return the feature as JSON."""
        ranks = [list(each) for each in self.ranks]
        return {"values": list(self.categories), "missing": self.missing, "ranks": ranks}

    @classmethod
    def decode(cls, content: Content) -> Self:
        """Return the feature that `encode` describes."""
        ranks = tuple(map(tuple, content["ranks"]))
        return cls(tuple(content["values"]), content["missing"], ranks)


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """How much mass each category has in each class; counts of parts add up.

    ``masses[j][k, c]`` is that of category ``k`` of feature ``j`` in class ``c``, ``missing[j]``
    tells whether the feature has missing values, and ``classes`` is the mass of each class.
    """

    masses: tuple[IntArray, ...]
    missing: tuple[bool, ...]
    classes: IntArray
    n_rows: int

    @classmethod
    def of(
        cls,
        codes: FloatArray,
        categories: tuple[Categories | None, ...],
        labels: IntArray,
        masses: IntArray,
        n_classes: int,
    ) -> Self:
        """Count examples: the codes of their categories, their classes and their weights."""
        each, missing = [], []
        for j, mine in enumerate(categories):
            table, lost = np.zeros((0, n_classes), dtype=np.int64), False
            if mine is not None:
                known = ~np.isnan(codes[:, j])
                cells = codes[known, j].astype(np.int64) * n_classes + labels[known]
                table = _add_up(cells, masses[known], len(mine) * n_classes).reshape(-1, n_classes)
                lost = not known.all()
            each.append(table)
            missing.append(lost)
        of_class = _add_up(labels, masses, n_classes)
        return cls(tuple(each), tuple(missing), of_class, labels.size)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            tuple(a + b for a, b in zip(self.masses, other.masses, strict=True)),
            tuple(a or b for a, b in zip(self.missing, other.missing, strict=True)),
            self.classes + other.classes,
            self.n_rows + other.n_rows,
        )


@dataclass(frozen=True)
class CategoryEncoder:
    r"""Columns of numbers for columns of categories.

    A feature of categories becomes the columns of its `CategoryColumn`, in the place of the
    feature; a feature of numbers stays one column. A stump on "is it c?" is a stump on the binary
    column of the published data sets. [LS14, Tab. 2]

    - An unknown category, one that the fit did not see, answers "no" to every question.
    - A missing value is a category of its own. If the fit saw none, it counts as unknown.
    - Trees also have the categories in the order of their mean label,
      :math:`\sum_{i: x_i = c, y_i = 1} w_i / \sum_{i: x_i = c} w_i` for sample weights :math:`w`,
      with ties in the order of the categories. For more than two classes there is one such order
      for each class. A category is rare if its weight, times the share of the rarer class, is
      below `RARE`: its mean label says too little. Rare categories, missing values and unknown
      categories have no rank: there they are the missing values of that column.

    Parameters
    ----------
    features : tuple
        A `CategoryColumn` for each feature of categories, None for each feature of numbers.
    """

    features: tuple[CategoryColumn | None, ...]

    @classmethod
    def learn(
        cls,
        codes: FloatArray,
        categories: tuple[Categories | None, ...],
        labels: IntArray,
        weights: SampleWeights,
        *,
        ranked: bool,
    ) -> tuple[Self, FloatArray]:
        """Return the encoder for these examples, and their codes.

        ``codes`` and ``categories`` are those of `frames.code_columns`, and ``labels`` number the
        classes. A category that no example holds gets no column; later codes then move up.
        Without ``ranked`` there are no ranks.
        """
        counts = CategoryCounts.of(codes, categories, labels, weights.of_each, labels.max() + 1)
        encoder = cls.of_counts(
            categories, counts, integer_weights=weights.integer_weights, ranked=ranked
        )
        return encoder, encoder.recode(codes, categories)

    @classmethod
    def of_counts(
        cls,
        categories: tuple[Categories | None, ...],
        counts: CategoryCounts,
        *,
        integer_weights: bool,
        ranked: bool,
    ) -> Self:
        """Return the encoder for examples that are known by their counts."""
        masses = counts.classes
        # rounded weights have no unit: then it is the mean weight of an example
        least = RARE * (1 if integer_weights else int(masses.sum()) / counts.n_rows)
        n_classes = int(np.flatnonzero(masses)[-1]) + 1
        features: list[CategoryColumn | None] = []
        for mine, by_class, missing in zip(categories, counts.masses, counts.missing, strict=True):
            if mine is None:
                features.append(None)
                continue
            held = np.flatnonzero(by_class.any(axis=1))
            ranks = _rank(by_class[held, :n_classes], least) if ranked else ()
            features.append(CategoryColumn(tuple(mine[k] for k in held), missing, ranks))
        return cls(tuple(features))

    @classmethod
    def union(cls, encoders: Sequence[Self]) -> Self | None:
        """Return an encoder with the columns of all of these, which have the same features.

        Ranks stand side by side, those of the first encoder first. None if there is no encoder.
        """
        if not encoders:
            return None
        features: list[CategoryColumn | None] = []
        for columns in zip(*(each.features for each in encoders), strict=True):
            known = [column for column in columns if column is not None]
            if not known:
                features.append(None)
                continue
            found = {category for column in known for category in column.categories}
            categories: Categories = tuple(sorted(found))
            ranks = []
            for column in known:
                for mine in column.ranks:
                    given = dict(zip(column.categories, mine, strict=True))
                    ranks.append(tuple(given.get(category, 0) for category in categories))
            missing = any(column.missing for column in known)
            features.append(CategoryColumn(categories, missing, tuple(ranks)))
        return cls(tuple(features))

    def columns_of(self, encoders: Sequence[Self], number: int) -> IntArray:
        """Return the columns of one of the encoders of which this is the `union`."""
        mine, columns = encoders[number], []
        for j, feature in enumerate(mine.features):
            start, wider = int(self.starts[j]), self.features[j]
            if feature is None or wider is None:
                columns.append(start)
                continue
            place = {category: k for k, category in enumerate(wider.categories)}
            columns += [start + place[category] for category in feature.categories]
            if feature.missing:
                columns.append(start + len(place))
            before = 0
            for other in encoders[:number]:
                column = other.features[j]
                before += 0 if column is None else len(column.ranks)
            first = start + len(place) + wider.missing + before
            columns += range(first, first + len(feature.ranks))
        return np.array(columns, dtype=np.int64)

    def recode(self, codes: FloatArray, categories: tuple[Categories | None, ...]) -> FloatArray:
        """Return codes among these ``categories`` as codes of the encoder."""
        return recode(codes, categories, self.categories)

    @cached_property
    def feature(self) -> IntArray:
        """The feature that each column belongs to."""
        return np.repeat(np.arange(len(self.features)), np.diff(self.starts))

    @cached_property
    def starts(self) -> IntArray:
        """The first column of each feature, and the end."""
        widths = [1 if each is None else each.n_columns for each in self.features]
        return np.append(0, np.cumsum(widths))

    @property
    def n_columns(self) -> int:
        """The number of columns in all."""
        return int(self.starts[-1])

    @property
    def categories(self) -> tuple[Categories | None, ...]:
        """The categories of each feature."""
        return tuple(None if each is None else each.categories for each in self.features)

    def expand(self, codes: FloatArray) -> Any:
        """Return the columns for the codes of `frames.code_columns`.

        They are an array or a CSR matrix, whichever takes less memory.
        """
        n_rows = codes.shape[0]
        n_stored = sum(1 if each is None else 1 + len(each.ranks) for each in self.features)
        columns = np.empty((n_rows, n_stored), dtype=np.int32)
        values = np.empty((n_rows, n_stored))
        entries = iter(range(n_stored))  # of a row
        for j, feature in enumerate(self.features):
            start, code, e = int(self.starts[j]), codes[:, j], next(entries)
            if feature is None:
                columns[:, e], values[:, e] = start, code
                continue
            n = len(feature.categories)
            k = np.where(np.isnan(code), n if feature.missing else UNKNOWN, code).astype(np.int64)
            columns[:, e], values[:, e] = np.where(k >= 0, start + k, -1), 1.0
            for column, ranks in enumerate(feature.ranks, start=start + n + feature.missing):
                by_code = np.array([*ranks, 0, 0], dtype=np.float64)  # missing, unknown
                by_code[by_code == 0] = np.nan
                e = next(entries)
                columns[:, e], values[:, e] = column, by_code[k]
        stored = columns >= 0  # an unknown category stores nothing: every answer is "no"
        pointers = np.append(0, np.cumsum(np.count_nonzero(stored, axis=1)))
        shape = (n_rows, self.n_columns)
        rows = csr_matrix((values[stored], columns[stored], pointers), shape=shape)
        # an entry takes 12 bytes in a CSR matrix and 8 in an array
        return rows if 12 * n_stored < 8 * self.n_columns else rows.toarray()

    def explain(self, explanation: Explanation) -> Explanation:
        """Return the votes of the features from those of their columns."""
        features, at = np.unique(self.feature[explanation.features], return_inverse=True)
        votes = np.zeros(features.size, dtype=explanation.votes.dtype)
        np.add.at(votes, at, explanation.votes)
        return replace(explanation, features=features, votes=votes)

    def shape_functions(
        self, columns: dict[int, ShapeFunction]
    ) -> dict[int, ShapeFunction | CategoryVotes]:
        """Return the votes of the features as functions, from the step functions of columns."""
        shapes: dict[int, ShapeFunction | CategoryVotes] = {}
        votes: dict[int, FloatArray] = {}
        for column, shape in columns.items():
            j = int(self.feature[column])
            feature = self.features[j]
            if feature is None:
                shapes[j] = replace(shape, feature=j)
                continue
            # categories, then a missing value, then an unknown category
            mine = votes.setdefault(j, np.zeros(len(feature.categories) + 2))
            no, yes = shape([0.0, 1.0])
            mine += no
            mine[column - self.starts[j]] += yes - no
            *known, missing, unknown = mine.tolist()
            shapes[j] = CategoryVotes(j, feature.categories, np.array(known), missing, unknown)
        return shapes

    def encode(self) -> list[Content | None]:
        """Return the features as JSON."""
        return [None if each is None else each.encode() for each in self.features]

    @classmethod
    def decode(cls, content: list[Content | None]) -> Self:
        """Return the encoder that `encode` describes."""
        return cls(tuple(None if each is None else CategoryColumn.decode(each) for each in content))


def _add_up(cells: IntArray, masses: IntArray, n_cells: int) -> IntArray:
    """Return the mass in each cell; it is exact, because no sum reaches 2**53."""
    sums = np.bincount(cells, weights=masses, minlength=n_cells)
    return sums[:n_cells].astype(np.int64)


def _rank(masses: IntArray, least: float) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of the categories, for each class if there are more than two.

    ``masses[k, c]`` is the mass of category ``k`` in class ``c``. A category is common if its mass,
    times the share of the class or of all others, is at least ``least``. Two common categories have
    no order that their own columns do not have.
    """
    mass = masses.sum(axis=1).astype(np.float64)  # exact: no sum reaches 2**53
    columns = []
    for c in range(masses.shape[1]) if masses.shape[1] > 2 else (1,):
        of_class = masses[:, c].astype(np.float64)
        rarer = min(of_class.sum(), (mass - of_class).sum()) / (mass.sum() or 1.0)
        common = np.flatnonzero(mass * rarer >= least)
        order = common[np.argsort((of_class / mass)[common], kind="stable")]
        ranks = np.zeros(mass.size, dtype=np.int64)
        ranks[order] = np.arange(1, order.size + 1)
        if order.size > 2:
            columns.append(tuple(ranks.tolist()))
    return tuple(columns)
