"""Examples from tables or LIBSVM text: features, labels, and which columns are categories."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.cli._tables import TableFile, open_table, read_content
from driftgames.cli._text_tables import LOOK, guess_separator
from driftgames.core.cells import (
    as_days,
    as_numbers,
    is_missing,
    is_number,
    is_truth_value,
    marked_number,
)
from driftgames.core.text import shown
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.datasets.files import DataError

_PLAIN_NUMBERS = "write them with a decimal point and without marks for thousands, as in 1234.5"


@dataclass(frozen=True)
class Examples:
    """The content of a file.

    ``known`` says which rows of ``X`` have a label, and ``y`` has these labels; both are None if no
    row has one. ``categories`` are the positions of the columns of strings, and ``dates`` those of
    the columns of dates, which ``X`` holds in days since 1970. ``label`` says in words where the
    labels were found.
    """

    X: Any
    y: npt.NDArray[Any] | None
    names: list[str] | None
    known: BoolArray | None = None
    categories: Sequence[int] = ()
    dates: Sequence[int] = ()
    label: str = "the first entry of each line"

    def labelled(self) -> Examples:
        """Return the examples that have a label."""
        if self.known is None or self.known.all():
            return self
        return replace(self, X=self.X[self.known], known=self.known[self.known])


def read_examples(
    source: str,
    *,
    label: str | None = None,
    n_features: int | None = None,
    names: Sequence[str] | None = None,
    categories: Sequence[int] | None = None,
    as_strings: str | None = None,
    **settings: Any,
) -> Examples:
    """Read a table, with the settings of `open_table`, or LIBSVM text.

    ``label`` is the name or the number (from 1) of the label column. Default: the last column.
    ``n_features`` and ``names`` are those of a fitted model: then labels may be absent, and
    columns are found by name if both the model and the file have names. ``categories`` are the
    positions of its columns of strings. Default: the columns that ``as_strings`` names, and those
    whose first values are not all numbers, nor all dates.
    """
    content = read_content(source)
    if content is not None and settings.get("sep") is None and _is_libsvm(source, content):
        from driftgames.datasets.libsvm import parse_libsvm

        X, labels = parse_libsvm(content, source, n_features=n_features)
        return Examples(X, tidy_labels(labels.tolist()), None, np.ones(labels.size, dtype=bool))
    with open_table(source, whole=True, content=content, **settings) as table:
        at = _label_column(table, label, n_features, names)
        columns = _feature_columns(table, at, names)
        named = _named_columns(table, as_strings, columns)
        blocks = list(table.blocks)
    if not blocks:
        raise DataError(f"{source}: has no examples")
    places = [place for block in blocks for place in block.places]

    def cells_of(j: int) -> Any:
        parts = [block.columns[j] for block in blocks]
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        return parts[0] if len(parts) == 1 else [cell for part in parts for cell in part]

    values: list[Any] = []
    strings, dates = [], []
    found: Any
    for k, j in enumerate(columns):
        cells = cells_of(j)
        found = None
        if j not in named and (categories is None or k not in categories):
            found = as_numbers(cells)
            if found is None:
                found = _days(table, j, cells)
                dates += [k] if found is not None else []
            if found is None and categories is None:
                _refuse_marked_numbers(table, j, cells)
                _refuse_late_strings(table, j, cells, places)
        if found is None and categories is not None and k not in categories:
            bad = (i for i, x in enumerate(cells) if not (is_missing(x) or is_number(x)))
            i = next(bad)
            place = table.place(places[i], j)
            raise DataError(f"{place}: {shown(cells[i])} is not a number, which the model needs")
        if found is None:
            strings.append(k)
            found = _categories(cells, as_read=categories is None)
        values.append(found)
    X = np.empty((len(places), len(columns)), dtype=object if strings else np.float64)
    for k, column in enumerate(values):
        X[:, k] = column
    titles = None if table.titles is None else [table.titles[j] for j in columns]
    y, known = (None, None) if at is None else _labels(table, at, cells_of(at))
    where = "" if at is None else table.title(at) + (" (the last column)" if label is None else "")
    return Examples(X, y, titles, known, strings, dates, where)


def _categories(cells: Any, *, as_read: bool) -> npt.NDArray[np.object_]:
    """Return a column of categories: numbers if ``as_read`` and all are numbers, else strings."""
    numbers = as_numbers(cells) if as_read else None
    if numbers is not None:
        return np.array([None if x != x else x for x in numbers.tolist()], object)
    return np.array([None if is_missing(x) else str(x).strip() for x in cells], object)


def tidy_labels(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Return labels as truth values or integers if all are such, else as they are.

    >>> tidy_labels(["+1", "-1"]), tidy_labels(["spam", "ham"])
    (array([ 1, -1]), array(['spam', 'ham'], dtype='<U4'))
    >>> tidy_labels(["true", "False"])
    array([ True, False])
    """
    if all(map(is_truth_value, labels)):
        return np.array([str(each).strip().lower() == "true" for each in labels])
    try:
        numbers = np.array(labels, dtype=np.float64)
    except ValueError:
        return np.array(labels)
    whole = np.isfinite(numbers).all() and (numbers == np.rint(numbers)).all()
    return numbers.astype(np.int64) if whole else np.array(labels)


