"""Data frames of any library that narwhals knows: pandas, polars, pyarrow and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.core.text import listed, shorten, shown

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame as narwhals sees it; None for anything else."""
    if isinstance(X, np.ndarray | list | tuple):  # the usual case, quickly
        return None
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(X, pass_through=True)
        names = frame.columns if isinstance(frame, nw.DataFrame) else []
    except (TypeError, ValueError) as error:  # such as columns of a MultiIndex
        raise ValueError(f"the data frame cannot be read: {shorten(str(error))}") from error
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(
            f"a lazy frame has no rows yet; got {type(X).__module__}.{type(X).__name__}: call its "
            "collect() or compute() first; classifiers also fit it in batches (fit_batches, "
            "driftgames.dask)"
        )
    if any(isinstance(name, tuple) for name in names):
        raise ValueError(
            f"columns must have plain names; got {shown(names[0])} of a MultiIndex: join its levels"
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns; None if ``X`` is no frame or its columns have numbers.

    >>> column_names([[0.1, 0.2]]) is None
    True
    """
    frame = as_frame(X)
    names = () if frame is None else tuple(frame.columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def labels_of(row: Any) -> tuple[str, ...] | None:
    """Return the names in a row of numbers, a mapping or a Series of pandas; None without names.

    >>> labels_of({"red": 0.2, "blue": 0.1}), labels_of([0.2, 0.1])
    (('red', 'blue'), None)
    """
    if isinstance(row, np.ndarray | list | tuple):  # the usual case, quickly
        return None
    labels = row if isinstance(row, Mapping) else getattr(row, "index", None)
    if labels is None or callable(labels) or getattr(row, "ndim", 1) != 1:
        return None
    names = tuple(labels)
    return names if names and all(isinstance(name, str) for name in names) else None


def by_name(what: str, row: Any, names: Sequence[Any] | None) -> Any:
    """Return a row that has names in the order of ``names``, and any other row as it is.

    Without ``names`` the order is that of the row.

    >>> by_name("losses", {"red": 0.2, "blue": 0.1}, ["blue", "red"])
    [0.1, 0.2]
    >>> by_name("losses", {"red": 0.2, "blue": 0.1}, ["blue", "green"])
    Traceback (most recent call last):
    ...
    ValueError: losses must have the names blue, green; got red, blue
    """
    labels = labels_of(row)
    if labels is None:
        return row
    values = dict(zip(labels, row.values() if isinstance(row, Mapping) else row, strict=True))
    order = labels if names is None else names
    if values.keys() != set(order) or not len(values) == len(labels) == len(order):
        raise ValueError(f"{what} must have the names {listed(order)}; got {listed(labels)}")
    return [values[name] for name in order]
