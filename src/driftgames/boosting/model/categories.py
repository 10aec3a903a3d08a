"""Categories as columns of numbers: the questions that stumps and trees ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.sparse import csr_matrix

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.data.frames import UNKNOWN, Categories, Levels, is_identifier, recode
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.model.explanation import CategoryVotes, ShapeFunction
from driftgames.core.caching import cached_property
from driftgames.core.typing import Content, FloatArray, IntArray


@dataclass(frozen=True)
class CategoryEncoder:
    r"""Columns of numbers for columns of categories.

    A feature of categories becomes the columns of its `CategoryColumn`, in the place of the
    feature; a feature of numbers stays one column. A stump on "is it c?" is a stump on the binary
    column of the published data sets. [LS14, Tab. 2]

    - Categories of an ordered type are levels: one column of their codes, as of numbers. An unknown
      level is a missing value there.
    - An unknown category, one that the fit did not see, answers "no" to every question.
    - A missing value is a category of its own. If the fit saw none, it counts as unknown.
    - Trees also have the categories in the order of their mean label,
      :math:`\sum_{i: x_i = c, y_i = 1} w_i / \sum_{i: x_i = c} w_i` for sample weights :math:`w`,
      with ties in the order of the categories. For more than two classes there is one such order
      for each class. A category is rare if its weight, times the share of the rarer class, is
      below `RARE`: its mean label says too little. Rare categories, missing values
      and unknown categories have no rank: there they are the missing values of that column.

    Parameters
    ----------
    features : tuple
        A `CategoryColumn` for each feature of categories, None for each feature of numbers.
    """

    features: tuple[CategoryColumn | None, ...]

    @property
    def categorical(self) -> list[bool]:
        """Which features hold categories."""
        return [feature is not None for feature in self.features]

    @classmethod
    def learn(
        cls,
        codes: FloatArray,
        categories: tuple[Categories | None, ...],
        labels: IntArray,
        weights: SampleWeights,
        *,
        ranked: bool,
        gaps: IntArray | None = None,
    ) -> Self:
        """Return the encoder for these examples.

        ``codes`` and ``categories`` are those of `frames.code_columns`, and ``labels`` number the
        classes. A category that no example holds gets no column; later codes then move up.
        Without ``ranked`` there are no ranks. With ``gaps`` labels are positions among thresholds.
        """
        masses = weights.of_each
        if gaps is None:
            counts = CategoryCounts.of(codes, categories, labels, masses, labels.max() + 1)
        else:
            counts = CategoryCounts.of_numbers(codes, categories, labels, masses, gaps)
        return cls.of_counts(
            categories, counts, integer_weights=weights.integer_weights, ranked=ranked
        )

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
        columns = counts.columns(categories, integer_weights=integer_weights, ranked=ranked)
        return cls(columns)

    @classmethod
    def union(cls, encoders: Sequence[Self]) -> Self:
        """Return an encoder with the columns of all of these, which have the same features.

        Ranks stand side by side, those of the first encoder first.
        """
        features: list[CategoryColumn | None] = []
        for columns in zip(*(each.features for each in encoders), strict=True):
            known = [column for column in columns if column is not None]
            if not known:
                features.append(None)
                continue
            if known[0].ordered:  # the same levels for all
                features.append(known[0])
                continue
            union = {category for column in known for category in column.categories}
            categories: Categories = tuple(sorted(union))
            ranks = []
            for column in known:
                for own in column.ranks:
                    rank_of = dict(zip(column.categories, own, strict=True))
                    ranks.append(tuple(rank_of.get(category, 0) for category in categories))
            missing = any(column.missing for column in known)
            features.append(CategoryColumn(categories, missing, tuple(ranks)))
        return cls(tuple(features))

    def columns_of(self, encoders: Sequence[Self], number: int) -> IntArray:
        """Return the columns of one of the encoders of which this is the `union`."""
        columns: list[int] = []
        for j, feature in enumerate(encoders[number].features):
            start, wider = int(self.starts[j]), self.features[j]
            if feature is None or wider is None or feature.ordered:
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

    def expand(self, codes: FloatArray) -> Matrix:
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
            if feature.ordered:
                columns[:, e], values[:, e] = start, np.where(code == UNKNOWN, np.nan, code)
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
            if feature.ordered:
                levels = shape(np.arange(len(feature.categories)))
                missing = shape.missing
                shapes[j] = CategoryVotes(j, feature.categories, levels, missing, unknown=missing)
                continue
            # categories, then a missing value, then an unknown category
            own = votes.setdefault(j, np.zeros(len(feature.categories) + 2))
            no, yes = shape([0.0, 1.0])
            own += no
            own[column - self.starts[j]] += yes - no
            *known, missing, unknown = own.tolist()
            shapes[j] = CategoryVotes(j, feature.categories, np.array(known), missing, unknown)
        return shapes

    def encode(self) -> list[Content | None]:
        """Return the features as JSON."""
        return [None if each is None else each.encode() for each in self.features]

    @classmethod
    def decode(cls, content: list[Content | None]) -> Self:
        """Return the encoder that `encode` describes."""
        return cls(tuple(None if each is None else CategoryColumn.decode(each) for each in content))


RARE = 10
"""A category in which fewer examples of either class are expected has no rank.