def _is_libsvm(source: str, content: bytes) -> bool:
    """Whether text is LIBSVM: by the ending of its name, else by its first line."""
    suffixes = {suffix.lower() for suffix in PurePath(source).suffixes}
    if suffixes & {".csv", ".tsv"} or suffixes & {".svm", ".libsvm"}:
        return not suffixes & {".csv", ".tsv"}
    line = content.lstrip()[: 1 << 16].partition(b"\n")[0].decode("utf-8", errors="replace")
    pairs = re.fullmatch(r"[^\s,;]+(\s+\d+:[^\s,;]+)*\s*(#.*)?", line)
    return bool(pairs) or guess_separator(line) not in line


def _label_column(
    table: TableFile, label: str | None, n_features: int | None, names: Sequence[str] | None
) -> int | None:
    """Return the column of the labels; None if a file for a fitted model has none."""
    columns = table.kept
    if label is not None:
        if table.titles is None or label not in table.titles:
            if n_features is not None and not label.isdecimal():
                return None
            at = table.column("--label", label)
            return None if at in columns and n_features == len(columns) else at
        return table.titles.index(label)
    if table.titles and names is not None:
        columns = [j for j in columns if table.titles[j] not in names]
        return columns[-1] if columns else None
    if not columns:
        raise DataError(f"{table.name}: has no column of labels")
    return columns[-1] if n_features is None or len(columns) > n_features else None


def _feature_columns(table: TableFile, at: int | None, names: Sequence[str] | None) -> list[int]:
    columns = [j for j in table.kept if j != at]
    if table.titles is None or names is None:
        return columns
    found = {table.titles[j]: j for j in columns}
    absent = [name for name in names if name not in found]
    if absent:
        raise DataError(f"{table.name}: has no column {shown(absent[0])}, which the model needs")
    return [found[name] for name in names]


def _named_columns(table: TableFile, names: str | None, columns: Sequence[int]) -> set[int]:
    """Return the columns that --categories names; all must be features."""
    found = {table.column("--categories", each) for each in names.split(",")} if names else set()
    for j in found:
        if j not in columns:
            raise DataError(f"{table.name}: --categories: {table.title(j)} is no feature")
    return found


def _refuse_marked_numbers(table: TableFile, j: int, cells: Any) -> None:
    """Name a cell of a column of numbers with a decimal comma or marks for thousands."""
    cell = marked_number(cells)
    if cell is not None:
        option = shlex.quote(table.title(j) if table.titles else str(j + 1))
        raise DataError(
            f"{table.name}: column {j + 1} ({table.title(j)}) holds numbers such as {shown(cell)}; "
            f"{_PLAIN_NUMBERS}, or read the column as strings (--categories {option})"
        )


def _refuse_late_strings(table: TableFile, j: int, cells: Any, places: Sequence[str]) -> None:
    """Name the first cell of a column that is unlike the values that judge it.

    The first `LOOK` values judge: if all of them are numbers, or dates, a later string is a
    mistake in the file rather than a category.
    """
    known = [i for i, cell in enumerate(cells) if not is_missing(cell)]
    first, late = known[:LOOK], known[LOOK:]
    if not late:
        return
    start = [cells[i] for i in first]
    if as_numbers(start) is not None:
        kind = "true or false" if is_truth_value(start[0]) else "a number"
        bad = (i for i in late if as_numbers([cells[first[0]], cells[i]]) is None)
    elif as_days(start) is not None:
        # each cell beside the first: one format must fit both
        kind, bad = "a date", (i for i in late if as_days([cells[first[0]], cells[i]]) is None)
    else:
        return
    i = next(bad, late[0])
    name = table.title(j) if table.titles else str(j + 1)
    option = shlex.quote(name)
    raise DataError(
        f"{table.place(places[i], j)}: {shown(cells[i])} is not {kind}, as the first {LOOK:,} "
        f"values of the column are; correct it, or read the column as strings "
        f"(--categories {option}), or leave it out (--leave-out {option})"
    )


def _days(table: TableFile, j: int, cells: Any) -> FloatArray | None:
    try:
        return as_days(cells)
    except ValueError as error:
        raise DataError(f"{table.place('all rows', j)}: {error}") from None


def _labels(
    table: TableFile, at: int, cells: Any
) -> tuple[npt.NDArray[Any] | None, BoolArray | None]:
    """Return the labels that are there, and the rows that have them."""
    if (cell := marked_number(cells)) is not None:
        raise DataError(
            f"{table.name}: column {at + 1} ({table.title(at)}), the label, holds numbers such as "
            f"{shown(cell)}; {_PLAIN_NUMBERS}"
        )
    known = np.array([not is_missing(cell) for cell in cells])
    given = [cell for cell, there in zip(cells, known, strict=True) if there]
    if not given:
        return None, None
    return tidy_labels([x.strip() if isinstance(x, str) else x for x in given]), known
