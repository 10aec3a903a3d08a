"""Learning from expert advice: time per round against the peers, and regrets side by side."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from bench.harness import Contestant, Tell, race, side_by_side, silent
from driftgames.core.typing import FloatArray
from driftgames.hedge import LEARNERS
from driftgames.hedge.rounds.expert_learner import ExpertLearner
from driftgames.tables import Column, Table

SIZES = (10, 1_000, 100_000, 1_000_000)
QUICK_SIZES = (10, 1_000, 20_000)

WANTED: dict[str, dict[str, float]] = {
    "wanted of update, at most": {
        "N=10": 5e-6,
        "N=1,000": 6e-6,
        "N=100,000": 300e-6,
        "N=1,000,000": 4e-3,
    },
    "wanted of run(L), at most": {
        "N=10": 150e-9,
        "N=1,000": 3e-6,
        "N=100,000": 300e-6,
        "N=1,000,000": 4e-3,
    },
}
"""Goals for NormalHedge.DT and EXP, in seconds per round."""

SKTIME = "sktime.forecasting.online_learning"
ETA = 0.1
OFTEN = 2_000  # rounds or experts that a peer with Python code per expert handles in one turn

N_EXPERTS, ROUNDS = 1_000, 3_000
JUST_TOLD = math.sqrt(math.log(N_EXPERTS) / ROUNDS)
"""The gap at which these rounds just suffice to tell one good expert from luck."""
GAPS = (JUST_TOLD, 0.1, 0.2, 0.4)

Turn = Callable[[], object]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the times per round, the same as ratios, and the regrets side by side."""
    sizes, cells, repeats = (QUICK_SIZES, 10**5, 2) if quick else (SIZES, 10**7, 7)
    races = {
        f"N={n:,}": race(
            f"N={n:,}", list(contestants(n, cells)), repeats=repeats, unit="rounds", tell=tell
        )
        for n in sizes
    }
    return [*tables(races), regrets(seeds=2 if quick else 10, tell=tell)]