Where the categories are likely names of the rows, one of fewer examples has no column either.
"""


RARE_NUMBERS = 5
"""A category of fewer examples has no rank where the outcome is a number."""


@dataclass(frozen=True)
class CategoryColumn:
    """One feature of categories.

    It becomes one column "is it c?" for each category ``c``, then "is it missing?" if the fit saw
    missing values, then one column for each entry of ``ranks``. That entry holds the rank of each
    category, from 1, or 0 for a category without a rank. Categories that are `Levels` become one
    column of their codes.
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
        if self.ordered and (self.missing or self.ranks):
            raise ValueError("ordered categories must have no ranks, and no column if missing")
        for ranks in self.ranks:
            used = sorted(rank for rank in ranks if rank)
            if len(ranks) != n or used != list(range(1, len(used) + 1)):
                raise ValueError(f"ranks must be 1, 2, ... or 0, one for each of {n} categories")

    @property
    def ordered(self) -> bool:
        """Whether the categories are levels, whose codes are numbers."""
        return isinstance(self.categories, Levels)

    @property
    def n_columns(self) -> int:
        """The number of columns that it becomes."""
        return 1 if self.ordered else len(self.categories) + self.missing + len(self.ranks)

    def encode(self) -> Content:
        """Return the feature as JSON."""
        ranks = [list(each) for each in self.ranks]
        content = {"values": list(self.categories), "missing": self.missing, "ranks": ranks}
        return content | ({"ordered": True} if self.ordered else {})

    @classmethod
    def decode(cls, content: Content) -> Self:
        """Return the feature that `encode` describes."""
        ranks = tuple(map(tuple, content["ranks"]))
        kind = Levels if content.get("ordered") else tuple
        return cls(kind(content["values"]), content["missing"], ranks)


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
    of_thresholds: bool = False
    """Whether each example is partly of class 0 and partly of class 1."""

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
        for j, known_ones in enumerate(categories):
            table, has_missing = np.zeros((0, n_classes), dtype=np.int64), False
            if known_ones is not None:
                known = ~np.isnan(codes[:, j])
                cells = codes[known, j].astype(np.int64) * n_classes + labels[known]
                table = _add_up(cells, masses[known], len(known_ones) * n_classes).reshape(
                    -1, n_classes
                )
                has_missing = not known.all()
            each.append(table)
            missing.append(has_missing)
        of_class = _add_up(labels, masses, n_classes)
        return cls(tuple(each), tuple(missing), of_class, labels.size)

    @classmethod
    def of_numbers(
        cls,
        codes: FloatArray,
        categories: tuple[Categories | None, ...],
        positions: IntArray,
        masses: IntArray,
        gaps: IntArray,
    ) -> Self:
        """Count examples whose outcomes are at ``positions`` among thresholds with these gaps.

        An example is of class 1 by the height of its outcome. So the mean label of a category tells
        its mean outcome, within the thresholds.
        """
        heights = np.append(0, np.cumsum(gaps))[positions]
        low = cls.of(codes, categories, 0 * positions, masses * (gaps.sum() - heights), 2)
        high = cls.of(codes, categories, 0 * positions + 1, masses * heights, 2)
        return replace(low + high, n_rows=positions.size, of_thresholds=True)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            tuple(a + b for a, b in zip(self.masses, other.masses, strict=True)),
            tuple(a or b for a, b in zip(self.missing, other.missing, strict=True)),
            self.classes + other.classes,
            self.n_rows + other.n_rows,
        )

    def columns(
        self, categories: tuple[Categories | None, ...], *, integer_weights: bool, ranked: bool
    ) -> tuple[CategoryColumn | None, ...]:
        """Return the columns of features; a category without mass has none."""
        # rounded weights have no unit: then it is the mean weight of an example
        has_unit = integer_weights and not self.of_thresholds
        unit = 1 if has_unit else int(self.classes.sum()) / self.n_rows
        least = unit * (RARE_NUMBERS if self.of_thresholds else RARE)
        n_classes = int(np.flatnonzero(self.classes)[-1]) + 1
        features: list[CategoryColumn | None] = []
        for names, by_class, missing in zip(categories, self.masses, self.missing, strict=True):
            if names is None:
                features.append(None)
                continue
            if isinstance(names, Levels):
                features.append(CategoryColumn(names, missing=False))
                continue
            seen = _asked_for(by_class.sum(axis=1), unit, least)
            counted = by_class[seen, :n_classes]
            ranks = _rank(counted, least, by_mass=self.of_thresholds) if ranked else ()
            features.append(CategoryColumn(tuple(names[k] for k in seen), missing, ranks))
        return tuple(features)


