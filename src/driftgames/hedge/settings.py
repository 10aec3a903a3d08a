"""Checks of what all learners are made with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.checks import check_distribution, check_interval
from driftgames.core.typing import FloatArray

_LEAST_MASS = 1e-200
_LARGEST_LOSS = {np.dtype(np.float64): 1e290, np.dtype(np.float32): 1e30}
"""So that totals of many rounds stay finite, and so does one over the width of the range."""


def check_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a dtype, or say that it is neither float64 nor float32."""
    kind = np.dtype(dtype)
    if kind not in _LARGEST_LOSS:
        raise ValueError(f"dtype must be float64 or float32; got {kind}")
    return kind


def check_loss_range(loss_range: tuple[float, float], dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return ``(low, high)`` as entries of ``dtype`` have them, or say why it is no range."""
    most = float(dtype.type(_LARGEST_LOSS[dtype]))
    given = check_interval("loss_range", loss_range)
    with np.errstate(over="ignore"):
        low, high = (float(dtype.type(end)) for end in given)
    if -most <= low and high <= most and high - low >= 1.0 / most:
        return low, high
    raise ValueError(
        f"loss_range must lie in [{-most:g}, {most:g}] and be at least {1.0 / most:g} wide "
        f"in {dtype}; got {loss_range!r}"
    )


def check_names(names: Sequence[str] | None, n_actions: int) -> tuple[str, ...] | None:
    """Return the names of the actions, or say that they are not one for each."""
    if names is None:
        return None
    if isinstance(names, str) or len(names) != n_actions:
        raise ValueError(f"names must be {n_actions} strings; got {names!r}")
    return tuple(map(str, names))


def check_prior(prior: npt.ArrayLike | None, n_actions: int) -> FloatArray | None:
    """Return a prior of one's own, read-only, or say why it is no distribution."""
    if prior is None:
        return None
    mass = check_distribution("prior", prior, n_actions).copy()
    least = mass[mass > 0].min()
    if least < _LEAST_MASS:
        raise ValueError(
            f"prior must be 0 or at least {_LEAST_MASS:g}, to be told from 0 in a product; "
            f"got {least:g}"
        )
    return read_only(mass)


def read_only(array: FloatArray) -> FloatArray:
    """Return an array that can no longer be changed."""
    array.flags.writeable = False
    return array
