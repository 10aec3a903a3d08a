"""Policies and environments by name; their modules are imported when one is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from driftgames import bandit

if TYPE_CHECKING:
    from driftgames.bandit.policies.policy import BanditPolicy
    from driftgames.bandit.runs.environments import Environment

PolicyFactory = Callable[..., "BanditPolicy"]
"""``make(n_arms, horizon, rng)`` returns a policy that has not played yet."""


def _usual_memory(horizon: int | None) -> float:
    """Return ``T**(2/3)`` rounds: best, up to a factor, for about ``T**(1/3)`` switches."""
    return 500.0 if horizon is None else max(2.0, round(horizon ** (2 / 3)))


POLICIES: Mapping[str, PolicyFactory] = {
    "exp3": lambda n, T, rng, **units: bandit.PotentialBandit(
        n, horizon=T, random_state=rng, **units
    ),
    "exp3-anytime": lambda n, T, rng, **units: bandit.PotentialBandit(n, random_state=rng, **units),
    "exp3-ix": lambda n, T, rng, **units: bandit.Exp3IX(n, horizon=T, random_state=rng, **units),
    "exp3-ix-anytime": lambda n, T, rng, **units: bandit.Exp3IX(n, random_state=rng, **units),
    "tsallis-inf": lambda n, T, rng, **units: bandit.TsallisINF(n, random_state=rng, **units),
    "tsallis-inf-rv": lambda n, T, rng, **units: bandit.TsallisINF(
        n, reduced_variance=True, random_state=rng, **units
    ),
    "tsallis-inf-forget": lambda n, T, rng, **units: bandit.TsallisINF(
        n, forget=_usual_memory(T), random_state=rng, **units
    ),
    "thompson": lambda n, T, rng, **units: bandit.ThompsonSampling(n, random_state=rng, **units),
}
"""The policies by name; each takes ``names``, ``loss_range`` and ``gains`` by keyword."""

ENVIRONMENTS: Mapping[str, Callable[[int, float], Environment]] = {
    "stochastic": lambda n_arms, gap: bandit.BernoulliArms.with_gap(n_arms, gap),
    "moody": lambda n_arms, gap: bandit.Moody(n_arms, gap),
    "switching": lambda n_arms, gap: bandit.Switching(n_arms, gap),
    "spiteful": lambda n_arms, gap: bandit.Spiteful(n_arms),
    "lure": lambda n_arms, gap: bandit.Lure(n_arms),
}
"""Environments by name, each made from ``(n_arms, gap)``."""

REACTING = ("spiteful", "lure")
"""The environments that answer the distribution of the player."""
