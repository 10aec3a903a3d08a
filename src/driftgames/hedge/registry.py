"""Every learner by name: what runs on all of them starts here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftgames.hedge.ada_hedge import AdaHedge
from driftgames.hedge.ada_normal_hedge import AdaNormalHedge
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.hedge import Hedge
from driftgames.hedge.normal_hedge import NormalHedge
from driftgames.hedge.squint import Squint
from driftgames.potentials import Exponential, TwoNorm


def _tuned_exp(n_actions: int, horizon: int | None = None, **settings: Any) -> Hedge:
    if horizon is None:
        raise ValueError("exp must know its horizon to tune its learning rate; got none")
    # a single action needs no tuning, and epsilon = 1 allows none
    return Hedge(n_actions, Exponential.tuned(horizon, 1.0 / max(n_actions, 2)), **settings)


LEARNERS: dict[str, Callable[..., ExpertLearner]] = {
    "normalhedge.dt": lambda n_actions, horizon=None, **settings: Hedge(n_actions, **settings),
    "exp": _tuned_exp,
    "2-norm": lambda n_actions, horizon=None, **settings: Hedge(n_actions, TwoNorm(), **settings),
    "normalhedge": lambda n_actions, horizon=None, **settings: NormalHedge(n_actions, **settings),
    "adanormalhedge": lambda n_actions, horizon=None, **settings: AdaNormalHedge(
        n_actions, **settings
    ),
    "adahedge": lambda n_actions, horizon=None, **settings: AdaHedge(n_actions, **settings),
    "squint": lambda n_actions, horizon=None, **settings: Squint(n_actions, **settings),
}
"""Name to ``factory(n_actions, horizon=None, **settings)``; EXP alone needs the horizon.

``settings`` are the keywords that all learners share, such as ``loss_range``. A new entry
inherits every theorem test.
"""
