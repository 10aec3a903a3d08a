"""The start of a mixture: which learner it plays, with which prior, and whether it combines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftgames.core.checks import check_flag, shown
from driftgames.core.typing import FloatArray
from driftgames.hedge.losses.loss_base import Loss
from driftgames.hedge.mixture.combiners import COMBINERS, Combiners
from driftgames.hedge.mixture.mixture_game import MixtureGame
from driftgames.hedge.registry import LearnerChoice, make_learner
from driftgames.hedge.rounds.linearised import charged_range, choose_linearised, default_learner

EXPERTS_SHARE = 0.5
"""The share of the prior that the experts have; the combiners share the rest."""


def new_game(
    loss: Loss,
    n: int,
    *,
    learner: LearnerChoice,
    linearise: bool | None,
    combiners: bool | None,
    tracking: bool,
    names: Sequence[str] | None,
) -> MixtureGame:
    """Return the game of ``n`` experts before its first round; see `ExpertMixture`."""
    tracking = check_flag("tracking", tracking)
    if tracking and callable(learner):
        raise ValueError(f"tracking needs a learner by name; got {shown(learner)}")
    linearised = choose_linearised(loss, False if tracking and linearise is None else linearise)
    combined = (linearised or (tracking and loss.has_slope)) and learner is None
    if combiners is not None:
        combined = check_flag("combiners", combiners)
        if combined and not loss.has_slope:
            raise ValueError(f"combiners need a loss with a gradient; got {shown(loss)}")
    settings: dict[str, Any] = {"tracking": True} if tracking else {}
    if combined:
        named = names or [str(i) for i in range(n)]
        names = [*named, *(f"combiner: {name}" for name in COMBINERS)]
        settings["prior"] = combined_prior(n)
    player = make_learner(
        default_learner(linearised and not tracking) if learner is None else learner,
        n + (len(COMBINERS) if combined else 0),
        loss_range=None if learner is None else charged_range(loss, linearised),
        names=names,
        **settings,
    )
    joined = Combiners(n, *loss.prediction_range) if combined else None
    return MixtureGame(loss, player, joined, linearised)


def combined_prior(n_experts: int) -> FloatArray:
    """Return the prior of experts and combiners."""
    rest = 1.0 - EXPERTS_SHARE
    shares = [EXPERTS_SHARE / n_experts] * n_experts + [rest / len(COMBINERS)] * len(COMBINERS)
    return np.array(shares)
