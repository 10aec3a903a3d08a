"""Pulls that wait for feedback, under their arm and probability.

``Pending`` counts them. Where the gamma that is added to a probability falls over time (see
`Exp3IX`), pulls that agree in arm and probability may differ in it: ``Gammas`` holds one per
pull that waits, the oldest first.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from driftgames.bandit.arms import Arm
from driftgames.core.checks import check_between, check_fraction, check_integer

Pull = tuple[Arm, float]
Pending = dict[Pull, int]
Gammas = dict[Pull, deque[float]]


def note(gammas: Gammas, pull: Pull, gamma: float) -> None:
    """Remember the gamma of a pull."""
    gammas.setdefault(pull, deque()).append(gamma)


def recall(gammas: Gammas, pull: Pull) -> float:
    """Return the gamma of the oldest pull like this one, and forget it."""
    waiting = gammas[pull]
    gamma = waiting.popleft()
    if not waiting:
        del gammas[pull]
    return gamma


def rows_of(pending: Pending, gammas: Gammas) -> list[list[Any]]:
    """Return ``[arm, probability, count, gammas]`` of all that waits, as a file holds it."""
    return [
        [arm, prob, count, list(gammas.get((arm, prob), ()))]
        for (arm, prob), count in pending.items()
    ]


def pending_from(
    rows: list[list[Any]], arms: tuple[Any, ...], most_gamma: float | None
) -> tuple[Pending, Gammas]:
    """Return what `rows_of` was given, or say which row cannot be a pull of these arms.

    ``most_gamma`` is the largest gamma there may be, and None where pulls do not differ in it.
    """
    known, pending, gammas = {arm: arm for arm in arms}, Pending(), Gammas()
    for arm, prob, number, noted in rows:
        if arm not in known:
            raise ValueError(f"a pull of {arm!r} waits, and there is no such arm")
        pull = (known[arm], check_fraction("a probability", prob))
        if pull in pending:
            raise ValueError(f"pulls of {arm!r} with probability {prob!r} wait in two rows")
        count = pending[pull] = check_integer("a count", number, least=1)
        wanted = 0 if most_gamma is None else count
        if len(noted) != wanted:
            raise ValueError(f"{count} pulls alike need {wanted} gammas; got {len(noted)}")
        for gamma in noted:
            note(gammas, pull, check_between("gamma", gamma, 0.0, most_gamma or 0.0))
    return pending, gammas
