"""Bandits with contexts: the regret of our policies beside those of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.contextual_peers import PEERS
from bench.harness import Tell, silent, why_absent
from driftgames.bandit import Exp4, SquareCB, ThompsonSampling, TsallisINF
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

ARMS, FEATURES, ROUNDS, GAMES = 10, 5, 10_000, 10
PEER_GAMES = 4  # MABWiser takes ten seconds for a game
Drawn = npt.NDArray[np.integer[Any]]
Player = Callable[[FloatArray, FloatArray, int], Drawn]
"""``play(contexts, losses, seed)`` returns the drawn arms."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the regret to the best linear policy, a line per player."""
    games, rounds = (2, 2_000) if quick else (GAMES, ROUNDS)
    rows = list[Row]()
    absent = list[str]()
    for name, play in PLAYERS.items():
        rows.append(row_of(name, play, rounds, games, tell))
    for name, (module, play) in PEERS.items():
        if (why := why_absent((module,))) is None:
            rows.append(row_of(name, play, rounds, min(games, PEER_GAMES), tell))
        else:
            absent.append(f"{name}: {why}")
    columns = (
        Column("player"),
        Column("games"),
        Column("linear", ",.0f"),
        Column("std error", ",.0f"),
        Column("curved", ",.0f"),
        Column("quiet", ",.0f"),
    )
    title = f"regret to the best arm of each context: K={ARMS}, d={FEATURES}, T={rounds:,}"
    notes = (
        "linear: losses are coins whose means are linear in the context; curved: a sigmoid of "
        "three times as much; quiet: linear means, and normal noise of deviation 0.1. "
        "LinUCB, LinTS and epsilon-greedy without the name of a library are our own lines, from "
        "their formulas. All players meet the same games, from the first on.",
        *absent,
    )
    return [Table(title, columns, tuple(rows), notes)]


KINDS = ("linear", "curved", "quiet")


def row_of(name: str, play: Player, rounds: int, games: int, tell: Tell) -> Row:
    """Return the mean regrets of a player, and the standard error of the first."""
    tell(name)
    found = {kind: [regret(kind, play, rounds, seed) for seed in range(games)] for kind in KINDS}
    error = float(np.std(found["linear"], ddof=1)) / games**0.5
    linear, *others = (float(np.mean(found[kind])) for kind in KINDS)
    return (name, games, linear, error, *others)


def market(kind: str, rounds: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return contexts, mean losses and losses."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, FEATURES))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    theta = rng.normal(size=(FEATURES, ARMS))
    theta /= np.linalg.norm(theta, axis=0)
    score = X @ theta
    means = 1 / (1 + np.exp(-6 * score)) if kind == "curved" else 0.5 + 0.5 * score
    if kind == "quiet":
        return X, means, np.clip(means + 0.1 * rng.normal(size=means.shape), 0.0, 1.0)
    return X, means, (rng.random(means.shape) < means).astype(float)


def regret(kind: str, play: Player, rounds: int, seed: int) -> float:
    """Return the sum of the gaps of the drawn arms."""
    X, means, losses = market(kind, rounds, seed)
    drawn = play(X, losses, seed)
    return float((means[np.arange(rounds), drawn] - means.min(axis=1)).sum())


def square(**settings: Any) -> Player:
    """Return our SquareCB."""

    def play(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
        policy = SquareCB(ARMS, n_features=FEATURES, random_state=seed, **settings)
        return policy.run(X, losses).drawn

    return play


def linear(kind: str, alpha: float) -> Player:
    """Return LinUCB, LinTS or epsilon-greedy with a ridge regression for each arm."""

    def play(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
        rng = np.random.default_rng(seed)
        Z = np.column_stack([X, np.ones(len(X))])
        d = Z.shape[1]
        P, b = np.tile(np.eye(d), (ARMS, 1, 1)), np.zeros((ARMS, d))
        drawn = np.empty(len(X), dtype=np.int64)
        for t, x in enumerate(Z):
            Px = P @ x
            mean, spread = np.einsum("ad,ad->a", Px, b), np.sqrt(Px @ x)
            if kind == "ucb":
                arm = int(np.argmin(mean - alpha * spread))
            elif kind == "ts":
                arm = int(np.argmin(mean + alpha * spread * rng.normal(size=ARMS)))
            else:
                arm = int(rng.integers(ARMS) if rng.random() < alpha else np.argmin(mean))
            drawn[t] = arm
            P[arm] -= np.outer(Px[arm], Px[arm]) / (1 + Px[arm] @ x)
            b[arm] += (losses[t, arm] - 0.5) * x
        return drawn

    return play


def blind(make: Callable[..., Any]) -> Player:
    """Return a policy that ignores the contexts."""

    def play(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
        drawn: Drawn = make(ARMS, random_state=seed).run(losses).drawn
        return drawn

    return play


def mixture(X: FloatArray, losses: FloatArray, seed: int) -> Drawn:
    """Play EXP4 over two SquareCBs and a policy without contexts, which all watch."""
    experts: list[Any] = [
        SquareCB(ARMS, n_features=FEATURES, random_state=seed),
        SquareCB(ARMS, n_features=FEATURES, model="logistic", random_state=seed),
        ThompsonSampling(ARMS, resolution=32, random_state=seed),
    ]
    policy = Exp4(ARMS, experts=len(experts), random_state=seed)
    drawn = np.empty(len(X), dtype=np.int64)
    for t, x in enumerate(X):
        advice = np.stack(
            [*(each.distribution(x) for each in experts[:2]), experts[2].distribution()]
        )
        arm, prob = policy.pull(advice)
        loss = float(losses[t, arm])
        policy.update(arm, loss, prob, advice)
        for each in experts[:2]:
            each.watch(arm, loss, prob, x)
        experts[2].watch(arm, loss, prob)
        drawn[t] = arm
    return drawn


PLAYERS: dict[str, Player] = {
    "SquareCB, ridge": square(),
    "SquareCB, ridge, no optimism": square(optimism=0.0, greed=10.0),
    "SquareCB, ridge, greed 1 (the bound's)": square(optimism=0.0, greed=1.0),
    "SquareCB, logistic": square(model="logistic"),
    "EXP4 over both and Thompson": mixture,
    "LinUCB, alpha 1": linear("ucb", 1.0),
    "LinUCB, alpha 0.5": linear("ucb", 0.5),
    "LinTS, alpha 0.5": linear("ts", 0.5),
    "epsilon-greedy, 0.05": linear("greedy", 0.05),
    "Tsallis-INF, no contexts": blind(TsallisINF),
}
