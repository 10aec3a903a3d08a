"""Records of the library that the page embeds: games and a fit to check against, adversaries."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from driftgames._kernels.sums import total
from driftgames.boosting import NHBoostDTClassifier
from driftgames.certificates.regret import epsilon_regret
from driftgames.core.typing import FloatArray
from driftgames.hedge import Hedge
from driftgames.potentials import POTENTIALS, MinimaxPotential, NormalHedgeDT, Potential

Record = dict[str, Any]

PLAYERS = ("exp", "2-norm", "normalhedge.dt", "minimax")
MOST_CHIPS, MOST_ROUNDS = 12, 60  # the limits of the page
PER_UNIT = 32
"""The number of lattice points per unit of the page's minimax player."""

_ROUNDING = 1 + 1e-12  # that of `MinimaxPotential.bound`


@dataclass(frozen=True)
class Setup:
    """A game of the page: the player, N, T and the rank k of the chip to compare with."""

    player: str
    n: int
    horizon: int
    rank: int

    @property
    def epsilon(self) -> float:
        """``k / N``."""
        return self.rank / self.n

    def potential(self) -> Potential:
        """Return the potential of the player."""
        if self.player == "minimax":
            return minimax(self.horizon, self.epsilon)
        return POTENTIALS[self.player](self.horizon, self.epsilon)


@lru_cache(maxsize=4)
def minimax(horizon: int, epsilon: float) -> MinimaxPotential:
    """Return the minimax player of least R on the lattice with ``Phi_0(0) < epsilon``."""

    def solve(steps: int, *, keep: bool) -> MinimaxPotential:
        radius = steps / PER_UNIT
        return MinimaxPotential.on_interval(
            lambda s: s <= -radius, horizon, per_unit=PER_UNIT, keep_table=keep
        )

    def is_enough(steps: int) -> bool:  # the value of the game falls as R grows
        return _ROUNDING * solve(steps, keep=False).game_value < epsilon

    return solve(bisect_left(range(horizon * PER_UNIT), True, key=is_enough), keep=True)


def game_numbers(setup: Setup, rounds: FloatArray) -> Record:
    """Play rounds of losses with the library and return every number that the page shows."""
    potential = setup.potential()
    learner = Hedge(setup.n, potential)
    weights = []
    positions: list[FloatArray] = [np.zeros(setup.n)]
    for losses in rounds:
        weights.append(learner.distribution().tolist())
        learner.update(losses)
        positions.append(learner.positions.astype(np.float64))
    if len(rounds) < setup.horizon:
        weights.append(learner.distribution().tolist())
    return {
        "weights": weights,
        "positions": [s.tolist() for s in positions],
        "sums": [
            total(potential.value(s, t, horizon=setup.horizon)) for t, s in enumerate(positions)
        ],
        "regrets": [epsilon_regret(s, 0.0, setup.epsilon) for s in positions],
        "bound": float(potential.bound(setup.horizon, setup.epsilon)),
    }


def fit_numbers(points: list[Record], n_rounds: int) -> Record:
    """Boost points with the library and return every number that the page shows.

    The booster keeps no weights. They follow from the mistakes and the edges. [LS14, Alg. 6]
    """
    X = np.array([[point["x"], point["y"]] for point in points], dtype=np.float64)
    y = np.array([point["label"] for point in points])
    booster = NHBoostDTClassifier(n_rounds, max_leaves=2, calibrate=False).fit(X, y)
    stumps, edges = booster.stumps_, booster.history_["edge"]
    mistakes = np.cumsum(stumps.votes(X) != y[:, np.newaxis], axis=1).T
    weights, edge_sum = [], 0.0
    for t in range(booster.n_iter_):
        erred = mistakes[t - 1] if t > 0 else np.zeros(y.size)
        p = NormalHedgeDT().distribution(t / 2 - edge_sum - erred, t + 1)
        weights.append(p.tolist())
        edge_sum += float(edges[t])
    asked = zip(stumps.feature, stumps.threshold, stumps.left_vote, strict=True)
    return {
        "stumps": [[int(j), float(cut), int(vote)] for j, cut, vote in asked],
        "edges": edges.tolist(),
        "weights": weights,
        "zeroShares": booster.history_["zero_fraction"].tolist(),
        "errors": booster.history_["training_error"].tolist(),
        "margins": booster.margins(X, y).tolist(),
    }


def random_rounds(n: int, horizon: int, seed: int) -> FloatArray:
    """Return losses of 0, 1/2 and 1, with one chip that loses less often."""
    rng = np.random.default_rng(seed)
    losses = rng.integers(3, size=(horizon, n)) / 2
    losses[:, seed % n] *= rng.random(horizon) < 0.4
    return losses


def random_points(n: int, seed: int) -> list[Record]:
    """Return points of two classes that a diagonal separates, but for some noise."""
    rng = np.random.default_rng(seed)
    places, noise = rng.integers(100, size=(n, 2)), rng.random(n) < 0.1
    labels = np.where((places[:, 0] + places[:, 1] > 99) ^ noise, 1, -1)
    return [
        {"x": int(x), "y": int(y), "label": int(label)}
        for (x, y), label in zip(places, labels, strict=True)
    ]


def stored_adversaries() -> Record:
    """Return games that the page can replay for any number of chips and rounds.

    A round is a text of one digit per chip; a game of fewer chips uses the first of them.
    """
    rng = np.random.default_rng(0)
    chips, rounds = np.arange(MOST_CHIPS), np.arange(MOST_ROUNDS)[:, np.newaxis]
    flips = rng.random((MOST_ROUNDS, MOST_CHIPS)) < 0.7
    return {
        "halves": _stored("Stored: halves in turn", (chips + rounds) % 2 == 0),
        "leaders": _stored("Stored: leaders change", flips & (rounds // 10 % 3 != chips)),
    }


def _stored(title: str, losses: Any) -> Record:
    return {"title": title, "rounds": ["".join("01"[int(x)] for x in row) for row in losses]}


def fixtures() -> Record:
    """Return all that the page embeds: the same on every machine."""
    games = []
    for seed, player in enumerate(PLAYERS):
        setup = Setup(player, n=5, horizon=10, rank=1 + seed % 2)
        rounds = random_rounds(setup.n, setup.horizon, seed)
        numbers = game_numbers(setup, rounds)
        games.append({"setup": asdict(setup), "rounds": rounds.tolist(), "numbers": numbers})
    points, n_rounds = random_points(24, seed=0), 12
    fit = {"points": points, "nRounds": n_rounds, "numbers": fit_numbers(points, n_rounds)}
    return {"games": games, "fits": [fit], "adversaries": stored_adversaries()}
