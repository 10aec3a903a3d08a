"""Potentials as JSON, and back: what a saved learner or model says it ran on."""

from __future__ import annotations

import dataclasses
from typing import Any

from driftgames.potentials.base import Potential
from driftgames.potentials.exponential import Exponential
from driftgames.potentials.normal_hedge_dt import NormalHedgeDT
from driftgames.potentials.two_norm import TwoNorm

_NAMED: dict[str, type[Potential]] = {
    potential.__name__: potential for potential in (Exponential, NormalHedgeDT, TwoNorm)
}


def describe_potential(potential: Potential) -> dict[str, Any]:
    """Return a potential's name, and its parameters where a file can hold them.

    >>> describe_potential(NormalHedgeDT(d=4))
    {'name': 'NormalHedgeDT', 'parameters': {'d': 4.0, 'lag': 0}}
    """
    name = type(potential).__name__
    if _NAMED.get(name) is not type(potential):
        return {"name": name, "parameters": None}
    fields = dataclasses.fields(potential)  # type: ignore[arg-type]
    return {"name": name, "parameters": {f.name: getattr(potential, f.name) for f in fields}}


def build_potential(described: dict[str, Any]) -> Potential:
    """Return the potential that was described; say so when a file could not hold it.

    >>> build_potential({"name": "TwoNorm", "parameters": {}})
    TwoNorm()
    >>> build_potential({"name": "Mine", "parameters": None})
    Traceback (most recent call last):
    ...
    ValueError: it ran on Mine, which a file cannot hold; give it as potential=
    """
    name, parameters = described["name"], described["parameters"]
    if parameters is None or name not in _NAMED:
        raise ValueError(f"it ran on {name}, which a file cannot hold; give it as potential=")
    return _NAMED[name](**parameters)


def restore_potential(
    described: dict[str, Any] | None, given: Potential | None = None
) -> Potential | None:
    """Return the potential that was described, None if there was none.

    One that a file cannot hold must be ``given``; one that is given must be the one described.
    """
    if given is None:
        return None if described is None else build_potential(described)
    if describe_potential(given) != described:
        raise ValueError(f"it ran on {described}; the potential given is {given!r}")
    return given
