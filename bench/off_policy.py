"""Off-policy intervals: how often they cover, and how wide they are, from logs of our policies."""

from __future__ import annotations

import numpy as np

from bench.harness import Tell, silent
from driftgames.bandit import POLICIES, BernoulliArms, PullLog, TsallisINF, off_policy_value
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

ROUNDS, LOGS, ARMS, DELTA = (300, 2_000), 200, 5, 0.05
FIXED = {"uniform": 1 / ARMS, "1 % for the target": 0.01}
"""Logging policies that learn nothing, and the probability that they give to the target."""

LOGGING = (*FIXED, "exp3-anytime", "tsallis-inf")


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the coverage and the width of two intervals for the worst arm."""
    logs, rows = 10 if quick else LOGS, list[Row]()
    for name in LOGGING:
        for rounds in ROUNDS:
            tell(f"{name}, {rounds:,} rounds")
            rows.append((name, rounds, *coverage(name, rounds, logs)))
    columns = (
        Column("logging policy"),
        Column("rounds", ",d"),
        Column("covered", "%"),
        Column("width", ".3f"),
        Column("covered, normal", "%"),
        Column("width, normal", ".3f"),
        Column("effective rounds", ",.0f"),
    )
    title = f"{logs} logs each, {ARMS} arms, target: always the last arm"
    return [Table(title, columns, tuple(rows), (f"delta is {DELTA:g}",))]


def coverage(name: str, rounds: int, logs: int) -> tuple[float, ...]:
    """Return coverage and mean width of our interval and of the normal one, and effective rounds.

    The normal interval is the mean and 1.96 standard errors.
    """
    found = []
    for seed in range(logs):
        rng = np.random.default_rng(seed)
        losses = BernoulliArms.with_gap(ARMS, 0.2).losses(1, rounds, rng)
        log = played(name, losses, rng)
        ours, truth = off_policy_value(log, {ARMS - 1: 1.0}, delta=DELTA), losses[:, -1].mean()
        hit = np.array(log.columns["arm"]) == ARMS - 1
        Z = hit * np.array(log.columns["loss"]) / np.array(log.columns["propensity"])
        half = 1.96 * Z.std() / len(Z) ** 0.5
        covers = ours.low <= truth <= ours.high, abs(Z.mean() - truth) <= half
        widths = ours.high - ours.low, 2 * half
        found.append((covers[0], widths[0], covers[1], widths[1], ours.effective_rounds))
    return tuple(np.mean(found, axis=0).tolist())


def played(name: str, losses: FloatArray, rng: np.random.Generator) -> PullLog:
    """Return the log of a policy by name."""
    rounds = len(losses)
    if name in FIXED:
        log, share = PullLog(TsallisINF(ARMS)), FIXED[name]
        p = np.append(np.full(ARMS - 1, (1 - share) / (ARMS - 1)), share)
        drawn = rng.choice(ARMS, size=rounds, p=p)
        columns = np.arange(1, rounds + 1), drawn, p[drawn], losses[np.arange(rounds), drawn]
        log.columns = dict(zip(log.columns, map(list, columns), strict=True))
        return log
    log = PullLog(POLICIES[name](ARMS, None, rng))
    log.run(losses)
    return log
