"""Learners from a name or a factory."""

from __future__ import annotations

from typing import Any

from driftgames.core.checks import shown
from driftgames.core.registry import choose
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.registry import Factory, all_learners

__all__ = ["LearnerChoice", "make_learner"]

LearnerChoice = str | Factory | None
"""A name in `LEARNERS` or `POTENTIALS`, a factory, or None for NormalHedge.DT.

A factory is called with the number of actions, and with settings as keywords.
"""


def make_learner(choice: LearnerChoice, n_actions: int, **arguments: Any) -> ExpertLearner:
    """Return a new learner.

    >>> make_learner(None, 3)
    <NormalHedge.DT: 3 actions, 0 rounds>
    >>> make_learner("follow the leader", 3)
    Traceback (most recent call last):
    ...
    ValueError: learner must be one of normalhedge.dt, exp, 2-norm, normalhedge, adanormalhedge,
    adahedge, squint, adanormalhedge.tv, fixed-share, two-experts, normalhedge.dt, d=5, recipe; got
    'follow the leader'
    """
    if choice is None or isinstance(choice, str):
        named = choose("learner", choice or "normalhedge.dt", all_learners())
        return named(n_actions, **arguments)
    if not callable(choice):
        raise ValueError(f"learner must be a name or a factory of learners; got {shown(choice)}")
    learner = choice(n_actions, **arguments)
    if not isinstance(learner, ExpertLearner):
        raise ValueError(
            f"learner must make an ExpertLearner; {shown(choice)} made {shown(learner)}"
        )
    return learner
