"""Bandits: pulls and updates per second against the peers, and regrets side by side."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.harness import (
    Contestant,
    Tell,
    race,
    side_by_side,
    silent,
    why_absent,
)
from driftgames.bandit import POLICIES, BernoulliArms, compare
from driftgames.tables import Column, Row, Table

SIZES = (10, 1_000, 10_000)
QUICK_SIZES = (10, 1_000)
WANTED: dict[str, dict[str, float]] = {
    "wanted of EXP3, at least": {"K=10": 400_000, "K=10,000": 200_000},
    "wanted of EXP3 replay, at least": {"K=10": 10_000_000},
}
"""Rounds per second."""

HORIZON = 10**6  # all are tuned to it
GAMES, GAP, N_ARMS, ROUNDS = 20, 0.1, 10, 20_000
SMPYBANDITS = "SMPyBandits.Policies.Exp3"

Turn = Callable[[], object]
Pull = Callable[[], Any]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return rounds per second, the same as ratios, and the pseudo-regrets."""
    sizes, rounds, repeats = (QUICK_SIZES, 5_000, 3) if quick else (SIZES, 50_000, 9)
    races = {
        f"K={n:,}": race(
            f"K={n:,}", list(contestants(n, rounds)), repeats=repeats, unit="rounds", tell=tell
        )
        for n in sizes
    }
    return [*tables(races), regrets(games=3 if quick else GAMES, tell=tell)]