def contestants(n: int, cells: int) -> Iterator[Contestant]:
    """Yield the contestants with ``n`` experts; a turn has about ``cells`` losses."""
    many = min(max(cells // n, 5), 10**6)
    few = min(many, 10 * OFTEN)
    for name, maker in _ours().items():
        yield Contestant(f"update, {name}", _updates(maker, n, few), items=few)
    for name, maker in _ours().items():
        yield Contestant(f"run(L), {name}", _runs(maker, n, many), items=many)
    yield Contestant("NumPy EXP", lambda: _numpy_exp(_losses(n, few)), items=few)
    yield Contestant(
        "PyOL Hedge-FTRL", lambda: _pyol(_losses(n, few)), requires=("pyol",), items=few
    )
    if n <= 100_000:  # Python code per expert: beyond, a round takes seconds
        rare = max(1, OFTEN // n)
        yield Contestant(
            "river EWARegressor", lambda: _river(n, rare), requires=("river",), items=rare
        )
        yield Contestant(
            "sktime NormalHedgeEnsemble",
            lambda: _sktime(_losses(n, rare)),
            requires=(SKTIME,),
            items=rare,
        )


def tables(races: dict[str, Table]) -> list[Table]:
    """Return seconds per round, and ratios to our update, a column for each number of experts."""
    return [
        side_by_side("time per round", races, "rounds/s", "s", inverse=True, wanted=WANTED),
        side_by_side("times as long as our update with NormalHedge.DT", races, "to ours", "x"),
    ]


def regrets(*, gaps: Sequence[float] = GAPS, seeds: int = 10, tell: Tell = silent) -> Table:
    """Return the regret of every learner when one expert among many is better than a coin.

    The losses of the others are fair coins; the good one loses less often by the gap. EXP is
    tuned to the numbers of rounds and experts. The learning rates of AdaNormalHedge and Squint
    are bounded, so they do not gain as much from a wide gap as NormalHedge and AdaHedge, which
    begin by following the leader.
    """
    makers = _ours()
    found: dict[str, list[float]] = {name: [] for name in makers}
    for gap in gaps:
        games = [one_good_expert(N_EXPERTS, ROUNDS, gap, seed) for seed in range(seeds)]
        for name, maker in makers.items():
            tell(f"one good expert, gap {gap:g}: {name}")
            found[name].append(float(np.mean([_regret(maker, losses) for losses in games])))
    least = [min(each) for each in zip(*found.values(), strict=True)]
    times = {
        name: ", ".join(f"{own / best:.2f}x" for own, best in zip(found[name], least, strict=True))
        for name in ("AdaNormalHedge", "Squint")
    }
    return Table(
        f"regret, one good expert among {N_EXPERTS:,}, T = {ROUNDS:,}",
        (Column("learner"), *(Column(f"gap {gap:.2g}") for gap in gaps)),
        tuple((name, *found[name]) for name in sorted(makers, key=lambda name: found[name])),
        (
            f"means over {seeds} games; the good one loses less often than a coin by the gap",
            *(f"{name}: {ratios} the best of them" for name, ratios in times.items()),
        ),
    )


def _regret(maker: Callable[..., ExpertLearner], losses: FloatArray) -> float:
    learner = maker(losses.shape[1])
    learner.run(losses, progress=False)
    return learner.learner_loss - float(learner.action_losses.min())


def one_good_expert(n_experts: int, rounds: int, gap: float, seed: int) -> FloatArray:
    """Return 0-1 losses; expert 0 loses with probability ``1/2 - gap``, all others with 1/2."""
    rng = np.random.default_rng(seed)
    chances = np.full(n_experts, 0.5)
    chances[0] -= gap
    return (rng.random((rounds, n_experts)) < chances).astype(np.float64)


def _ours() -> dict[str, Callable[..., ExpertLearner]]:
    """Every learner by its title; NormalHedge.DT, which the others are compared to, is first."""
    makers = {name: partial(maker, horizon=ROUNDS) for name, maker in LEARNERS.items()}
    return {maker(2).title: maker for maker in makers.values()}


def _losses(n: int, rounds: int) -> FloatArray:
    return np.random.default_rng(0).random((rounds, n))


def _updates(maker: Callable[..., ExpertLearner], n: int, rounds: int) -> Callable[[], Turn]:
    def prepare() -> Turn:
        learner, rows = maker(n), list(_losses(n, rounds))

        def turn() -> None:
            for row in rows:
                learner.update(row)

        return turn

    return prepare


def _runs(maker: Callable[..., ExpertLearner], n: int, rounds: int) -> Callable[[], Turn]:
    def prepare() -> Turn:
        learner, losses = maker(n), _losses(n, rounds)
        return lambda: learner.run(losses, progress=False)

    return prepare


def _numpy_exp(losses: FloatArray) -> Turn:
    """Exponential weights in plain NumPy, relative to the best expert."""
    cumulative, rows = np.zeros(losses.shape[1]), list(losses)

    def turn() -> None:
        for row in rows:
            weights = np.exp(-ETA * (cumulative - cumulative.min()))
            p = weights / weights.sum()
            float(p @ row)
            np.add(cumulative, row, out=cumulative)

    return turn


def _pyol(losses: FloatArray) -> Turn:
    pyol = importlib.import_module("pyol")
    learner, rows = pyol.EntropyOptimisticFTRL(losses.shape[1]), list(losses)

    def turn() -> None:
        for row in rows:
            float(learner.get_x() @ row)
            learner.update(row)

    return turn


def _river(n: int, rounds: int) -> Turn:
    from river import base, ensemble

    class Constant(base.Regressor):  # type: ignore[misc]
        """The cheapest expert: the ensemble is timed."""

        def __init__(self, value: float) -> None:
            self.value = value

        def learn_one(self, x: dict[str, float], y: float) -> None:
            """Learn nothing."""

        def predict_one(self, x: dict[str, float]) -> float:
            return self.value

    values = np.random.default_rng(0).random(n).tolist()
    model = ensemble.EWARegressor([Constant(value) for value in values], learning_rate=ETA)

    def turn() -> None:
        for _ in range(rounds):
            model.learn_predict_one({}, 0.5)

    return turn


def _sktime(losses: FloatArray) -> Turn:
    sktime = importlib.import_module(SKTIME)

    def loss(outcome: list[float], prediction: list[float]) -> float:
        return abs(outcome[0] - prediction[0])

    columns = [np.ascontiguousarray(row[:, None]) for row in losses]
    ensemble = sktime.NormalHedgeEnsemble(n_estimators=losses.shape[1], loss_func=loss)

    def turn() -> None:
        for column in columns:
            ensemble.update(column, [0.0])

    return turn
