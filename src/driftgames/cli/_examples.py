"""Examples from files: LIBSVM text or CSV, plain or compressed."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._support.checks import FloatArray
from driftgames.datasets.files import DataError, read_bytes

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})
"""What stands in a CSV file for a value that is not there, in any case."""


@dataclass(frozen=True)
class Examples:
    """What a file held; ``y`` is None where it has no labels."""

    X: Any
    y: npt.NDArray[Any] | None
    names: list[str] | None


def read_examples(
    path: str,
    *,
    label: str | None = None,
    header: bool | None = None,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
) -> Examples:
    """Read a file whose name says that it is CSV as such, and any other as LIBSVM text.

    ``label`` is the name or the number (from 1) of a CSV file's label column, the last unless
    given; ``header`` says whether its first line names the columns, which is seen from the
    line itself unless given. ``n_features`` and ``names`` are those of a fitted model: then
    labels may be absent, and columns are found by name where both sides have names.
    """
    if ".csv" not in [suffix.lower() for suffix in PurePath(path).suffixes]:
        from driftgames.datasets.libsvm import read_libsvm

        X, labels = read_libsvm(path, n_features=n_features)
        return Examples(X, tidy_labels(labels.tolist()), None)
    lines = _read_csv(path)
    if header is None:
        header = not any(_is_value(cell) for cell in lines[0])
    titles = [cell.strip() for cell in lines.pop(0)] if header else None
    if not lines:
        raise DataError(f"{path}: has no examples")
    width = len(titles or lines[0])
    at = _label_column(path, label, titles, width, n_features, names)
    columns = [j for j in range(width) if j != at]
    found = [titles[j] for j in columns] if titles else None
    if found is not None and names is not None:
        absent = [name for name in names if name not in found]
        if absent:
            raise DataError(f"{path}: has no column {absent[0]!r}, which the model needs")
        columns = [columns[found.index(name)] for name in names]
        found = list(names)
    X = _numbers(path, lines, columns, first_line=2 if header else 1)
    y = None if at is None else tidy_labels([line[at].strip() for line in lines])
    return Examples(X, y, found)


def tidy_labels(labels: Sequence[str | float]) -> npt.NDArray[Any]:
    """Return labels as integers if all are whole numbers, else as they are.

    >>> tidy_labels(["+1", "-1"]), tidy_labels(["spam", "ham"])
    (array([ 1, -1]), array(['spam', 'ham'], dtype='<U4'))
    """
    try:
        numbers = np.array(labels, dtype=np.float64)
    except ValueError:
        return np.array(labels)
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all()
    return numbers.astype(np.int64) if whole else np.array(labels)


def _read_csv(path: str) -> list[list[str]]:
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text ({error})") from error
    lines = [line for line in csv.reader(io.StringIO(text, newline="")) if line]
    if not lines:
        raise DataError(f"{path}: is empty")
    width = len(lines[0])
    for number, line in enumerate(lines, start=1):
        if len(line) != width:
            raise DataError(f"{path}: line {number}: has {len(line)} cells, the first {width}")
    return lines


def _is_value(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip().lower() in MISSING
    return True


def _label_column(
    path: str,
    label: str | None,
    titles: list[str] | None,
    width: int,
    n_features: int | None,
    names: Sequence[str] | None,
) -> int | None:
    """Return where the labels are; None where a file for a fitted model has none."""
    if titles and label in titles:
        return titles.index(label)
    if label is not None and label.isdigit() and 1 <= int(label) <= width:
        return None if n_features == width else int(label) - 1
    if label is not None:
        if n_features is not None:
            return None
        known = f"; it has {', '.join(titles)}" if titles else f", as columns 1 to {width} are"
        raise DataError(f"{path}: has no label column {label!r}{known}")
    if titles and names is not None:
        others = [j for j, title in enumerate(titles) if title not in names]
        return others[-1] if others else None
    return width - 1 if n_features is None or width > n_features else None


def _numbers(
    path: str, lines: list[list[str]], columns: list[int], *, first_line: int
) -> FloatArray:
    X = np.empty((len(lines), len(columns)))
    for k, j in enumerate(columns):
        cells = [line[j] for line in lines]
        try:
            X[:, k] = cells
        except ValueError:  # a missing value, or something that is no number
            for i, cell in enumerate(cells):
                X[i, k] = _number(cell, path, first_line + i, j + 1)
    return X


def _number(cell: str, path: str, line: int, column: int) -> float:
    if cell.strip().lower() in MISSING:
        return np.nan
    try:
        return float(cell)
    except ValueError:
        raise DataError(f"{path}: line {line}, column {column}: {cell!r} is not a number") from None
