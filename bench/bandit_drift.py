"""Bandits whose arms change or whose losses are late: our policies beside those of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.harness import Tell, silent, why_absent
from driftgames.bandit import BernoulliArms, ThompsonSampling, TsallisINF
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

ARMS, ROUNDS, GAMES, FIRST_SEED = 10, 10_000, 20, 1000
Drawn = npt.NDArray[np.integer[Any]]
Player = Callable[[FloatArray, int], Drawn]
"""``play(losses, seed)`` returns the drawn arms."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the regret to the best arm of every round, and what delays cost."""
    games, rounds = (2, 2_000) if quick else (GAMES, ROUNDS)
    rows = list[Row]()
    absent = why_absent(("pymab",))
    for name, play in {**PLAYERS, **({} if absent else PYMAB)}.items():
        tell(name)
        found = [
            float(np.mean([regret(kind, play, rounds, FIRST_SEED + g) for g in range(games)]))
            for kind in WORLDS
        ]
        rows.append((name, *found))
    columns = (Column("policy"), *(Column(kind, ",.0f") for kind in WORLDS))
    title = f"regret to the best arm of each round: K={ARMS}, T={rounds:,}, {games} games"
    notes = (
        "abrupt: all means are drawn anew every 1,000 rounds; slow: sine waves; walk: random walks "
        "with steps of 0.01; fixed: one arm better by 0.1. SW-UCB, D-UCB and the Thompson "
        "samplings without the name of a library are our own lines, from their formulas. The "
        "settings of ours were chosen on the seeds 0 to 5; these are the seeds from "
        f"{FIRST_SEED} on.",
        *(() if absent is None else (f"pymab: {absent}",)),
    )
    return [Table(title, columns, tuple(rows), notes), delays(games, tell)]


def delays(games: int, tell: Tell) -> Table:
    """Return the pseudo-regret where every loss comes 100 rounds late."""
    arms, rows = BernoulliArms.with_gap(ARMS, 0.1), list[Row]()
    for name, make in LATE.items():
        tell(f"{name}, delayed")
        paid = []
        for game in range(min(games, 10)):
            rng = np.random.default_rng(FIRST_SEED + game)
            late = make(game).run(arms, 10_000, environment_rng=rng, delays=100)
            at_once = make(game).run(
                arms, 10_000, environment_rng=np.random.default_rng(FIRST_SEED + game)
            )
            paid.append((at_once.pseudo_regret, late.pseudo_regret))
        rows.append((name, *np.mean(paid, axis=0).tolist()))
    columns = (Column("policy"), Column("at once", ",.0f"), Column("100 rounds late", ",.0f"))
    return Table(f"late losses: K={ARMS}, T=10,000, gap 0.1", columns, tuple(rows))


