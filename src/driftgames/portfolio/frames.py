"""Data frames of prices, relatives or returns: numbers, names of assets and dates.

Data frames are those that narwhals knows: pandas, polars, pyarrow and others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from driftgames.core.data_frames import as_frame
from driftgames.core.registry import choose
from driftgames.core.typing import FloatArray
from driftgames.portfolio.relatives import check_relatives, price_relatives

Dates = npt.NDArray[np.datetime64]

KINDS: dict[str, Callable[[npt.NDArray[Any]], FloatArray]] = {
    "prices": price_relatives,
    "relatives": check_relatives,
    "returns": lambda table: check_relatives(1.0 + table),
}
"""What a table may hold, and how it becomes relatives."""


class FrameMarket(NamedTuple):
    """Relatives with a row per period, and the names of the assets.

    ``dates`` are the ends of the periods; prices have one more, the start. None if the table has
    no dates.
    """

    relatives: FloatArray
    assets: tuple[str, ...]
    dates: Dates | None


def read_frame(table: Any, holds: str) -> FrameMarket:
    """Return the market of a data frame or an array, whose columns are assets.

    Dates are the index of a pandas frame, unless that is of integers; otherwise the first column,
    if it is one of dates, times or texts in ISO 8601. They must rise.
    """
    to_relatives = choose("holds", holds, KINDS)
    frame = as_frame(table)
    if frame is None:
        values = np.asarray(table)
        names = tuple(f"asset {k + 1}" for k in range(values.shape[-1] if values.ndim else 0))
        return FrameMarket(to_relatives(values), names, None)
    dates = _dates_from(getattr(nw.maybe_get_index(frame), "values", None))
    if dates is None and frame.columns:
        first = frame[frame.columns[0]]
        if first.dtype.is_temporal() or first.dtype == nw.String:
            dates, frame = _dates_from(first.to_numpy()), frame.drop(frame.columns[0])
    for name, dtype in frame.schema.items():
        if not dtype.is_numeric():
            raise ValueError(f"column {name!r} must hold numbers; it is of type {dtype}")
    if dates is not None and not (np.diff(dates) > np.timedelta64(0)).all():
        late = int(np.argmin(np.diff(dates) > np.timedelta64(0)))
        raise ValueError(f"dates must rise; got {dates[late]} before {dates[late + 1]}")
    relatives = to_relatives(frame.to_numpy().astype(np.float64))
    return FrameMarket(relatives, tuple(map(str, frame.columns)), dates)


def _dates_from(values: npt.NDArray[Any] | None) -> Dates | None:
    """Return dates, times or texts in ISO 8601 as moments; None for numbers."""
    if values is None or values.dtype.kind in "iuf":
        return None
    if values.dtype.kind != "M":
        try:
            values = np.array([str(value) for value in values], dtype="datetime64[us]")
        except ValueError as error:
            raise ValueError(f"dates must be in ISO 8601: {error}") from error
    return values
