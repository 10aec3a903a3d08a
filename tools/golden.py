"""Digests of long runs, which must be the same on every machine.

``python tools/golden.py`` prints the digest of every case as JSON; ``--write`` stores them in
``tests/golden.json``, and ``--only WORD`` keeps the cases whose name has the word. A test
recomputes them for other processors, without NumPy's newer instructions, with another BLAS core
and with other numbers of threads.

Inputs are uniform numbers and integers, which NumPy's generators give alike on every machine.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from driftgames import certificates, games, hedge, oco, portfolio, potentials
from driftgames.bandit import POLICIES, Exp4, SquareCB
from driftgames.boosting import BOOSTERS, NHBoostDTRegressor, NoEdgeWarning
from driftgames.hedge.named_learners import all_learners
from driftgames.online_boosting import ONLINE_BOOSTERS

STORED = Path(__file__).parents[1] / "tests" / "golden.json"

Case = Callable[[], Iterator[Any]]


def digest(parts: Iterator[Any]) -> str:
    """Return a digest of arrays, numbers and texts."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, str | bytes):
            found.update(part if isinstance(part, bytes) else part.encode())
        else:
            found.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
    return found.hexdigest()[:24]


def learner(name: str, n: int, **settings: Any) -> Case:
    """Return a long game of a Hedge learner on losses that turn from one action to another."""

    def play() -> Iterator[Any]:
        rounds = 400
        rng = np.random.default_rng(n)
        L = rng.random((rounds, n)) * rng.random((rounds, 1))
        L[: rounds // 2, 0] *= 0.5
        L[rounds // 2 :, n - 1] *= 0.25
        if name == "drawn":
            player: Any = hedge.RandomizedHedge(n, random_state=1, **settings)
        else:
            player = all_learners()[name](n, horizon=rounds, **settings)
        run = player.run(L, distributions=True, progress=False)
        yield from (run.learner_losses, run.regret_over_time, run.distributions, player.positions)

    return play


def policy(name: str) -> Case:
    """Return a long game of a bandit policy, once as a replay and once pull by pull."""

    def play() -> Iterator[Any]:
        n, rounds = 13, 3000
        L = np.random.default_rng(2).random((rounds, n)) * (0.5 + 0.5 * np.arange(n) / n)
        replayed = POLICIES[name](n, rounds, np.random.default_rng(3))
        run = replayed.run(L)
        yield from (run.drawn, run.learner_totals, run.arm_totals)
        policy = POLICIES[name](n, rounds, np.random.default_rng(4))
        rng = np.random.default_rng(5)
        for row in L[:1000]:
            arm, probability = policy.pull(rng)
            policy.update(arm, row[arm], probability)
            yield probability
        yield policy.distribution()

    return play


def contextual(make: Callable[[], Any]) -> Case:
    """Return a game of a policy that sees contexts, or advice."""

    def play() -> Iterator[Any]:
        policy, rounds = make(), 1500
        rng = np.random.default_rng(7)
        contexts = rng.random((rounds, *policy.context_shape))
        if contexts.ndim == 3:  # advice sums to 1 over the arms
            contexts[:, :, -1] = 1.0
            contexts[:, :, :-1] /= 16.0
            contexts[:, :, -1] -= contexts[:, :, :-1].sum(axis=2)
        losses = rng.random((rounds, policy.n_arms)) * (0.5 + 0.5 * rng.random(policy.n_arms))
        run = policy.run(contexts, losses)
        yield from (run.drawn, run.learner_totals, policy.distribution(contexts[0]))

    return play


def strategy(make: Callable[[], Any]) -> Case:
    """Return a market that a portfolio strategy trades in."""

    def trade() -> Iterator[Any]:
        trader = make()
        relatives = 0.8 + 0.4 * np.random.default_rng(6).random((300, trader.n_assets))
        run = trader.run(relatives)
        yield from (run.portfolios, run.log_wealth)

    return trade


def continuous(domain: Any, integration: Any, n: int, *, log_wealth: bool = False) -> Case:
    """Return a game over a convex set, of squared distances or of log-wealth."""

    def play() -> Iterator[Any]:
        loss_range = (-1.0, 1.0) if log_wealth else (0.0, 1.0)
        learner = oco.ContinuousHedge(domain, integration=integration, loss_range=loss_range)
        rng = np.random.default_rng(7)
        for _ in range(100):
            drawn = rng.random(n)
            if log_wealth:
                learner.update(oco.LogWealthLoss(0.5 + drawn))
            else:
                learner.update(oco.QuadraticLoss.to_target(0.25 + 0.5 * drawn, 1.0 / n))
            yield learner.predict()

    return play


def coin_betting(domain: Any) -> Case:
    """Return a game of coin betting over a convex set."""

    def play() -> Iterator[Any]:
        learner = oco.CoinBetting(domain)
        rng = np.random.default_rng(8)
        n = domain.n_coordinates
        for _ in range(300):
            learner.update(oco.LinearLoss((2.0 * rng.random(n) - 1.0) / n))
            yield learner.predict()

    return play


def mixture(loss: str, asleep: float = 0.0, experts: int = 9, **settings: Any) -> Case:
    """Return forecasts that a mixture combines."""

    def play() -> Iterator[Any]:
        rng = np.random.default_rng(9)
        X = 0.01 + 0.98 * rng.random((500, experts))
        y = (X[:, 0] > 0.5) * 1.0 if loss == "log" else 0.5 * X[:, 0] + 0.5 * X[:, 1]
        if "learner" in settings:
            settings["outcome_range"] = (0.0, 1.0)
        if asleep:
            X[:, 1:][rng.random((500, 8)) < asleep] = np.nan
            y = 0.7 * X[:, 0] + 0.1
        mixed = hedge.ExpertMixture(loss, outside="nearest", **settings)
        yield mixed.predict_then_fit(X, y)
        yield mixed.weights_

    return play


def series() -> Iterator[Any]:
    """Mix forecasts of three series whose outcomes come one round late."""
    rng = np.random.default_rng(13)
    X = rng.random((300, 5))
    y, by = 0.5 * X[:, 0] + 0.5 * X[:, 1], (np.arange(300) % 3).tolist()
    yield hedge.SeriesMixture(delay=1).predict_then_fit(X, y, by=by)


def confidence(**settings: Any) -> Case:
    """Return values whose mean is bounded by betting, weighted and in a range that grows."""

    def bet() -> Iterator[Any]:
        rng = np.random.default_rng(12)
        found = certificates.ConfidenceSequence(**settings)
        run = found.run(rng.random(400), 0.25 + 0.75 * rng.random(400))
        found.grow(-1.0, 2.0)
        found.update(3.0 * rng.random(100) - 1.0)
        yield from (run.low, run.high, found.low, found.high, found.log_wealth(0.4))

    return bet


def mean_intervals() -> Iterator[Any]:
    """Yield intervals for the means of samples, and of coins from their counts."""
    rng = np.random.default_rng(13)
    for n in (1, 20, 300):
        for x in (rng.random(n), (rng.random(n) < 0.1) * 1.0, 0.4 + 0.1 * rng.random(n)):
            yield from certificates.mean_interval(x, weights=0.5 + 0.5 * rng.random(n))[:3]
            yield from certificates.mean_interval(x, any_order=True)[:3]
        for k in (0, n // 3, n):
            yield from certificates.coin_interval(k, n)[:3]
    yield from certificates.coin_interval(1234, 50_000, 0.01, side="upper")[:3]


def intervals(signed: bool = False, **settings: Any) -> Case:
    """Return outcomes that intervals are put around."""

    def play() -> Iterator[Any]:
        rng = np.random.default_rng(12)
        outcomes = (rng.random(400) - 0.5) * (1.0 + 2.0 * (np.arange(400) > 200))
        make = hedge.SignedIntervals if signed else hedge.AdaptiveIntervals
        made: Any = make(**settings)
        run = made.run(np.zeros(400), outcomes)
        yield from (run.low, run.high, made.levels)
        if not signed:
            yield made.pinball_losses

    return play


def online_booster(name: str) -> Case:
    """Return a stream of predictions that an online booster weighs."""

    def play() -> Iterator[Any]:
        made = ONLINE_BOOSTERS[name](13, 0.1)
        rng = np.random.default_rng(13)
        for right in rng.random((500, 13)) < 0.5 + 0.3 * rng.random(13):
            h = np.where(right, 1.0, -1.0)
            yield from (made.vote(h), made.update(h, 1))
        yield made.certificate().promised

    return play


def booster(model: Any, *, weighted: bool = False, n_classes: int = 2, n: int = 1500) -> Case:
    """Return a table that a booster is fitted to, with ties, gaps and overlapping classes."""

    def fit() -> Iterator[Any]:
        rng = np.random.default_rng(10)
        X = rng.random((n, 6))
        X[:, 1] = np.floor(8.0 * X[:, 1])
        score = X[:, 0] + X[:, 1] / 8.0 + X[:, 2] * X[:, 3] + 0.5 * rng.random(n)
        y = score > 1.45 if n_classes == 2 else np.minimum(np.floor(2.0 * score), n_classes - 1)
        X[rng.random(X.shape) < 0.05] = np.nan
        weights = 1.0 / (1.0 + np.arange(n)) if weighted else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoEdgeWarning)
            model.fit(X, y, sample_weight=weights)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.set_params(n_jobs=None).save(path)  # the file names the threads
            yield path.read_bytes()
        yield model.decision_function(X)

    return fit


def regressor(model: Any) -> Case:
    """Return a table of numbers that a regressor is fitted to, with ties, gaps and heavy tails."""

    def fit() -> Iterator[Any]:
        rng = np.random.default_rng(14)
        X = rng.random((700, 5))
        X[:, 1] = np.floor(8.0 * X[:, 1])
        noise = rng.random(700) - 0.5
        y = X[:, 0] * X[:, 1] + X[:, 2] + noise * X[:, 3] / (0.02 + rng.random(700))
        X[rng.random(X.shape) < 0.05] = np.nan
        model.fit(X, y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            model.set_params(n_jobs=None).save(path)  # the file names the threads
            yield path.read_bytes()
        yield from (model.predict(X), model.predict_interval(X), model.predict_quantiles(X, 0.5))

    return fit


def game(potential: Any, adversary: Any) -> Case:
    """Return a drifting game that is played round by round."""

    def play() -> Iterator[Any]:
        record = games.play(
            games.PotentialPlayer(potential),
            adversary,
            n_chips=9,
            horizon=60,
            observers={"weights": games.weights, "positions": games.positions},
            rng=11,
            show_progress=False,
        )
        yield from record.seen.values()

    return play


def cases() -> dict[str, Case]:
    """Return every case by name."""
    found: dict[str, Case] = {}
    for name in (*hedge.LEARNERS, "drawn"):
        found[f"hedge, {name}"] = learner(name, 1003)
        found[f"hedge, {name}, few actions"] = learner(name, 7)
    found["hedge, two-experts"] = learner("two-experts", 2)
    for name in ("normalhedge.dt", "adanormalhedge"):  # one of each kind of loop
        prior = np.arange(21.0) / 210.0
        found[f"hedge, {name}, prior"] = learner(name, 21, prior=prior, loss_range=(-1, 2))
        found[f"hedge, {name}, float32"] = learner(name, 21, dtype=np.float32)
    for name in ("adanormalhedge", "adanormalhedge.tv", "adahedge", "ada-fixed-share", "boa"):
        found[f"hedge, {name}, any size"] = learner(name, 21, loss_range=None)
    for loss in ("square", "absolute", "pinball", "log"):
        found[f"mixture, {loss}"] = mixture(loss)
        found[f"mixture, {loss}, not linearised"] = mixture(loss, linearise=False)
    found["mixture, square, sleeping experts"] = mixture("square", asleep=0.3)
    found["mixture, square, many experts"] = mixture("square", experts=50)
    found["mixture, square, no combiners"] = mixture("square", combiners=False)
    found["mixture, square, tracking"] = mixture("square", tracking=True, asleep=0.3)
    found["mixture, square, adahedge"] = mixture("square", learner="adahedge")
    found["mixture, square, normalhedge.dt"] = mixture("square", learner="normalhedge.dt")
    found["mixture of series"] = series
    found["confidence"] = confidence(side="upper")
    found["confidence, both"] = confidence()
    found["confidence, drifting"] = confidence(drifting=True, tuned_for=50)
    found["mean intervals"] = mean_intervals
    found["intervals, dtaci"] = intervals()
    found["intervals, dtaci, fixed-share"] = intervals(learner="fixed-share", window=None)
    found["intervals, signed"] = intervals(signed=True, window=30)
    found["intervals, agaci"] = intervals(method="agaci", coverage=0.8)
    for name in POLICIES:
        found[f"bandit, {name}"] = policy(name)
    square = partial(SquareCB, 5, n_features=4, random_state=1)
    found["bandit, squarecb"] = contextual(square)
    found["bandit, squarecb, logistic"] = contextual(partial(square, model="logistic"))
    found["bandit, exp4"] = contextual(partial(Exp4, 5, experts=6, random_state=1))
    limited = partial(portfolio.LimitedPortfolio, 7, of="pamr", max_share=0.3, max_turnover=0.5)
    found["portfolio, limited"] = strategy(limited)
    smaller: dict[str, Any] = {
        "universal": {"n_points": 256},
        "normalhedge.dt": {"n_points": 128, "span": 1.0},
    }
    for name, make in portfolio.STRATEGIES.items():
        settings = smaller.get(name, {})
        found[f"portfolio, {name}"] = strategy(partial(make, 7, **settings))
        found[f"portfolio, {name}, costs"] = strategy(partial(make, 7, cost=0.001, **settings))
    found["portfolio, universal, two assets"] = strategy(partial(portfolio.UniversalPortfolio, 2))
    found["oco, grid"] = continuous(oco.Box([0, 0], [1, 1]), oco.Grid(33), 2)
    found["oco, points"] = continuous(oco.Box([0] * 4, [1] * 4), oco.Points(512), 4)
    found["oco, points of a simplex"] = continuous(oco.Simplex(4), oco.Points(512), 4)
    matched = oco.Points(512, matched=True)
    found["oco, matched points"] = continuous(oco.Simplex(7), matched, 7)
    found["oco, log-wealth"] = continuous(oco.Simplex(7), matched, 7, log_wealth=True)
    found["oco, coin betting"] = coin_betting(oco.Box([0] * 20, [1] * 20))
    found["oco, coin betting, simplex"] = coin_betting(oco.Simplex(20))
    found["oco, coin betting, ball"] = coin_betting(oco.Ball([0] * 20))
    settings: dict[str, dict[str, Any]] = {
        "boost-by-majority": {"n_estimators": 51, "edge": 0.1},
        "potential boost": {"potential": potentials.TwoNorm()},
    }
    for name, kind in BOOSTERS.items():
        usual = {"n_estimators": 50, "max_depth": 1, "n_jobs": _threads()}
        model = kind(**{**usual, **settings.get(name, {})})
        found[f"boosting, {name}"] = booster(model)
        found[f"boosting, {name}, weights"] = booster(model, weighted=True)
    default = partial(BOOSTERS["nh-boost.dt"], n_jobs=_threads())
    found["default booster"] = booster(default())
    found["default booster, weights"] = booster(default(), weighted=True)
    found["default booster, three classes"] = booster(default(), n_classes=3)
    found["default booster, categories"] = booster(default(categorical_features=[1]))
    found["default booster, scouted"] = booster(default(), n=4000)
    found["default booster, many examples and pairs"] = booster(default(), n=50_000)
    found["default regressor"] = regressor(NHBoostDTRegressor(n_jobs=_threads()))
    for name in ("nh-boost.dt", "adaboost"):  # one booster of each kind of weights
        grown = partial(BOOSTERS[name], n_estimators=20, n_jobs=_threads())
        found[f"tree boosting, {name}"] = booster(grown(max_depth=3))
        settled = {"max_leaves": 6, "min_samples_leaf": 5, "criterion": "kearns-mansour"}
        model = grown(max_depth=None, **settled)
        found[f"tree boosting, {name}, weights"] = booster(model, weighted=True)
        model = grown(n_estimators=8, max_depth=2)
        found[f"boosting of five classes, {name}"] = booster(model, n_classes=5)
    for name, make_potential in potentials.POTENTIALS.items():
        potential = make_potential(60, 0.1)
        found[f"game, {name}, greedy"] = game(potential, games.GreedyAdversary(potential))
        found[f"game, {name}, random"] = game(potential, games.RandomAdversary())
        found[f"game, {name}, coins"] = game(potential, games.StochasticAdversary())
    for name in ONLINE_BOOSTERS:
        found[f"online boosting, {name}"] = online_booster(name)
    return found


def _threads() -> int:
    return int(os.environ.get("DRIFTGAMES_GOLDEN_THREADS", "1"))


def main() -> None:
    """Print or store the digests."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"store them in {STORED.name}")
    parser.add_argument("--only", default="", help="keep the cases whose name has this word")
    arguments = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if arguments.only in name}
    if not chosen:
        parser.error(f"no case has {arguments.only!r} in its name")
    gc.set_threshold(50_000)  # compilers make many objects and little garbage
    digests = {name: digest(case()) for name, case in chosen.items()}
    text = json.dumps(digests, indent=1)
    if arguments.write:
        kept = json.loads(STORED.read_text()) if arguments.only and STORED.exists() else {}
        STORED.write_text(json.dumps({**kept, **digests}, indent=1) + "\n")
    else:
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
