"""Checks of what all learners are made with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._support.checks import FloatArray, check_distribution, is_real

_LEAST_MASS = 1e-200


def check_dtype(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a dtype, or say that it is neither float64 nor float32."""
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32; got {kind}")
    return kind


def check_loss_range(loss_range: tuple[float, float], dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return ``(low, high)`` as entries of ``dtype`` have them, or say why it is no range."""
    low, high = loss_range
    if is_real(low) and is_real(high):
        with np.errstate(over="ignore"):
            ends = float(dtype.type(low)), float(dtype.type(high))
        if ends[0] < ends[1] and np.isfinite(ends[1] - ends[0]):
            return ends
    raise ValueError(
        f"loss_range must be (low, high), finite and low < high in {dtype}; got {loss_range!r}"
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
