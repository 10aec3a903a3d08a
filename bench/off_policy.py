"""Off-policy intervals: how often they cover, and how wide they are, from logs of our policies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bench.harness import Tell, silent
from driftgames.bandit import POLICIES, BernoulliArms, PullLog, TsallisINF, off_policy_value
from driftgames.core.typing import FloatArray
from driftgames.tables import Column, Row, Table

ROUNDS, LOGS, ARMS, DELTA = (300, 2_000), 200, 5, 0.05
FIXED = {"uniform": 1 / ARMS, "1 % for the target": 0.01}
"""Logging policies that learn nothing, and the probability that they give to the target."""

LOGGING = (*FIXED, "exp3-anytime", "tsallis-inf", "thompson")
KINDS = ("fixed arm", "fixed arm, knowing p", "replayed policy", "late losses")
REPLICATIONS = 2_000
"""For the table of coverage, with short logs."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the coverage and the width of five intervals, and the coverage of ours alone."""
    logs = 10 if quick else LOGS
    return [widths(logs, tell), coverage(100 if quick else REPLICATIONS, tell)]


def widths(logs: int, tell: Tell) -> Table:
    """Return coverage and mean width for a target that is not the best arm."""
    rows = list[Row]()
    for name in LOGGING:
        for rounds in ROUNDS:
            tell(f"{name}, {rounds:,} rounds")
            rows.append((name, rounds, *compare(name, rounds, logs)))
    columns = (
        Column("logging policy"),
        Column("rounds", ",d"),
        Column("covered", "%"),
        Column("width", ".3f"),
        Column("distributions cover", "%"),
        Column("distributions", ".3f"),
        Column("knowing p", ".3f"),
        Column("Bernstein", ".3f"),
        Column("to Bernstein", "%"),
        Column("normal covers", "%"),
        Column("normal", ".3f"),
        Column("worth", ",.0f"),
        Column("value off", ".3f"),
        Column("mean of Z off", ".3f"),
    )
    title = f"{logs} logs each, {ARMS} arms, target: always the last arm"
    notes = (
        f"delta is {DELTA:g}; distributions: the log has the probabilities of all arms; knowing p: "
        "least_propensity alone; Bernstein: the empirical Bernstein bound that the library had "
        "before; to Bernstein: the width with distributions over that; normal: mean and 1.96 "
        "standard errors; worth: effective rounds; off: the mean distance to what the target "
        "lost, of the value and of the mean of Z = w * loss",
    )
    return Table(title, columns, tuple(rows), notes)


def compare(name: str, rounds: int, logs: int) -> tuple[float | None, ...]:
    """Return the columns of `widths`."""
    found = []
    for seed in range(logs):
        rng = np.random.default_rng(seed)
        losses = BernoulliArms.with_gap(ARMS, 0.2).losses(1, rounds, rng)
        log = played(name, losses, rng)
        target, truth = {ARMS - 1: 1.0}, losses[:, -1].mean()
        told = off_policy_value(log, target, delta=DELTA)
        del log.columns["distribution"]
        ours = off_policy_value(log, target, delta=DELTA)
        knowing = np.nan
        if name in FIXED:
            known = off_policy_value(log, target, delta=DELTA, least_propensity=FIXED[name])
            knowing = known.high - known.low
        hit = np.array(log.columns["arm"]) == ARMS - 1
        w, x = hit / np.array(log.columns["propensity"]), np.array(log.columns["loss"])
        before = 1 - bernstein(w * (1 - x), DELTA / 2) - bernstein(w * x, DELTA / 2)
        Z = w * x
        half = 1.96 * Z.std() / len(Z) ** 0.5
        widths = [each.high - each.low for each in (ours, told)]
        covers = [each.low <= truth <= each.high for each in (ours, told)]
        normal = abs(Z.mean() - truth) <= half, 2 * half
        pairs = (covers[0], widths[0], covers[1], widths[1])
        off = abs(ours.value - truth), abs(Z.mean() - truth)
        found.append((*pairs, knowing, before, *normal, ours.effective_rounds, *off))
    mean = np.mean(found, axis=0).tolist()
    known_width = None if np.isnan(mean[4]) else mean[4]
    return (*mean[:4], known_width, mean[5], mean[3] / mean[5], *mean[6:])


