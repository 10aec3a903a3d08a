"""Mixing forecasts: errors on the electricity load beside published algorithms, and time.

The references are written from their formulas, with losses linearised at their own predictions
and without missing forecasts. ``r_t = g_t (yhat_t - x_t)`` are the regrets of a round, R their sums
and V the sums of their squares.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bench.harness import Contestant, Tell, race, silent, why_absent
from bench.mixing_peers import PEERS
from driftgames.core.typing import FloatArray
from driftgames.datasets import MissingDataError, load_electric_load
from driftgames.hedge import LEARNERS, ExpertMixture, best_combination
from driftgames.tables import Column, Row, Table

WEEKS = 520
"""The weeks that the experts are trained on; the rest is predicted."""

ROUNDS, EXPERTS = 10_000, 50
WANTED_TIME = 0.05
"""The time in seconds that this many rounds of this many experts may take."""

RATES = tuple(2.0**k for k in range(-80, 21))
"""The learning rates that EWA is tuned over, for losses of any size."""

Reference = Callable[[FloatArray, FloatArray], FloatArray]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the errors on the electricity load, and the time of a long run."""
    found = []
    try:
        tell("electricity load: training the experts")
        found.append(load_table(tell))
    except MissingDataError as error:
        found.append(Table("electricity load", (Column("skipped"),), ((str(error),),)))
    return [*found, times(2 if quick else 7, tell)]


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
        yield Contestant("ExpertMixture()", lambda: lambda: ExpertMixture().predict_then_fit(X, y))
        for name in ("ML-Poly", "BOA"):
            yield Contestant(name, partial(partial, REFERENCES[name], X, y))

    title = f"{ROUNDS:,} rounds of {EXPERTS} experts, square loss"
    notes = (f"wanted of ExpertMixture(): at most {1000 * WANTED_TIME:g} ms",)
    return race(title, list(contestants()), repeats=repeats, notes=notes, tell=tell)


def ml_poly(X: FloatArray, y: FloatArray) -> FloatArray:
    r"""ML-Poly with learning rates that follow the scale of the regrets.

    .. math:: p_i \propto \eta_i [R_i]_+, \qquad \eta_i = 1 / (B + V_i), \quad B = \max r^2

    P. Gaillard, G. Stoltz and T. van Erven, "A second-order bound with excess losses", COLT 2014;
    with B as in the package opera.
    """

    def weigh(R: FloatArray, V: FloatArray, largest: FloatArray) -> FloatArray:
        scale = largest.max() ** 2 + V
        return np.asarray(np.maximum(R, 0.0) / np.where(scale > 0, scale, 1.0))

    return _play(X, y, weigh)


def boa(X: FloatArray, y: FloatArray) -> FloatArray:
    r"""Bernstein online aggregation with one learning rate per expert.

    .. math:: p_i \propto \eta_i e^{\eta_i \sum_t (r_{t,i} - \eta_{t,i} r_{t,i}^2)}, \qquad
              \eta_{t,i} = \min\Bigl\{\frac1{2\max_s |r_{s,i}|}, \sqrt{\ln N / V_i}\Bigr\}

    O. Wintenberger, "Optimal learning with Bernstein online aggregation", Machine Learning 106,
    2017.
    """
    n = X.shape[1]
    charged = np.zeros(n)  # the sums of the regrets less their squares
    before = np.zeros((2, n))

    def weigh(R: FloatArray, V: FloatArray, largest: FloatArray) -> FloatArray:
        # an expert whose regrets were all 0 has no learning rate yet, and the weight of the mean
        seen = V > 0
        root = np.sqrt(np.where(seen, V, 1.0) / math.log(n))
        eta = 1.0 / np.maximum(2.0 * np.where(seen, largest, 1.0), root)
        r = R - before[0]
        charged[:] += r - eta * r * r
        before[0] = R
        if not seen.any():
            return np.ones(n)
        exponent = np.where(seen, np.log(eta) + eta * charged, -np.inf)
        w = np.exp(exponent - exponent.max())
        return np.asarray(np.where(seen, w, w[seen].mean()))

    return _play(X, y, weigh)


def ewa(X: FloatArray, y: FloatArray) -> FloatArray:
    r"""Exponential weights, :math:`p_i \propto e^{\eta R_i}`, at the best rate of a grid."""

    def at(rate: float) -> FloatArray:
        return _play(X, y, lambda R, V, largest: np.exp(rate * (R - R.max())))

    return min(map(at, RATES), key=lambda p: float(np.mean((p - y) ** 2)))


REFERENCES: dict[str, Reference] = {"EWA": ewa, "ML-Poly": ml_poly, "BOA": boa}
"""Algorithms of the R package opera, for square loss."""


def _play(
    X: FloatArray,
    y: FloatArray,
    weigh: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    """Return the predictions of weights that follow from R, V and the largest regrets."""
    n = X.shape[1]
    R, V, largest, predictions = np.zeros(n), np.zeros(n), np.zeros(n), np.empty(len(y))
    for t, (row, outcome) in enumerate(zip(X, y, strict=True)):
        w = weigh(R, V, largest)
        p = w / w.sum() if w.sum() > 0 else np.full(n, 1.0 / n)
        predictions[t] = p @ row
        r = 2.0 * (predictions[t] - outcome) * (predictions[t] - row)
        R = R + r
        V = V + r * r
        largest = np.maximum(largest, np.abs(r))
    return predictions
