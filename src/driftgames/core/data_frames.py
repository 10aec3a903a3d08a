"""Data frames of any library that narwhals knows: pandas, polars, pyarrow and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.core.text import shorten, shown

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
            "collect() or compute() first, or fit it in batches (fit_batches, driftgames.dask)"
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
