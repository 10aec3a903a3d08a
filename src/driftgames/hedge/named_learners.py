"""Every learner by name, and learners from a name or a factory.

Their modules are imported when one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from driftgames import hedge
from driftgames.core.registry import choose

if TYPE_CHECKING:
    from driftgames.hedge import ExpertLearner, Hedge

Factory = Callable[..., "ExpertLearner"]
Kind = Callable[[], "type[ExpertLearner]"]


def _hedge(potential: str) -> Factory:
    def factory(
        n_actions: int, horizon: int | None = None, *, tracking: bool = False, **settings: Any
    ) -> Hedge:
        from driftgames.potentials import POTENTIALS

        if _tracks(tracking):
            raise _no_tracking("Hedge")
        # the regret to the best action; a single action needs no tuning, and 1/2 serves
        epsilon = 1.0 / max(n_actions, 2)
        return hedge.Hedge(n_actions, POTENTIALS[potential](horizon, epsilon), **settings)

    return factory


def _without_horizon(learner: Kind, tracker: Kind | None = None) -> Factory:
    def factory(
        n_actions: int, horizon: int | None = None, *, tracking: bool = False, **settings: Any
    ) -> ExpertLearner:
        if not _tracks(tracking):
            return learner()(n_actions, **settings)
        if tracker is None:
            raise _no_tracking(learner().__name__)
        return tracker()(n_actions, **settings)

    return factory


def _fixed_share(
    n_actions: int, horizon: int | None = None, *, tracking: bool = True, **settings: Any
) -> ExpertLearner:
    _tracks(tracking)  # it always does
    return hedge.FixedShare.for_horizon(n_actions, horizon, **settings)


def _tracks(tracking: bool) -> bool:
    from driftgames.core.checks import check_flag

    return check_flag("tracking", tracking)


def _no_tracking(name: str) -> ValueError:
    return ValueError(
        f"the theory of {name} has no tracking; that of AdaHedge and of AdaNormalHedge has"
    )


LEARNERS: dict[str, Factory] = {
    **{name: _hedge(name) for name in ("normalhedge.dt", "backward-heat", "exp", "2-norm")},
    "normalhedge": _without_horizon(lambda: hedge.NormalHedge),
    "adanormalhedge": _without_horizon(
        lambda: hedge.AdaNormalHedge, lambda: hedge.AdaNormalHedgeTV
    ),
    "adahedge": _without_horizon(lambda: hedge.AdaHedge, lambda: hedge.AdaFixedShare),
    "squint": _without_horizon(lambda: hedge.Squint),
    "boa": _without_horizon(lambda: hedge.BOA),
    "adanormalhedge.tv": _without_horizon(
        lambda: hedge.AdaNormalHedgeTV, lambda: hedge.AdaNormalHedgeTV
    ),
    "ada-fixed-share": _without_horizon(lambda: hedge.AdaFixedShare, lambda: hedge.AdaFixedShare),
    "fixed-share": _fixed_share,
}
"""Name to ``factory(n_actions, horizon=None, **settings)``; only EXP needs the horizon.

Every entry takes any number of actions. `TwoExperts`, which takes two, is in `all_learners`.

``settings`` are the keywords that all learners share, such as ``loss_range``; with
``tracking=True`` AdaNormalHedge is AdaNormalHedge.TV, and AdaHedge has a fixed share. Every theorem
test runs on every entry.
"""


def all_learners() -> dict[str, Factory]:
    """Return `LEARNERS`, `TwoExperts`, and `Hedge` on every other potential by its name."""
    from driftgames.potentials import POTENTIALS

    others = {name: _hedge(name) for name in POTENTIALS if name not in LEARNERS}
    return {**LEARNERS, "two-experts": _without_horizon(lambda: hedge.TwoExperts), **others}


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
    ValueError: learner must be one of normalhedge.dt, backward-heat, exp, 2-norm, normalhedge,
    adanormalhedge, adahedge, squint, boa, adanormalhedge.tv, ada-fixed-share, fixed-share,
    two-experts,
    normalhedge.dt, d=5, recipe; got 'follow the leader'
    """
    from driftgames.core.checks import shown

    if choice is None or isinstance(choice, str):
        named = choose("learner", "normalhedge.dt" if choice is None else choice, all_learners())
        return named(n_actions, **arguments)
    if not callable(choice):
        raise ValueError(f"learner must be a name or a factory of learners; got {shown(choice)}")
    learner = choice(n_actions, **arguments)
    if not isinstance(learner, hedge.ExpertLearner):
        raise ValueError(
            f"learner must make an ExpertLearner; {shown(choice)} made {shown(learner)}"
        )
    return learner