def means_of(kind: str, rounds: int, rng: np.random.Generator) -> FloatArray:
    """Return the mean loss of every arm in every round."""
    if kind == "abrupt":
        stretches = rng.random((-(-rounds // 1000), ARMS))
        return np.asarray(np.repeat(stretches, 1000, axis=0)[:rounds])
    if kind == "slow":
        period, phase = ROUNDS / (1 + 2 * rng.random(ARMS)), rng.random(ARMS)
        t = np.arange(rounds)[:, np.newaxis]
        return np.asarray(0.5 + 0.4 * np.sin(2 * np.pi * (t / period + phase)))
    if kind == "walk":
        steps = rng.normal(0, 0.01, (rounds, ARMS)).cumsum(axis=0)
        folded: FloatArray = np.mod(rng.random(ARMS) + steps, 2.0)
        return np.where(folded > 1, 2 - folded, folded)
    means = np.full((rounds, ARMS), 0.5)
    means[:, rng.integers(ARMS)] = 0.4
    return means


WORLDS = ("abrupt", "slow", "walk", "fixed")


def regret(kind: str, play: Player, rounds: int, seed: int) -> float:
    """Return the sum of the gaps of the drawn arms to the best arm of each round."""
    rng = np.random.default_rng(seed)
    means = means_of(kind, rounds, rng)
    losses = (rng.random(means.shape) < means).astype(float)
    drawn = play(losses, seed)
    return float((means[np.arange(rounds), drawn] - means.min(axis=1)).sum())


def ours(make: Callable[..., Any], **settings: Any) -> Player:
    """Return a policy of the library."""

    def play(losses: FloatArray, seed: int) -> Drawn:
        drawn: Drawn = make(ARMS, random_state=seed + 77, **settings).run(losses).drawn
        return drawn

    return play


def thompson(keep: float) -> Player:
    """Return Thompson sampling with Beta priors, whose counts shrink by ``keep`` a round."""

    def play(losses: FloatArray, seed: int) -> Drawn:
        rng = np.random.default_rng(seed + 77)
        lost, won = np.zeros(ARMS), np.zeros(ARMS)
        drawn = np.empty(len(losses), dtype=np.int64)
        for t, row in enumerate(losses):
            arm = drawn[t] = int(np.argmin(rng.beta(1 + lost, 1 + won)))
            lost *= keep
            won *= keep
            lost[arm] += row[arm]
            won[arm] += 1 - row[arm]
        return drawn

    return play


def ucb(window: int | None, keep: float, width: float) -> Player:
    """Return UCB on a sliding window, or with counts that shrink by ``keep`` a round."""

    def play(losses: FloatArray, seed: int) -> Drawn:
        count, lost = np.zeros(ARMS), np.zeros(ARMS)
        drawn = np.empty(len(losses), dtype=np.int64)
        for t, row in enumerate(losses):
            if window is not None and t >= window:
                old = drawn[t - window]
                count[old] -= 1
                lost[old] -= losses[t - window, old]
            total = max(count.sum(), 1.0)
            seen = np.maximum(count, 1e-9)
            index = lost / seen - width * np.sqrt(np.log(total + 1) / seen)
            arm = drawn[t] = int(np.argmin(index))
            count *= keep
            lost *= keep
            count[arm] += 1
            lost[arm] += row[arm]
        return drawn

    return play


def pymab(policy: str, **settings: Any) -> Player:
    """Return a policy of pymab, by the name of its class; its numbers are rewards."""

    def play(losses: FloatArray, seed: int) -> Drawn:
        from pymab import policies

        player = getattr(policies, policy)(n_arms=ARMS, **settings)
        rng = np.random.default_rng(seed + 77)
        drawn = np.empty(len(losses), dtype=np.int64)
        for t, row in enumerate(losses):
            arm = drawn[t] = player.select_action(rng=rng)
            player.update(action=arm, reward=1.0 - float(row[arm]))
        return drawn

    return play


PYMAB: dict[str, Player] = {
    "pymab, SlidingWindowUCB, 500, c 0.5": pymab("SlidingWindowUCBPolicy", window_size=500, c=0.5),
    "pymab, DiscountedUCB, 0.995, c 0.5": pymab(
        "DiscountedUCBPolicy", discount_factor=0.995, c=0.5
    ),
    "pymab, SlidingWindowThompson, 500": pymab(
        "SlidingWindowBernoulliThompsonSamplingPolicy", window_size=500
    ),
    "pymab, DiscountedThompson, 0.998": pymab(
        "DiscountedBernoulliThompsonSamplingPolicy", discount_factor=0.998
    ),
}

PLAYERS: dict[str, Player] = {
    "ThompsonSampling (ours, default)": ours(ThompsonSampling),
    "ThompsonSampling, forget=None (ours)": ours(ThompsonSampling, forget=None),
    "TsallisINF, forget=500 (ours)": ours(TsallisINF, forget=500),
    "TsallisINF (ours)": ours(TsallisINF),
    "Thompson sampling": thompson(1.0),
    "discounted Thompson, 0.995": thompson(0.995),
    "discounted Thompson, 0.998": thompson(0.998),
    "SW-UCB, 500": ucb(500, 1.0, 0.5),
    "SW-UCB, 1,000": ucb(1000, 1.0, 0.5),
    "SW-UCB, 500, half the width": ucb(500, 1.0, 0.25),
    "D-UCB, 0.995": ucb(None, 0.995, 0.5),
}

LATE: dict[str, Callable[[int], Any]] = {
    "ThompsonSampling": lambda seed: ThompsonSampling(ARMS, random_state=seed),
    "ThompsonSampling, forget=None": lambda seed: ThompsonSampling(
        ARMS, forget=None, random_state=seed
    ),
    "TsallisINF": lambda seed: TsallisINF(ARMS, random_state=seed),
    "TsallisINF, adapt_to_delays": lambda seed: TsallisINF(
        ARMS, adapt_to_delays=True, random_state=seed
    ),
}
