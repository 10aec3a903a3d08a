"""Learners by name or by what makes them, and learners as parts of larger documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from driftgames.core.documents import DocumentError
from driftgames.core.typing import Content
from driftgames.hedge.base import ExpertLearner

__all__ = ["Maker", "describe_learner", "make_learner", "restore_learner"]

Maker = str | Callable[..., ExpertLearner] | None
"""A name in `LEARNERS`, what makes a learner from the number of actions, or NormalHedge.DT."""


def make_learner(maker: Maker, n_actions: int, **arguments: Any) -> ExpertLearner:
    """Return a new learner; a name is looked up in `LEARNERS`, anything else is called.

    >>> make_learner(None, 3)
    <NormalHedge.DT: 3 actions, 0 rounds>
    >>> make_learner("follow the leader", 3)
    Traceback (most recent call last):
    ...
    ValueError: learner must be one of normalhedge.dt, exp, 2-norm, normalhedge, adanormalhedge,
    adahedge, squint; got 'follow the leader'
    """
    from driftgames.hedge import Hedge

    if maker is None:
        return Hedge(n_actions, **arguments)
    if isinstance(maker, str):
        from driftgames.hedge import LEARNERS

        if maker not in LEARNERS:
            raise ValueError(f"learner must be one of {', '.join(LEARNERS)}; got {maker!r}")
        return LEARNERS[maker](n_actions, **arguments)
    if not callable(maker):
        raise ValueError(f"learner must be a name or what makes a learner; got {maker!r}")
    learner = maker(n_actions, **arguments)
    if not isinstance(learner, ExpertLearner):
        raise ValueError(f"learner must make an ExpertLearner; {maker!r} made {learner!r}")
    return learner


def describe_learner(learner: ExpertLearner) -> Content:
    """Return a learner as members of a document, from which `restore_learner` makes it again."""
    return {"kind": learner._kind(), **learner._content()}


def restore_learner(content: Content, **arguments: Any) -> ExpertLearner:
    """Return the learner that was described; it goes on to the same bits.

    ``arguments`` are for what a document cannot hold, such as a potential of your own.
    """
    if not isinstance(content, dict) or "kind" not in content:
        raise DocumentError("not a learner: it has no 'kind'")
    for kind in _kinds():
        if kind._kind() == content["kind"]:
            return kind._restore(content, arguments)
    raise DocumentError(f"there is no learner {content['kind']!r}")


def _kinds() -> Iterator[type[ExpertLearner]]:
    waiting = ExpertLearner.__subclasses__()
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        yield kind
