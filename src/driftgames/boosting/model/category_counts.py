"""Columns of categories, and the counts that rank them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from driftgames.boosting.data.frames import Categories, Levels, is_identifier
from driftgames.core.typing import Content, FloatArray, IntArray

RARE = 10
"""A category in which fewer examples of either class are expected has no rank.

Where the categories are likely names of the rows, one of fewer examples has no column either.
"""


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
            table, lost = np.zeros((0, n_classes), dtype=np.int64), False
            if known_ones is not None:
                known = ~np.isnan(codes[:, j])
                cells = codes[known, j].astype(np.int64) * n_classes + labels[known]
                table = _add_up(cells, masses[known], len(known_ones) * n_classes).reshape(
                    -1, n_classes
                )
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

    def columns(
        self, categories: tuple[Categories | None, ...], *, integer_weights: bool, ranked: bool
    ) -> tuple[CategoryColumn | None, ...]:
        """Return the columns of features; a category without mass has none."""
        # rounded weights have no unit: then it is the mean weight of an example
        least = RARE * (1 if integer_weights else int(self.classes.sum()) / self.n_rows)
        n_classes = int(np.flatnonzero(self.classes)[-1]) + 1
        features: list[CategoryColumn | None] = []
        for names, by_class, missing in zip(categories, self.masses, self.missing, strict=True):
            if names is None:
                features.append(None)
                continue
            if isinstance(names, Levels):
                features.append(CategoryColumn(names, missing=False))
                continue
            seen = _asked_for(by_class.sum(axis=1), least)
            ranks = _rank(by_class[seen, :n_classes], least) if ranked else ()
            features.append(CategoryColumn(tuple(names[k] for k in seen), missing, ranks))
        return tuple(features)


def _add_up(cells: IntArray, masses: IntArray, n_cells: int) -> IntArray:
    """Return the mass in each cell; it is exact, because no sum reaches 2**53."""
    sums = np.bincount(cells, weights=masses, minlength=n_cells)
    return sums[:n_cells].astype(np.int64)


def _asked_for(masses: IntArray, least: float) -> IntArray:
    """Return the categories that have a column.

    Of names of the rows these are the common ones, or the first of the most common ones: the others
    separate too few examples to be worth a question in every round.
    """
    seen = np.flatnonzero(masses)
    own = masses[seen]
    if not is_identifier(seen.size, RARE * float(own.sum()) / least):
        return seen
    common = seen[own >= least]
    return common if common.size else seen[[own.argmax()]]


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
