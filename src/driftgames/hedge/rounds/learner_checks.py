"""Checks of the arguments that all learners share."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_distribution, shown
from driftgames.core.typing import FloatArray, read_only
from driftgames.core.units import Units

_SMALLEST_SHARE = 1e-200
_LARGEST_LOSS = {np.dtype(np.float64): 1e290, np.dtype(np.float32): 1e30}
"""Totals of many rounds stay finite below this, and so does one over the width of the range."""


def check_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a dtype, or say that it is neither float64 nor float32."""
    with contextlib.suppress(TypeError, RecursionError):  # not a type
        if (kind := np.dtype(dtype)) in _LARGEST_LOSS:
            return kind
    raise ValueError(f"dtype must be float64 or float32; got {shown(dtype)}")


def largest_loss(dtype: np.dtype[Any]) -> float:
    """Return the largest loss that a learner of this dtype takes."""
    return float(dtype.type(_LARGEST_LOSS[dtype]))


def check_units(loss_range: tuple[float, float], gains: bool, dtype: np.dtype[Any]) -> Units:
    """Return units whose range is rounded to ``dtype``, or say what is wrong with the range."""
    given = Units.of(loss_range, gains)
    most = largest_loss(dtype)
    with np.errstate(over="ignore"):
        low, high = float(dtype.type(given.low)), float(dtype.type(given.high))
    if -most <= low and high <= most and high - low >= 1.0 / most:
        return Units(low, high, given.gains)
    raise ValueError(
        f"loss_range must lie in [{-most:g}, {most:g}] and be at least {1.0 / most:g} wide "
        f"in {dtype}; got {shown(loss_range)}"
    )


def check_names(names: Sequence[str] | None, n_actions: int | None) -> tuple[str, ...] | None:
    """Return one name per action, or say that their number is wrong; None is any number."""
    if names is None:
        return None
    given = None
    if isinstance(names, Sequence | np.ndarray) and not isinstance(names, str | bytes):
        given = list(names)
    strings = given is not None and all(isinstance(x, str) for x in given)
    if (
        given is None
        or not strings
        or len(given) != (len(given) if n_actions is None else n_actions)
    ):
        count = "" if n_actions is None else f"{shown(n_actions)} "
        raise ValueError(f"names must be {count}strings; got {shown(names)}")
    return tuple(map(str, given))


def check_prior(prior: npt.ArrayLike | None, n_actions: int) -> FloatArray | None:
    """Return a read-only copy of a prior, or say what is wrong with it."""
    if prior is None:
        return None
    shares = check_distribution("prior", prior, n_actions)
    least = shares[shares > 0].min()
    if least < _SMALLEST_SHARE:
        raise ValueError(
            f"prior must be 0 or at least {_SMALLEST_SHARE:g}, so that its products with weights "
            f"stay positive; got {least:g}"
        )
    return read_only(shares)
