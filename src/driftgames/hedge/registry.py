"""Every learner by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftgames.hedge.ada_hedge import AdaHedge
from driftgames.hedge.ada_normal_hedge import AdaNormalHedge
from driftgames.hedge.base import ExpertLearner
from driftgames.hedge.hedge import Hedge
from driftgames.hedge.normal_hedge import NormalHedge
from driftgames.hedge.squint import Squint
from driftgames.potentials import POTENTIALS

Factory = Callable[..., ExpertLearner]


def _hedge(potential: str) -> Factory:
    def factory(n_actions: int, horizon: int | None = None, **settings: Any) -> Hedge:
        # the regret to the best action; a single action needs no tuning, and 1/2 serves
        epsilon = 1.0 / max(n_actions, 2)
        return Hedge(n_actions, POTENTIALS[potential](horizon, epsilon), **settings)

    return factory


def _without_horizon(learner: type[ExpertLearner]) -> Factory:
    def factory(n_actions: int, horizon: int | None = None, **settings: Any) -> ExpertLearner:
        return learner(n_actions, **settings)

    return factory


LEARNERS: dict[str, Factory] = {
    **{name: _hedge(name) for name in ("normalhedge.dt", "exp", "2-norm")},
    "normalhedge": _without_horizon(NormalHedge),
    "adanormalhedge": _without_horizon(AdaNormalHedge),
    "adahedge": _without_horizon(AdaHedge),
    "squint": _without_horizon(Squint),
}
"""Name to ``factory(n_actions, horizon=None, **settings)``; only EXP needs the horizon.

``settings`` are the keywords that all learners share, such as ``loss_range``. Every theorem test
runs on every entry.
"""


def all_learners() -> dict[str, Factory]:
    """Return `LEARNERS`, and `Hedge` on every other potential of `POTENTIALS` by its name."""
    return LEARNERS | {name: _hedge(name) for name in POTENTIALS if name not in LEARNERS}
