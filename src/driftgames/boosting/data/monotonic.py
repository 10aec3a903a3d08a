"""Monotonic constraints: the direction in which a feature may move the vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.core.checks import shown


def plain_constraints(monotonic_cst: Any) -> Any:
    """Return constraints as a dict or a list of integers; what is neither stays as it is."""
    if isinstance(monotonic_cst, Mapping):
        return {name: _plain(value) for name, value in monotonic_cst.items()}
    if monotonic_cst is None or isinstance(monotonic_cst, str):
        return monotonic_cst
    try:
        one_dimension = np.ndim(monotonic_cst) == 1
    except ValueError:  # rows of different lengths
        one_dimension = False
    if not one_dimension:
        return monotonic_cst
    return [_plain(value) for value in monotonic_cst]


def directions(monotonic_cst: Any, n_features: int, names: Array | None) -> Array:
    """Return -1, 0 or 1 for each feature, as int64.

    >>> directions({"age": 1}, 2, np.array(["sex", "age"]))
    array([0, 1])
    """
    constraints = plain_constraints(monotonic_cst)
    signs = np.zeros(n_features, dtype=np.int64)
    if isinstance(constraints, dict):
        known = [] if names is None else names.tolist()
        unknown = [name for name in constraints if name not in known]
        if unknown:
            raise ValueError(
                f"monotonic_cst must name features of a data frame; got {shown(unknown[0])}, which "
                "is not among its columns"
            )
        places = {known.index(name): value for name, value in constraints.items()}
    elif isinstance(constraints, list) and len(constraints) == n_features:
        places = dict(enumerate(constraints))
    else:
        raise ValueError(
            f"monotonic_cst must be a dict or one of -1, 0 and 1 for each of the {n_features} "
            f"features; got {shown(monotonic_cst)}"
        )
    for j, value in places.items():
        if type(value) is not int or value not in (-1, 0, 1):
            raise ValueError(
                f"monotonic_cst must hold -1, 0 and 1; got {shown(value)} for feature {j}"
            )
        signs[j] = value
    return signs


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
