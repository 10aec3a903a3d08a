"""Named choices: one registry per kind of thing, and one error for a name that is not there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from driftgames.core.text import shown

T = TypeVar("T")


def choose(kind: str, name: object, registry: Mapping[str, T]) -> T:
    """Return the entry of this name, or say which names there are.

    >>> choose("learner", "best", {"exp": 1, "2-norm": 2})
    Traceback (most recent call last):
    ...
    ValueError: learner must be one of exp, 2-norm; got 'best'
    """
    if not isinstance(name, str) or name not in registry:
        raise ValueError(f"{kind} must be one of {', '.join(registry)}; got {shown(name)}")
    return registry[name]
