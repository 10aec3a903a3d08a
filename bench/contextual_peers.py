"""Contextual bandits of vowpalwabbit and MABWiser, on the same contexts and losses as ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import FloatArray

Drawn = npt.NDArray[np.int64]
Play = Callable[[FloatArray, FloatArray, int], Drawn]


def vowpal_wabbit(options: str) -> Play:
    """Return a policy of vowpalwabbit; every arm has the features of the context as its own."""

    def play(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
        import vowpalwabbit

        space = vowpalwabbit.Workspace(
            f"--cb_explore_adf {options} --interactions xa --quiet --random_seed {seed + 1}"
        )
        rng = np.random.default_rng(seed)
        drawn = np.empty(len(X), dtype=np.int64)
        for t, x in enumerate(X.tolist()):
            shared = "shared |x " + " ".join(f"f{j}:{value:.6f}" for j, value in enumerate(x))
            arms = [f"|a arm{k}" for k in range(losses.shape[1])]
            p = np.array(space.predict([shared, *arms]))
            arm = drawn[t] = int(rng.choice(p.size, p=p / p.sum()))
            arms[arm] = f"0:{losses[t, arm]}:{p[arm]} {arms[arm]}"
            space.learn([shared, *arms])
        space.finish()
        return drawn

    return play


def mab_wiser(policy: str, **settings: Any) -> Play:
    """Return a policy of MABWiser, by the name of its learning policy."""

    def play(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
        from mabwiser.mab import MAB, LearningPolicy

        arms = list(range(losses.shape[1]))
        bandit = MAB(arms, getattr(LearningPolicy, policy)(**settings), seed=seed)
        Z = np.column_stack([X, np.ones(len(X))])
        drawn = np.empty(len(X), dtype=np.int64)
        for t, z in enumerate(Z):
            # it must be fitted before it predicts, so the first arm is 0
            arm = drawn[t] = 0 if t == 0 else bandit.predict(z[None])
            learn = bandit.fit if t == 0 else bandit.partial_fit
            learn(decisions=[int(arm)], rewards=[1.0 - losses[t, arm]], contexts=z[None])
        return drawn

    return play


PEERS: dict[str, tuple[str, Play]] = {
    "VW, SquareCB": ("vowpalwabbit", vowpal_wabbit("--squarecb")),
    "VW, SquareCB, tuned": (
        "vowpalwabbit",
        vowpal_wabbit("--squarecb --gamma_scale 30 --learning_rate 1"),
    ),
    "VW, RegCB, optimistic": ("vowpalwabbit", vowpal_wabbit("--regcbopt")),
    "MABWiser, LinUCB, alpha 1": ("mabwiser", mab_wiser("LinUCB", alpha=1.0)),
    "MABWiser, LinTS, alpha 0.5": ("mabwiser", mab_wiser("LinTS", alpha=0.5)),
}
"""The module that each peer needs, and how it plays; settings are defaults unless named.

The tuned settings of vowpalwabbit are the best of nine on the seeds 1000 to 1003. Costs from -1 to
0, or from -1/2 to 1/2, and features of each arm in place of interactions gained little.
"""
