"""Pulls that wait for feedback, under their arm and probability.

``Pending`` counts them. The gamma that is added to a probability may fall over time (see
`Exp3IX`). Then pulls that agree in arm and probability may differ in gamma: ``Gammas`` holds one
gamma per waiting pull, the oldest first. It is a case of ``Queues``.
"""

from __future__ import annotations

from collections import deque
from typing import Any, TypeVar

from driftgames.bandit.types import Arm
from driftgames.core.checks import check_between, check_fraction, check_integer, shown

Pull = tuple[Arm, float]
Pending = dict[Pull, int]
Value = TypeVar("Value")
Queues = dict[Pull, deque[Value]]
Gammas = Queues[float]


def put(queues: Queues[Value], pull: Pull, value: Value) -> None:
    """Store a value of a pull."""
    queues.setdefault(pull, deque()).append(value)


def take(queues: Queues[Value], pull: Pull) -> Value:
    """Remove and return the value of the oldest pull with this arm and probability."""
    waiting = queues[pull]
    value = waiting.popleft()
    if not waiting:
        del queues[pull]
    return value


def pending_rows(pending: Pending, gammas: Gammas, slots: dict[Any, int] | None) -> list[list[Any]]:
    """Return ``[arm, probability, count, gammas]`` of all waiting pulls, in the order of arms."""
    order = sorted(pending, key=lambda pull: (slots[pull[0]] if slots else pull[0], pull[1]))
    return [[*pull, pending[pull], list(gammas.get(pull, ()))] for pull in order]


def pending_from(
    rows: list[list[Any]], arms: tuple[Any, ...], largest_gamma: float | None
) -> tuple[Pending, Gammas]:
    """Return the pulls of `pending_rows`, or say which row cannot be a pull of these arms.

    ``largest_gamma`` is the largest gamma of any pull; None if gamma is constant.
    """
    known, pending, gammas = {arm: arm for arm in arms}, Pending(), Gammas()
    for arm, prob, number, stored in rows:
        if arm not in known:
            raise ValueError(f"a pull of {shown(arm)} waits, and there is no such arm")
        pull = (known[arm], check_fraction("a probability", prob))
        if pull in pending:
            raise ValueError(
                f"pulls of {shown(arm)} with probability {shown(prob)} wait in two rows"
            )
        count = pending[pull] = check_integer("a count", number, least=1)
        wanted = 0 if largest_gamma is None else count
        if len(stored) != wanted:
            raise ValueError(f"{count} pulls alike need {wanted} gammas; got {len(stored)}")
        for gamma in stored:
            put(gammas, pull, check_between("gamma", gamma, 0.0, largest_gamma or 0.0))
    return pending, gammas
