"""The published binarisation: every attribute becomes columns of zeros and ones.

One column ``name=value`` per value of a discrete attribute, and one column ``name>=value`` per
distinct value but the smallest of a numeric one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from driftgames.core.checks import check_integer, check_vector
from driftgames.core.typing import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Row = Sequence[str]


@dataclass(frozen=True)
class Attribute:
    """One attribute of a raw file: its discrete values in order, or None if it is numeric."""

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True)
class BinaryColumn:
    """One binary column: whether attribute number ``attribute`` is, or reaches, ``value``."""

    attribute: int
    relation: str
    value: str
    name: str


def make_columns(attributes: Sequence[Attribute], rows: Sequence[Row]) -> tuple[BinaryColumn, ...]:
    """Return the columns that the rule gives for these rows, in attribute order.

    A discrete value that no row holds gets no column.

    >>> rows = [("3", "A"), ("1", "C"), ("2", "A")]
    >>> attributes = [Attribute("age"), Attribute("base", ("A", "C", "G"))]
    >>> [column.name for column in make_columns(attributes, rows)]
    ['age>=2', 'age>=3', 'base=A', 'base=C']
    """
    columns: list[BinaryColumn] = []
    for j, attribute in enumerate(attributes):
        seen = {row[j] for row in rows}
        if attribute.values is None:
            by_size = sorted(seen, key=float)
            columns += [BinaryColumn(j, ">=", v, f"{attribute.name}>={v}") for v in by_size[1:]]
        else:
            there = (v for v in attribute.values if v in seen)
            columns += [BinaryColumn(j, "=", v, f"{attribute.name}={v}") for v in there]
    return tuple(columns)


def binarise(rows: Sequence[Row], columns: Sequence[BinaryColumn]) -> csr_matrix:
    """Return one sparse row of zeros and ones per raw row.

    >>> rows = [("3", "A"), ("1", "C"), ("2", "A")]
    >>> columns = make_columns([Attribute("age"), Attribute("base", ("A", "C"))], rows)
    >>> binarise(rows, columns).toarray()
    array([[1., 1., 1., 0.],
           [0., 0., 0., 1.],
           [1., 0., 1., 0.]])
    """
    from scipy.sparse import csr_matrix

    relations = {column.attribute: column.relation for column in columns}
    raw = {
        j: np.array([row[j] for row in rows], dtype=np.float64 if relation == ">=" else None)
        for j, relation in relations.items()
    }
    dense = np.zeros((len(rows), len(columns)))
    for at, column in enumerate(columns):
        values = raw[column.attribute]
        numeric = column.relation == ">="
        dense[:, at] = values >= float(column.value) if numeric else values == column.value
    return csr_matrix(dense)


def quantise(values: FloatArray, levels: int) -> FloatArray:
    """Return each value as the median of its group: ``levels`` groups, as even as ties allow.

    Groups are filled from the smallest value up. Equal values stay together. The groups after a
    large tie share the rest evenly, so that a column that is mostly zero still has ``levels``
    groups. Values with fewer distinct ones than that stay as they are.

    >>> quantise(np.array([0.0, 0, 0, 0, 1, 2, 3, 4]), levels=3)
    array([0., 0., 0., 0., 1., 1., 3., 3.])
    """
    numbers = check_vector("values", values)
    check_integer("levels", levels, least=1)
    distinct, which, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if distinct.size <= levels:
        return numbers
    group = np.zeros(distinct.size, dtype=np.int64)
    left, current, size = numbers.size, 0, 0
    for place, count in enumerate(counts):
        target = left / (levels - current)
        full = size > 0 and size + count / 2 > target  # the tie belongs where most of it lies
        must = distinct.size - place <= levels - 1 - current
        if current < levels - 1 and (full or (size > 0 and must)):
            left -= size
            current, size = current + 1, 0
        group[place] = current
        size += count
    groups = (numbers[group[which] == g] for g in range(current + 1))
    medians = np.array([np.quantile(each, 0.5, method="lower") for each in groups])
    return np.asarray(medians[group[which]])