def _add_up(cells: IntArray, masses: IntArray, n_cells: int) -> IntArray:
    """Return the mass in each cell; it is exact, because no sum reaches 2**53."""
    sums = np.bincount(cells, weights=masses, minlength=n_cells)
    return sums[:n_cells].astype(np.int64)


def _asked_for(masses: IntArray, unit: float, least: float) -> IntArray:
    """Return the categories that have a column.

    Of names of the rows these are the common ones, or the first of the most common ones: the others
    separate too few examples to be worth a question in every round.
    """
    seen = np.flatnonzero(masses)
    own = masses[seen]
    if not is_identifier(seen.size, float(own.sum()) / unit):
        return seen
    common = seen[own >= least]
    return common if common.size else seen[[own.argmax()]]


def _rank(masses: IntArray, least: float, *, by_mass: bool) -> tuple[tuple[int, ...], ...]:
    """Return the ranks of the categories, for each class if there are more than two.

    ``masses[k, c]`` is the mass of category ``k`` in class ``c``. A category is common if its mass,
    times the share of the class or of all others, is at least ``least``; ``by_mass`` its mass alone
    must be. Two common categories have no order that their own columns do not have.
    """
    mass = masses.sum(axis=1).astype(np.float64)  # exact: no sum reaches 2**53
    columns = []
    for c in range(masses.shape[1]) if masses.shape[1] > 2 else (1,):
        of_class = masses[:, c].astype(np.float64)
        rarer = min(of_class.sum(), (mass - of_class).sum()) / (mass.sum() or 1.0)
        common = np.flatnonzero(mass * (1.0 if by_mass else rarer) >= least)
        order = common[np.argsort((of_class / mass)[common], kind="stable")]
        ranks = np.zeros(mass.size, dtype=np.int64)
        ranks[order] = np.arange(1, order.size + 1)
        if order.size > 2:
            columns.append(tuple(ranks.tolist()))
    return tuple(columns)
