"""The learners that aggregate step sizes: their levels, or their bounds."""

from __future__ import annotations

import math
from typing import Any

from driftgames._kernels.elementary import log
from driftgames.hedge.learners.ada_hedge import AdaHedge
from driftgames.hedge.registry import make_learner
from driftgames.hedge.rounds.base import ExpertLearner

_WINDOW = 500  # of rounds that the published parameters of Fixed Share are tuned to


def make_learners(
    method: str, name: str | None, n: int, coverage: float, largest_step: float
) -> list[ExpertLearner]:
    """Return one learner of the levels ("dtaci"), or two of the bounds ("agaci")."""
    if method == "agaci":
        return [AdaHedge(n, loss_range=None) for _ in range(2)]
    alpha = 1.0 - coverage
    most = max(alpha, 1.0 - alpha) * (1.0 + largest_step)
    settings: dict[str, Any] = {"loss_range": (0.0, most)}
    if isinstance(name, str) and name == "fixed-share":
        spread = coverage * coverage * alpha**3 + alpha * alpha * coverage**3
        rate = math.sqrt(3 / _WINDOW * (log(float(n * _WINDOW)) + 2) / spread)
        settings |= {"rate": rate * most, "share": 0.5 / _WINDOW}
    return [make_learner("adanormalhedge.tv" if name is None else name, n, **settings)]
