"""Sets and strategies of integration as JSON, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.typing import Content
from driftgames.oco.hit_and_run import HitAndRun
from driftgames.oco.integration import Grid, Points
from driftgames.oco.polytope import Polytope
from driftgames.oco.sets import Ball, Box, Simplex

_ARGUMENTS: dict[type[Any], tuple[str, ...]] = {
    Ball: ("center", "radius"),
    Box: ("low", "high"),
    Polytope: ("A", "b"),
    Simplex: ("n_coordinates",),
    Grid: ("per_axis",),
    HitAndRun: ("n_walkers", "n_steps", "least_effective"),
    Points: ("n_points", "matched"),
}
_NAMED = {cls.__name__: cls for cls in _ARGUMENTS}


def describe(thing: object) -> Content:
    """Return one of the library's own objects as JSON; of any other, its name alone.

    >>> describe(Simplex(3))
    {'name': 'Simplex', 'arguments': {'n_coordinates': 3}}
    """
    names = _ARGUMENTS.get(type(thing))
    if names is None:
        return {"name": f"{type(thing).__module__}.{type(thing).__qualname__}", "arguments": None}
    values = {name: getattr(thing, name) for name in names}
    return {
        "name": type(thing).__name__,
        "arguments": {
            name: encode_array(value) if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        },
    }


def restore(described: Content, argument: str, given: Any = None) -> Any:
    """Return the object that `describe` was given; ``argument`` is what an error asks for.

    One of your own, which a file cannot hold, must be ``given``.
    """
    if given is not None:
        if describe(given) != described:
            raise DocumentError(f"it ran on {described}; the {argument} given is {given!r}")
        return given
    if described["arguments"] is None or described["name"] not in _NAMED:
        raise DocumentError(
            f"it ran on {described['name']}, which a file cannot hold; give it as {argument}="
        )
    values = {
        name: decode_array(value) if isinstance(value, dict) else value
        for name, value in described["arguments"].items()
    }
    return _NAMED[described["name"]](**values)
