"""Tracking: losses whose best action changes, and the electricity load."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.harness import Tell, silent
from bench.mixing import load_forecasts
from driftgames.certificates import IntervalCertificate
from driftgames.core.typing import FloatArray
from driftgames.datasets import MissingDataError
from driftgames.hedge import LEARNERS, AdaNormalHedgeTV, ExpertLearner, ExpertMixture, FixedShare
from driftgames.tables import Column, Row, Table

ROUNDS, ACTIONS, PIECES = 6_000, 10, 6
SHARES = tuple(10.0**-k for k in range(1, 6))
RATES = tuple(2.0**k for k in range(-6, 3))
RANGE = (30_000, 90_000)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the regret on losses that change, and the errors on the electricity load."""
    rounds = ROUNDS // 10 if quick else ROUNDS
    found = [changes(rounds, tell)]
    try:
        tell("electricity load: training the experts")
        found.append(load_table(tell))
    except MissingDataError as error:
        found.append(Table("electricity load", (Column("skipped"),), ((str(error),),)))
    return found


def change_points(rounds: int, seed: int = 0) -> FloatArray:
    """Return losses of 0 or 1: each piece has an action that errs in 3 of 10 rounds, not 5."""
    rng = np.random.default_rng(seed)
    chances = np.full((rounds, ACTIONS), 0.5)
    for k, piece in enumerate(np.array_split(np.arange(rounds), PIECES)):
        chances[piece, (3 * k) % ACTIONS] = 0.3
    return np.where(rng.random(chances.shape) < chances, 1.0, 0.0)


def learners(rounds: int, losses: FloatArray) -> Iterator[tuple[str, ExpertLearner]]:
    """Yield the learners of the table by name; Fixed Share also with the best parameters."""
    named = "normalhedge.dt", "adanormalhedge", "adahedge", "squint", "boa"
    for name in (*named, "adanormalhedge.tv", "ada-fixed-share"):
        learner = LEARNERS[name](ACTIONS)
        yield learner.title, learner
    yield "Fixed Share, tuned to the horizon", LEARNERS["fixed-share"](ACTIONS, rounds)
    tuned = min(
        ((rate, share) for rate in RATES for share in SHARES),
        key=lambda each: float(_fixed(*each).run(losses, progress=False).learner_losses.sum()),
    )
    yield f"Fixed Share, best in hindsight (rate {tuned[0]:g}, share {tuned[1]:g})", _fixed(*tuned)


def changes(rounds: int, tell: Tell = silent) -> Table:
    """Return the regret to the best action of every piece, and that of the worst interval."""
    losses = change_points(rounds)
    pieces = np.array_split(losses, PIECES)
    best = sum(float(piece.sum(axis=0).min()) for piece in pieces)
    promise = AdaNormalHedgeTV(ACTIONS)
    rows: list[Row] = []
    for name, learner in learners(rounds, losses):
        tell(f"changes: {name}")
        own = learner.run(losses, progress=False).learner_losses
        certificate = IntervalCertificate.of_run(
            name, own, losses, lambda r, s: promise.interval_bound(r, s, 1 / ACTIONS)
        )
        worst = certificate.largest
        rows.append(
            (name, float(own.sum()) - best, worst.realised, f"{worst.first} to {worst.last}")
        )
    columns = (
        Column("learner"),
        Column("regret to the pieces' best", ",.0f"),
        Column("largest regret of an interval", ",.0f"),
        Column("its rounds"),
    )
    title = f"{rounds:,} rounds, {ACTIONS} actions, the best one changes {PIECES - 1} times"
    return Table(title, columns, tuple(rows), ("Fixed Share's last row looks ahead",))


def load_table(tell: Tell = silent) -> Table:
    """Return RMSE of mixtures on the load; Fixed Share must be given a range."""
    X, y, _ = load_forecasts()
    mixtures: dict[str, Callable[[], ExpertMixture]] = {
        "ExpertMixture()": ExpertMixture,
        "ExpertMixture(tracking=True)": partial(ExpertMixture, tracking=True),
        **{
            f'learner="{name}"': partial(ExpertMixture, learner=name)
            for name in ("adanormalhedge", "adanormalhedge.tv")
        },
        f'outcome_range={RANGE}, learner="fixed-share"': partial(
            ExpertMixture, "square", RANGE, "fixed-share"
        ),
    }
    rows: list[Row] = []
    for name, make in mixtures.items():
        tell(f"electricity load: {name}")
        errors = make().predict_then_fit(X, y) - y
        halves = [math.sqrt(float(np.mean(part**2))) for part in np.array_split(errors, 2)]
        rows.append((name, math.sqrt(float(np.mean(errors**2))), *halves))
    columns = (
        Column("mixture"),
        *(Column(name, ",.0f") for name in ("RMSE", "first half", "second half")),
    )
    title = f"weekly electricity load, {y.size} weeks, in megawatts"
    return Table(title, columns, tuple(rows))


def _fixed(rate: float, share: float) -> FixedShare:
    return FixedShare(ACTIONS, rate=rate, share=share)
