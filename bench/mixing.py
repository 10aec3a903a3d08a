"""Mixing forecasts: errors on the electricity load beside published algorithms, and time.

The references are written from their formulas (`bench.mixing_references`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.harness import Contestant, Tell, race, silent, why_absent
from bench.mixing_peers import PEERS
from bench.mixing_references import BOA, MLPoly, square_slope, tuned_ewa
from driftgames.core.typing import FloatArray
from driftgames.datasets import MissingDataError, load_electric_load
from driftgames.hedge import LEARNERS, ExpertMixture, best_combination
from driftgames.tables import Column, Row, Table

WEEKS = 520
"""The weeks that the experts are trained on; the rest is predicted."""

ROUNDS, EXPERTS = 10_000, 50
WANTED_TIME = 0.05
"""The time in seconds that this many rounds of this many experts may take."""

SINGLE = 2_000
"""The rounds that are played one at a time."""

WANTED_STEP = 15e-6
"""The time in seconds that one of them may take."""

Mixer = Callable[[FloatArray, FloatArray], FloatArray]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the errors on the electricity load, and the time of a long run."""
    found = []
    try:
        tell("electricity load: training the experts")
        found.append(load_table(tell))
    except MissingDataError as error:
        found.append(Table("electricity load", (Column("skipped"),), ((str(error),),)))
    repeats = 2 if quick else 7
    return [*found, times(repeats, tell), rows(repeats, tell)]


def load_forecasts() -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return five experts' forecasts of the weekly load, the load, and the experts' names.

    Last week's load, and four models of scikit-learn, trained once on the first 520 weeks.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    series = load_electric_load()
    kept = [j for j, name in enumerate(series.feature_names) if name != "Time"]
    features, y = series.features[:, kept], series.target
    models = {
        "linear regression": LinearRegression(),
        "random forest": RandomForestRegressor(100, random_state=0),
        "gradient boosting": HistGradientBoostingRegressor(random_state=0),
        "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
    }
    columns = [series.features[WEEKS:, series.feature_names.index("Load1")]]
    columns += [
        model.fit(features[:WEEKS], y[:WEEKS]).predict(features[WEEKS:])
        for model in models.values()
    ]
    return np.column_stack(columns), y[WEEKS:], ("last week", *models)


def load_table(tell: Tell = silent) -> Table:
    """Return RMSE and MAE of the mixtures, the references, the baselines and the experts."""
    X, y, names = load_forecasts()
    best = best_combination(X, y)
    ours, theirs, fixed = "driftgames", "reference", "fixed"
    rows: list[tuple[str, str, FloatArray]] = [
        ("best convex combination in hindsight", fixed, X @ best.weights),
        ("mean of the experts", fixed, X.mean(axis=1)),
        *((name, "expert", column) for name, column in zip(names, X.T, strict=True)),
    ]
    mixtures = {
        "ExpertMixture()": ExpertMixture(),
        "ExpertMixture(combiners=False)": ExpertMixture(combiners=False),
        'ExpertMixture(learner="adahedge")': ExpertMixture(learner="adahedge"),
        "ExpertMixture(linearise=False)": ExpertMixture(linearise=False),
    }
    wide = (30_000, 90_000)
    for name in sorted(set(LEARNERS) - {"exp", "adahedge"}):
        mixtures[f'outcome_range={wide}, learner="{name}"'] = ExpertMixture("square", wide, name)
    for name, mixture in mixtures.items():
        tell(f"electricity load: {name}")
        rows.append((name, ours, mixture.predict_then_fit(X, y)))
    for name, reference in REFERENCES.items():
        tell(f"electricity load: {name}")
        rows.append((name, theirs, reference(X, y)))
    notes = [
        f"the range given to other learners is {wide}",
        "EWA's learning rate is the best in hindsight of a grid; no other row looks ahead, but "
        "the best convex combination",
        "river and sktime have their defaults, and numbers divided by the deviation of the load",
    ]
    scale = float(y.std())
    for name, (module, peer) in PEERS.items():
        if (why := why_absent((module,))) is not None:
            notes.append(f"{name} skipped: {why}")
            continue
        tell(f"electricity load: {name}")
        rows.append((name, "peer", scale * peer(X / scale, y / scale)))
    errors = [(name, kind, p - y) for name, kind, p in rows]
    found: list[Row] = [
        (name, kind, float(np.sqrt(np.mean(each**2))), float(np.abs(each).mean()))
        for name, kind, each in errors
    ]
    found.sort(key=lambda row: float(str(row[2])))
    columns = (Column("forecast"), Column("kind"), Column("RMSE", ",.0f"), Column("MAE", ",.0f"))
    title = f"weekly electricity load, {y.size} weeks, in megawatts"
    return Table(title, columns, tuple(found), tuple(notes))


