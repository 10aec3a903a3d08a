"""Data frames of any library that narwhals knows: pandas, polars, pyarrow and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame as narwhals sees it; None for anything else."""
    if isinstance(X, np.ndarray | list | tuple):  # the usual case, quickly
        return None
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the names of the columns; None if ``X`` is no frame or its columns have numbers.

    >>> column_names([[0.1, 0.2]]) is None
    True
    """
    frame = as_frame(X)
    names = () if frame is None else tuple(frame.columns)
    return names if names and all(isinstance(name, str) for name in names) else None
