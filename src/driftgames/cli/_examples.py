"""Examples from files: LIBSVM text or CSV, plain or compressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.cli._csv_lines import Line, check_titles, is_missing, is_number, read_table
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError


@dataclass(frozen=True)
class Examples:
    """The content of a file; ``y`` is None if it has no labels.

    ``categories`` are the positions of the columns of ``X`` that hold strings.
    """

    X: Any
    y: npt.NDArray[Any] | None
    names: list[str] | None
    categories: Sequence[int] = ()


def read_examples(
    path: str,
    *,
    label: str | None = None,
    header: bool | None = None,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
    categories: Sequence[int] | None = None,
) -> Examples:
    """Read a file with ``.csv`` in its name as CSV, and any other as LIBSVM text.

    ``label`` is the name or the number (from 1) of a CSV file's label column. Default: the last
    column. ``header`` says whether its first line names the columns. Default: seen from the
    line. A column without a title, such as the index that pandas writes, is left out.
    ``n_features`` and ``names`` are those of a fitted model: then labels may be absent, and
    columns are found by name if both the model and the file have names. ``categories`` are the
    positions of its columns of strings. Default: the columns with a cell that is not a number.
    """
    if ".csv" not in [suffix.lower() for suffix in PurePath(path).suffixes]:
        from driftgames.datasets.libsvm import read_libsvm

        X, labels = read_libsvm(path, n_features=n_features)
        return Examples(X, tidy_labels(labels.tolist()), None)
    lines = read_table(path)
    if header is None:
        header = _is_header(lines)
    titles = _titles(path, lines.pop(0)) if header else None
    if not lines:
        raise DataError(f"{path}: has no examples")
    columns = [j for j in range(len(lines[0].cells)) if titles is None or titles[j]]
    at = _label_column(path, label, titles, columns, n_features, names)
    columns = [j for j in columns if j != at]
    found = None if titles is None else {titles[j]: j for j in columns}
    if found is not None and names is not None:
        absent = [name for name in names if name not in found]
        if absent:
            raise DataError(f"{path}: has no column {absent[0]!r}, which the model needs")
        found = {name: found[name] for name in names}
    columns = columns if found is None else list(found.values())
    if categories is None:
        categories = [k for k, j in enumerate(columns) if _holds_words(lines, j)]
    X = _numbers(path, lines, [j for k, j in enumerate(columns) if k not in categories])
    if categories:
        numbers, X = iter(X.T), np.empty((len(lines), len(columns)), dtype=object)
        for k, j in enumerate(columns):
            X[:, k] = _words(lines, j) if k in categories else next(numbers)
    y = None if at is None else tidy_labels([line.cells[at].strip() for line in lines])
    return Examples(X, y, None if found is None else list(found), categories)


def is_parquet(path: str) -> bool:
    """Whether a name, or a pattern of names, is of parquet files."""
    return PurePath(path).suffix.lower() == ".parquet"


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


def _is_header(lines: Sequence[Line]) -> bool:
    """Whether the first line names the columns: it has words and no numbers.

    A line of missing values that ends in its label has words and no numbers too. So where a
    cell may be a missing value, a word must stand above a number.
    """
    first = lines[0].cells
    if any(map(_is_known, first)):
        return False
    words = [j for j, cell in enumerate(first) if not is_missing(cell)]
    return len(words) == len(first) or any(
        _is_known(line.cells[j]) for line in lines[1:] for j in words
    )


def _titles(path: str, line: Line) -> list[str]:
    titles = [cell.strip() for cell in line.cells]
    if not any(titles):
        raise DataError(f"{path}: line {line.number}: the header names no column")
    check_titles(f"{path}: line {line.number}", filter(None, titles))
    return titles


def _label_column(
    path: str,
    label: str | None,
    titles: list[str] | None,
    columns: list[int],
    n_features: int | None,
    names: Sequence[str] | None,
) -> int | None:
    """Return the column of the labels; None if a file for a fitted model has none."""
    width = len(columns) if titles is None else len(titles)
    if titles and label in titles:
        return titles.index(label)
    if label is not None and label.isdecimal() and 1 <= int(label) <= width:
        at = int(label) - 1
        return None if at in columns and n_features == len(columns) else at
    if label is not None:
        if n_features is not None:
            return None
        known = f"; it has {', '.join(titles)}" if titles else f", as columns 1 to {width} are"
        raise DataError(f"{path}: has no label column {label!r}{known}")
    if titles and names is not None:
        columns = [j for j in columns if titles[j] not in names]
        return columns[-1] if columns else None
    return columns[-1] if n_features is None or len(columns) > n_features else None


def _holds_words(lines: list[Line], j: int) -> bool:
    return any(not is_missing(line.cells[j]) and not is_number(line.cells[j]) for line in lines)


def _words(lines: list[Line], j: int) -> list[str | None]:
    cells = (line.cells[j].strip() for line in lines)
    return [None if is_missing(cell) else cell for cell in cells]


def _numbers(path: str, lines: list[Line], columns: list[int]) -> FloatArray:
    X = np.empty((len(lines), len(columns)))
    for k, j in enumerate(columns):
        try:
            X[:, k] = [line.cells[j] for line in lines]
        except ValueError:  # a missing value, or a cell without a number
            for i, line in enumerate(lines):
                X[i, k] = _number(path, line, j)
    return X


def _number(path: str, line: Line, j: int) -> float:
    cell = line.cells[j]
    if is_missing(cell):
        return np.nan
    try:
        return float(cell)
    except ValueError:
        place = f"{path}: line {line.number}, column {j + 1}"
        raise DataError(f"{place}: {cell!r} is not a number") from None


def _is_known(cell: str) -> bool:
    return is_number(cell) and not is_missing(cell)