def times(repeats: int, tell: Tell = silent) -> Table:
    """Return the time of a long run beside the references, which are loops in NumPy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROUNDS, EXPERTS))
    y = X[:, :5].mean(axis=1) + 0.1 * rng.normal(size=ROUNDS)

    def contestants() -> Iterator[Contestant]:
        for settings in ({}, {"combiners": False}):
            name = f"ExpertMixture({', '.join(f'{k}={v}' for k, v in settings.items())})"
            mixture = partial(ExpertMixture, **settings)  # type: ignore[arg-type]
            yield Contestant(name, lambda mixture=mixture: partial(_mix, mixture, X, y))  # type: ignore[misc]
        for name in ("ML-Poly", "BOA"):
            yield Contestant(name, partial(partial, REFERENCES[name], X, y))

    title = f"{ROUNDS:,} rounds of {EXPERTS} experts, square loss, processor time"
    notes = (f"wanted of ExpertMixture(combiners=False): at most {1000 * WANTED_TIME:g} ms",)
    settings = {"repeats": repeats, "notes": notes, "tell": tell, "clock": time.process_time}
    return race(title, list(contestants()), **settings)  # type: ignore[arg-type]


def rows(repeats: int, tell: Tell = silent) -> Table:
    """Return the time of a round that is predicted and learnt alone, with eight experts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SINGLE, 8))
    y = X[:, :5].mean(axis=1) + 0.1 * rng.normal(size=SINGLE)
    pairs = list(zip(X, y.tolist(), strict=True))

    def steps(**settings: bool) -> Callable[[], object]:
        mixture = ExpertMixture(**settings)  # type: ignore[arg-type]
        mixture.step(*pairs[0])
        return lambda: [mixture.step(x, outcome) for x, outcome in pairs]

    def boa() -> Callable[[], object]:
        reference = BOA(8)
        return lambda: [reference.step(x, outcome, square_slope) for x, outcome in pairs]

    contestants = [
        Contestant("ExpertMixture().step", steps, items=SINGLE),
        Contestant(
            "ExpertMixture(combiners=False).step", lambda: steps(combiners=False), items=SINGLE
        ),
        Contestant("BOA in NumPy", boa, items=SINGLE),
    ]
    title = "one row at a time, 8 experts, square loss, processor time"
    notes = (f"wanted of step: at most {1e6 * WANTED_STEP:g} us",)
    settings = {"repeats": repeats, "notes": notes, "tell": tell, "clock": time.process_time}
    return race(title, contestants, unit="rounds", **settings)  # type: ignore[arg-type]


def _mix(mixture: Callable[[], ExpertMixture], X: FloatArray, y: FloatArray) -> FloatArray:
    return mixture().predict_then_fit(X, y)


def _rmse(y: FloatArray) -> Callable[[FloatArray], float]:
    return lambda p: float(np.mean((p - y) ** 2))


REFERENCES: dict[str, Mixer] = {
    "EWA": lambda X, y: tuned_ewa(X, y, square_slope, _rmse(y)),
    "ML-Poly": lambda X, y: MLPoly(X.shape[1]).play(X, y, square_slope),
    "BOA": lambda X, y: BOA(X.shape[1]).play(X, y, square_slope),
}
"""Algorithms of the R package opera, for square loss."""
