"""UCI Splice: the published set is 1,000 of its 3,190 rows, and the public file yields it.

The raw file ``splice.data`` holds a class (EI, IE or N), a name and 60 bases per row. The
published set puts EI and IE together as S, against N. ``splice_rows.txt`` lists which rows it
takes, in its order (they were found by their sequences; some are taken twice, as there). With
one column per position and base, the result is the published file to the byte.
"""

from __future__ import annotations

from importlib import resources

import numpy as np

from driftgames.datasets.binarise import Attribute, binarise, make_columns
from driftgames.datasets.dataset import Split
from driftgames.datasets.files import DataError

_POSITIONS = [*(f"{k}" for k in range(-30, 0)), *(f"+{k}" for k in range(1, 31))]

ATTRIBUTES: tuple[Attribute, ...] = tuple(Attribute(k, tuple("ACGT")) for k in _POSITIONS)
"""Sixty positions around the junction, thirty on either side."""


def published_rows() -> tuple[int, ...]:
    """Return the rows of ``splice.data``, counted from 0, that the published set takes.

    >>> rows = published_rows()
    >>> len(rows), rows[:3], max(rows) < 3190
    (1000, (1927, 2847, 638), True)
    """
    text = resources.files("driftgames.datasets").joinpath("splice_rows.txt").read_text()
    return tuple(int(number) for number in text.split())


def parse_splice(text: str) -> tuple[list[str], list[str]]:
    """Return the sequences and the classes of ``splice.data``."""
    sequences: list[str] = []
    classes: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3 or fields[0] not in {"EI", "IE", "N"} or len(fields[2]) != 60:
            raise DataError(
                f"splice: line {number}: expected class, name and 60 bases; got {line!r}"
            )
        classes.append(fields[0])
        sequences.append(fields[2])
    return sequences, classes


def derive(text: str) -> tuple[Split, tuple[str, ...]]:
    """Return the published 1,000 rows of ``splice.data``, binarised."""
    sequences, classes = parse_splice(text)
    chosen = published_rows()
    rows = [sequences[i] for i in chosen]
    columns = make_columns(ATTRIBUTES, rows)
    y = np.array([-1 if classes[i] == "N" else 1 for i in chosen])
    return Split(binarise(rows, columns), y), tuple(column.name for column in columns)