def bernstein(Z: FloatArray, delta: float) -> float:
    """Return the lower end of the empirical Bernstein interval, with rates of powers of 2."""
    rounds, k = Z.size, np.arange(1, 61)
    before = np.concatenate([[0.0], np.cumsum(Z)[:-1]])
    centre = np.minimum((before + 0.5) / np.arange(1, rounds + 1), 1.0)
    spread, rate = float(((Z - centre) ** 2).sum()), 0.5**k
    psi = np.where(rate < 1e-4, rate**2 / 2 + rate**3 / 3, -np.log1p(-rate) - rate)
    doubt = np.log(k * (k + 1)) - math.log(delta)
    least = float(((doubt + psi * spread) / rate).min())
    return max(0.0, (float(Z.sum()) - least) / rounds)


def coverage(replications: int, tell: Tell) -> Table:
    """Return how often short logs miss, at a large delta, so that misses can be seen."""
    rows = list[Row]()
    for kind in KINDS:
        tell(f"{kind}: {replications:,} replications")
        covered = [
            1 - sum(missing(kind, seed, whole=whole) for seed in range(replications)) / replications
            for whole in (False, True)
        ]
        rows.append((kind, replications, *covered, 0.8))
    columns = (
        Column("target"),
        Column("replications", ",d"),
        Column("covered", "%"),
        Column("with distributions", "%"),
        Column("wanted", "%"),
    )
    return Table(
        "coverage at delta 0.2: 150 rounds, 3 arms, losses that drift", columns, tuple(rows)
    )


def missing(
    kind: str, seed: int, rounds: int = 150, delta: float = 0.2, *, whole: bool = False
) -> bool:
    """Return whether the interval of one log misses what the target loses on average.

    With ``whole`` the log has the probabilities of all arms.
    """
    rng = np.random.default_rng(seed)
    chances = np.full((rounds, 3), 0.5)
    chances[: rounds // 2, 0], chances[rounds // 2 :, 2] = 0.1, 0.1
    losses = (rng.random(chances.shape) < chances).astype(float)
    settings: dict[str, Any] = {"delta": delta}
    log = PullLog(POLICIES["exp3-anytime"](3, None, rng), distributions=whole)
    if kind == "fixed arm, knowing p":
        drawn = rng.integers(3, size=rounds)
        loss = losses[np.arange(rounds), drawn]
        values: tuple[Any, ...] = (
            np.arange(1, rounds + 1),
            drawn,
            np.full(rounds, 1 / 3),
            loss,
        )
        shares = ([[1 / 3] * 3] * rounds,) * whole
        columns = (list(each) for each in (*values, *shares))
        log.columns = dict(zip(log.columns, columns, strict=True))
        settings["least_propensity"] = 1 / 3
    elif kind == "late losses":
        waiting: list[tuple[int, float, float]] = []
        for row in losses:
            arm, prob = log.pull()
            waiting.append((arm, float(row[arm]), prob))
            if len(waiting) > 20:
                log.update(*waiting.pop(0))
        for late in waiting:
            log.update(*late)
    else:
        log.run(losses)
    if kind == "replayed policy":
        target = TsallisINF(3, random_state=0)
        twin, truth = target.copy(), 0.0
        rows = zip(*(log.columns[name] for name in ("arm", "loss", "propensity")), strict=True)
        for row, pull in zip(losses, rows, strict=True):
            truth += float(twin.distribution() @ row) / rounds
            twin.watch(*pull)
        found = off_policy_value(log, target, **settings)
    else:
        found = off_policy_value(log, {0: 0.5, 2: 0.5}, **settings)
        truth = float(losses[:, [0, 2]].mean())
    return not found.low <= truth <= found.high


def played(name: str, losses: FloatArray, rng: np.random.Generator) -> PullLog:
    """Return the log of a policy by name."""
    rounds = len(losses)
    if name in FIXED:
        log, share = PullLog(TsallisINF(ARMS), distributions=True), FIXED[name]
        p = np.append(np.full(ARMS - 1, (1 - share) / (ARMS - 1)), share)
        drawn = rng.choice(ARMS, size=rounds, p=p)
        seen = losses[np.arange(rounds), drawn]
        shares = [p.tolist()] * rounds
        columns: tuple[Any, ...] = (np.arange(1, rounds + 1), drawn, p[drawn], seen, shares)
        log.columns = dict(zip(log.columns, map(list, columns), strict=True))
        return log
    log = PullLog(POLICIES[name](ARMS, None, rng), distributions=True)
    log.run(losses)
    return log
