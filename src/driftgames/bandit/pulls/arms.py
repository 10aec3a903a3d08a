"""The names of arms, and the slot of each in the arrays."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from driftgames.bandit.types import Arm
from driftgames.core.checks import shown


def check_names(names: Sequence[Arm] | None, n_arms: int | None) -> list[Arm] | None:
    """Return the names as a list, or say why they cannot name ``n_arms`` arms."""
    if names is None:
        return None
    try:
        listed = [name.item() if isinstance(name, np.generic) else name for name in names]
        distinct = len(set(listed)) == len(listed)
    except TypeError as error:
        raise ValueError(
            f"names must be a sequence of hashable arms; got {shown(names)}"
        ) from error
    if isinstance(names, str | bytes) or not distinct:
        raise ValueError(f"names must be a sequence of different arms; got {shown(names)}")
    for name in listed:
        check_arm(name)
    if n_arms is not None and len(listed) != n_arms:
        raise ValueError(f"n_arms is {n_arms} and there are {len(listed)} names")
    return listed


def check_arm(arm: Arm) -> Arm:
    """Return ``arm``, or say that it cannot be one: it must equal its own copies.

    A copy of a policy knows its arms by equality. NaN is not even equal to itself.

    >>> check_arm("red"), check_arm(("red", 2))
    ('red', ('red', 2))
    """
    try:
        twin = copy.deepcopy(arm)
        known = arm is not None and hash(arm) == hash(twin) and bool(arm == twin)
    except (TypeError, ValueError, RecursionError):
        known = False
    if not known:
        raise ValueError(
            f"an arm must be hashable and equal its copies, such as a string; got {shown(arm)}"
        )
    return arm


def slots_of(names: list[Arm] | None) -> dict[Arm, int] | None:
    """Return the slot of each name; None if the arms have no names."""
    return None if names is None else {arm: slot for slot, arm in enumerate(names)}


def slot_from(arm: Any) -> int:
    """Return the slot of an arm without a name; a row of a table may hold 2.0 for 2."""
    if isinstance(arm, (bool, np.bool_)):
        raise ValueError(f"an arm must be one of the integers 0, 1, ...; got {shown(arm)}")
    return int(arm)


def shorten(arms: tuple[Any, ...]) -> str:
    """Return the first five arms as text, and the number of arms if there are more."""
    shown = ", ".join(repr(arm) for arm in arms[:5])
    return shown if len(arms) <= 5 else f"{shown}, ... ({len(arms)} in all)"