def contestants(n_arms: int, rounds: int) -> Iterator[Contestant]:
    """Yield the contestants with this many arms; ours stream and replay."""
    # a contestant with O(K) work per round plays fewer rounds
    few = max(10, min(rounds, 10_000_000 // n_arms // 10))
    yield Contestant("EXP3", _streaming("exp3", n_arms, rounds), items=rounds)
    yield Contestant("EXP3-IX", _streaming("exp3-ix", n_arms, rounds), items=rounds)
    yield Contestant("Tsallis-INF", _streaming("tsallis-inf", n_arms, few), items=few)
    many = max(10, min(4 * rounds, 10_000_000 // n_arms))
    yield Contestant("EXP3 replay", _replaying("exp3", n_arms, many), items=many)
    yield Contestant("Tsallis-INF replay", _replaying("tsallis-inf", n_arms, few), items=few)
    yield Contestant(
        "pymab EXP3 (Rust)", lambda: _pymab(n_arms, few), requires=("pymab",), items=few
    )
    rare = max(10, min(rounds, 20_000 // n_arms))
    yield Contestant("river Exp3", lambda: _river(n_arms, rare), requires=("river",), items=rare)
    yield Contestant(
        "SMPyBandits Exp3", lambda: _smpybandits(n_arms, rare), requires=(SMPYBANDITS,), items=rare
    )


def tables(races: dict[str, Table]) -> list[Table]:
    """Return rounds per second and ratios to our EXP3, a column for each number of arms."""
    return [
        side_by_side("pull and update: rounds per second", races, "rounds/s", "/s", wanted=WANTED),
        side_by_side("time per round, as a multiple of EXP3", races, "to ours", "x"),
    ]


def regrets(*, games: int = GAMES, rounds: int = ROUNDS, tell: Tell = silent) -> Table:
    """Return the pseudo-regret of every policy, the peers' EXP3 included."""
    tell(f"regret: {games} games of {rounds:,} rounds")
    environment = BernoulliArms.with_gap(N_ARMS, GAP)
    rows: list[Row] = []
    for name, series in compare(environment, rounds, n_games=games, progress=False).items():
        assert series.pseudo_regret is not None
        rows.append((name, *_summary(series.pseudo_regret), float(series.promised), ""))
    peers: dict[str, tuple[str, Callable[..., Any]]] = {
        "pymab EXP3 (Rust)": ("pymab", _pymab_pull),
        "river Exp3": ("river", _river_pull),
    }
    for name, (module, make) in peers.items():
        reason = why_absent([module])
        if reason is not None:
            rows.append((name, None, None, None, f"skipped: {reason}"))
            continue
        tell(f"regret: {name}")
        costs = np.array([_peer_cost(make, environment, rounds, seed) for seed in range(games)])
        rows.append((name, *_summary(costs), None, "gamma as published"))
    columns = (
        Column("policy"),
        Column("pseudo-regret"),
        Column("std error"),
        Column("bound"),
        Column("note"),
    )
    title = f"pseudo-regret, {games} games: K={N_ARMS}, T={rounds:,}, gap {GAP:g}"
    return Table(title, columns, tuple(rows), ("wanted of tsallis-inf, at most: 550",))


def _summary(costs: np.ndarray[Any, Any]) -> tuple[float, float | None]:
    spread = float(costs.std(ddof=1)) / math.sqrt(costs.size) if costs.size > 1 else None
    return float(costs.mean()), spread


def _streaming(policy: str, n_arms: int, rounds: int) -> Callable[[], Turn]:
    maker = POLICIES[policy]

    def prepare() -> Turn:
        learner, flips = maker(n_arms, HORIZON, np.random.default_rng(0)), _flips(rounds)
        pull, update, rng = learner.pull, learner.update, np.random.default_rng(1)

        def turn() -> None:
            for flip in flips:
                arm, prob = pull(rng)
                update(arm, flip, prob)

        return turn

    return prepare


def _replaying(policy: str, n_arms: int, rounds: int) -> Callable[[], Turn]:
    def prepare() -> Turn:
        learner = POLICIES[policy](n_arms, HORIZON, np.random.default_rng(0))
        losses = BernoulliArms(np.full(n_arms, 0.5)).losses(1, rounds, np.random.default_rng(2))
        return lambda: learner.run(losses)

    return prepare


def _pymab(n_arms: int, rounds: int) -> Turn:
    return _turn(_pymab_pull(n_arms, HORIZON, 0), rounds)


def _river(n_arms: int, rounds: int) -> Turn:
    return _turn(_river_pull(n_arms, HORIZON, 0), rounds)


def _smpybandits(n_arms: int, rounds: int) -> Turn:
    policy = importlib.import_module(SMPYBANDITS).Exp3(n_arms, gamma=_gamma(n_arms, HORIZON))
    policy.startGame()
    return _turn((policy.choice, policy.getReward), rounds)


def _turn(pair: tuple[Pull, Callable[[Any, float], object]], rounds: int) -> Turn:
    (pull, update), flips = pair, _flips(rounds)

    def turn() -> None:
        for flip in flips:
            update(pull(), flip)

    return turn


def _pymab_pull(n_arms: int, horizon: int, seed: int) -> tuple[Pull, Callable[[Any, float], None]]:
    from pymab.policies import EXP3Policy

    policy, rng = EXP3Policy(n_arms=n_arms, gamma=_gamma(n_arms, horizon)), _rng(seed)

    def update(arm: Any, reward: float) -> None:
        policy.update(action=arm, reward=reward)

    return lambda: policy.select_action(rng=rng), update


def _river_pull(n_arms: int, horizon: int, seed: int) -> tuple[Pull, Callable[[Any, float], None]]:
    from river.bandit import Exp3

    policy, arms = Exp3(gamma=_gamma(n_arms, horizon), seed=seed), list(range(n_arms))
    return lambda: policy.pull(arms), policy.update


def _peer_cost(
    make: Callable[..., Any], environment: BernoulliArms, rounds: int, seed: int
) -> float:
    pull, update = make(environment.n_arms, rounds, seed)
    losses = environment.losses(1, rounds, _rng(seed))
    pulls = np.zeros(environment.n_arms)
    for row in losses:
        arm = pull()
        pulls[arm] += 1
        update(arm, 1.0 - float(row[arm]))
    return float(pulls @ environment.gaps)


def _gamma(n_arms: int, horizon: int) -> float:
    """Return the exploration of the first EXP3 (Auer et al. 2002, Cor. 3.2)."""
    return min(1.0, math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * horizon)))


def _flips(rounds: int) -> list[float]:
    return [float(flip) for flip in _rng(3).integers(0, 2, rounds)]


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
