"""The rows of a mixture: forecasts with gaps, and arrays that need no checks of scikit-learn."""

from __future__ import annotations

import hashlib
from typing import TypeGuard

import numpy as np

from driftgames.core.checks import shown
from driftgames.core.data_frames import as_frame
from driftgames.core.typing import BoolArray, FloatArray
from driftgames.hedge.losses.loss_base import Loss


def is_plain(X: object, width: int | None) -> TypeGuard[FloatArray]:
    """Whether these are rows of ``width`` floats that need none of scikit-learn's checks."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == width
    )


def is_outcomes(y: object, n: int) -> TypeGuard[FloatArray]:
    """Whether these are ``n`` floats."""
    return type(y) is np.ndarray and y.dtype == np.float64 and y.shape == (n,)


def check_no_text(X: object) -> None:
    """Raise ValueError for texts, dates and records, which scikit-learn would read as numbers."""
    frame = as_frame(X)
    if frame is not None:
        for name, kind in frame.schema.items():
            if kind.is_temporal() or str(kind).startswith(("String", "Binary", "Categor", "Enum")):
                raise ValueError(f"X must be numbers; the column {shown(name)} is of type {kind}")
        return
    try:
        array = np.asarray(X)
    except ValueError:  # ragged rows, of which scikit-learn says what is wrong
        return
    texts = array.dtype.kind == "O" and any(isinstance(each, str | bytes) for each in array.flat)
    if texts or array.dtype.kind in "mMSUV":
        raise ValueError(f"X must be numbers; got {shown(X)}")


def check_experts(
    loss: Loss, X: FloatArray, *, to_nearest: bool
) -> tuple[FloatArray, BoolArray | None]:
    """Return checked predictions, and which experts are awake if any sleeps.

    In the place of a missing prediction stands the lowest one of its row, without weight.
    """
    awake = ~np.isnan(X)
    if awake.all():
        filled, mask = X, None
    else:
        if not awake.any(axis=1).all():
            row = int(np.argmin(awake.any(axis=1)))
            raise ValueError(f"a round needs at least one prediction; row {row} has only NaN")
        filled, mask = np.where(awake, X, np.nanmin(X, axis=1)[:, None]), awake
    checked = loss.nearest if to_nearest else loss.check_predictions
    return checked(filled), mask


def digest(rows: FloatArray) -> bytes:
    """Return what tells rows from others."""
    return hashlib.sha256(repr(rows.shape).encode() + np.ascontiguousarray(rows).tobytes()).digest()
