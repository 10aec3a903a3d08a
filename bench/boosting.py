"""Stump boosting against the libraries that people boost with now.

Every library fits 200 rounds of stumps (trees of two leaves), in one thread where the title does
not say otherwise, on data in memory in the form that the library is fastest on. Peers do nothing
else: no early stopping, no validation, no interactions.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bench import peers
from bench.harness import (
    Contestant,
    Tell,
    best_of,
    peak_memory,
    race,
    run_python,
    silent,
    why_absent,
)
from driftgames.tables import Column, Row, Table

ROUNDS = 200
BINS = 64
COLUMNS = 28
_FIRST_FIT_LIMITS = {"cold": 6.0, "warm": 1.0}
MOST_ROUNDS = 3000
"""How long we go on after the test error that LightGBM reaches in `ROUNDS`."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return all tables; ``quick`` takes less data and fewer turns."""
    rows, repeats = (50_000, 2) if quick else (1_000_000, 5)
    wanted = {"a9a": (6.0, 70.0)} if quick else {"a9a": (6.0, 70.0), "w8a": (12.0, 80.0)}
    tables = []
    for name, ratios in wanted.items():
        data = _paper_set(name)
        if isinstance(data, str):
            tables.append(Table(f"{name}: not measured", (Column("why"),), ((data,),)))
            continue
        tables.append(fit_sparse(name, data.train, *ratios, repeats, tell))
        tables.append(time_to_error(name, data, repeats, tell))
        tables.append(predict(f"{name}, test part", data.train, data.test.X, repeats, tell))
    dense = make_dense(rows)
    tables += [fit_dense(*dense, threads, min(repeats, 3), tell) for threads in (1, 2)]
    tables.append(predict(f"{rows:,} x {COLUMNS} dense", dense, dense[0], repeats, tell))
    del dense
    tables.append(memory(rows, tell))
    tables.append(nonzero_weights(min(rows, 100_000), repeats, tell))
    tables.append(first_fit(1 if quick else 4, tell))
    return tables


def make_dense(
    n_rows: int, *, noise: float = 0.1, seed: int = 0
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
    """Return a table of continuous float32 features and labels, a share of them flipped.

    The labels follow steps, slopes and waves of half the features, which no single stump
    gives away and a sum of stumps can follow.

    >>> X, y = make_dense(100)
    >>> X.shape, X.dtype, np.unique(y).tolist()
    ((100, 28), dtype('float32'), [-1, 1])
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    signal = np.zeros(n_rows, dtype=np.float32)
    for j in range(COLUMNS // 2):  # column by column, to avoid a large temporary array
        x = X[:, j]
        signal += (x, np.sign(x - 0.5), np.sin(2 * x))[j % 3] / (1 + j / 4)
    y = np.where(signal > 0, 1, -1).astype(np.int8)
    y[rng.random(n_rows, dtype=np.float32) < noise] *= -1
    return X, y


def fit_sparse(
    name: str,
    part: Any,
    against_lightgbm: float,
    against_adaboost: float,
    repeats: int,
    tell: Tell,
) -> Table:
    """Return the race on one of the paper's sets of binary features."""
    X, y = part
    entrant = partial(Contestant, items=ROUNDS * X.shape[0])
    entrants = [
        entrant("driftgames", lambda: peers.driftgames(X, y, ROUNDS)),
        entrant(
            "LightGBM, binned before",
            lambda: peers.lightgbm(X, y, ROUNDS, binned=True),
            requires=("lightgbm",),
            wanted=against_lightgbm,
            note="its own Dataset, made untimed",
        ),
        entrant(
            "LightGBM",
            lambda: peers.lightgbm(X, y, ROUNDS),
            requires=("lightgbm",),
            wanted=against_lightgbm,
        ),
        entrant("XGBoost", lambda: peers.xgboost(X, y, ROUNDS), requires=("xgboost",)),
        entrant(
            "HistGradientBoosting",
            lambda: peers.hist_gradient_boosting(X, y, ROUNDS),
            note="dense: it takes no sparse data",
        ),
        entrant(
            "AdaBoost (scikit-learn)",
            lambda: peers.adaboost(X, y, ROUNDS),
            wanted=against_adaboost,
            note="sparse or dense: the faster in a trial",
        ),
        _ebm(X, y),
    ]
    title = f"{name}: fit {ROUNDS} rounds, {X.shape[0]:,} x {X.shape[1]} sparse, 1 thread"
    return race(title, entrants, repeats=repeats, tell=tell, notes=_SETTINGS)


def fit_dense(X: Any, y: Any, threads: int, repeats: int, tell: Tell) -> Table:
    """Return the race on continuous features; all bin them within the measured time."""
    entrant = partial(Contestant, items=ROUNDS * X.shape[0])
    options: dict[str, Any] = {"threads": threads, "bins": BINS}
    entrants = [
        entrant("driftgames", lambda: peers.driftgames(X, y, ROUNDS, **options)),
        entrant(
            "LightGBM",
            lambda: peers.lightgbm(X, y, ROUNDS, **options),
            requires=("lightgbm",),
            wanted=3.0,
        ),
        entrant("XGBoost", lambda: peers.xgboost(X, y, ROUNDS, **options), requires=("xgboost",)),
        entrant(
            "HistGradientBoosting", lambda: peers.hist_gradient_boosting(X, y, ROUNDS, **options)
        ),
        _ebm(X, y, share=10, **options),
    ]
    title = (
        f"{X.shape[0]:,} x {X.shape[1]} dense float32: bin to {BINS} and fit {ROUNDS} rounds, "
        f"{threads} thread{'s' * (threads > 1)}"
    )
    return race(title, entrants, repeats=repeats, tell=tell, notes=_SETTINGS)


def time_to_error(name: str, data: Any, repeats: int, tell: Tell) -> Table:
    """Return how long it takes us to reach the test error that LightGBM has after 200 rounds."""
    columns = (
        Column("contestant"),
        Column("rounds"),
        Column("test error", "%"),
        Column("best", "s"),
        Column("to ours", "x"),
    )
    title = f"{name}: time to the test error of LightGBM's {ROUNDS} stumps"
    reason = why_absent(("lightgbm",))
    if reason is not None:
        return Table(title, columns, (), (f"skipped: {reason}",))
    (X, y), (X_test, y_test) = data.train, data.test
    tell(title)
    train = peers.lightgbm(X, y, ROUNDS)
    wanted = float(np.mean((train().predict(X_test) > 0.5) != (y_test > 0)))
    theirs = best_of(train, repeats=repeats)
    model: Any = peers.driftgames(X, y, MOST_ROUNDS)()
    errors = [float(np.mean(stage != y_test)) for stage in model.staged_predict(X_test)]
    reached = [t for t, error in enumerate(errors, start=1) if error <= wanted]
    rounds = reached[0] if reached else int(np.argmin(errors)) + 1
    ours = best_of(peers.driftgames(X, y, rounds), repeats=repeats)
    rows = (
        ("driftgames", rounds, errors[rounds - 1], ours, 1.0),
        ("LightGBM", ROUNDS, wanted, theirs, theirs / ours),
    )
    notes = ["ours is the first round at or below that error, found on the test part itself"]
    if not reached:
        notes = [f"not reached in {MOST_ROUNDS:,} rounds; our best is shown"]
    if name == "w8a":
        notes.append("every test row of w8a is also a training row: this error is a training error")
    return Table(title, columns, rows, tuple(notes))


def predict(title: str, train: Any, X: Any, repeats: int, tell: Tell) -> Table:
    """Return the race of decision functions after 200 rounds."""
    n_rows = X.shape[0]
    fitted_on = (train[0][:100_000], train[1][:100_000])

    def ours() -> Callable[[], object]:
        model: Any = peers.driftgames(*fitted_on, ROUNDS)()
        return lambda: model.decision_function(X)

    def lightgbm() -> Callable[[], object]:
        model = peers.lightgbm(*fitted_on, ROUNDS)()
        return lambda: model.predict(X, raw_score=True, num_threads=1)

    entrants = [
        Contestant("driftgames", ours, items=n_rows),
        Contestant("LightGBM", lightgbm, requires=("lightgbm",), items=n_rows),
    ]
    title = f"{title}: predict {n_rows:,} rows with {ROUNDS} stumps, 1 thread"
    return race(title, entrants, repeats=repeats, unit="rows", tell=tell)


def memory(n_rows: int, tell: Tell) -> Table:
    """Return the peak memory of a process that fits the dense table."""
    made = f"from bench import boosting as b, peers\nX, y = b.make_dense({n_rows})"
    columns = (
        Column("process"),
        Column("peak", "B"),
        Column("beyond data", "B"),
        Column("ours to it", "x"),
        Column("at most", "x"),
    )
    title = f"{n_rows:,} x {COLUMNS} dense: peak memory of binning and fitting, 1 thread"
    data = peak_memory(made)
    rows: list[Row] = [("the data alone", data, 0, None, None)]
    ours = 0
    for name, options, most in (
        ("driftgames", "", None),
        ("lightgbm", ", ways=('force_col_wise',)", 1.5),  # the way that needs less memory
        ("xgboost", "", None),
    ):
        tell(f"{title}: {name}")
        if why_absent(() if name == "driftgames" else (name,)) is None:
            peak = peak_memory(f"{made}\npeers.{name}(X, y, {ROUNDS}, bins={BINS}{options})()")
            ours = ours or peak
            rows.append((name, peak, peak - data, ours / peak, most))
    return Table(title, columns, tuple(rows))


def nonzero_weights(n_rows: int, repeats: int, tell: Tell) -> Table:
    """Return the time per round where labels are cleaner and more examples are ignored."""
    rows = []
    for noise in (0.0, 0.05, 0.1, 0.2, 0.4):
        tell(f"time per round with {noise:.0%} of labels flipped")
        X, y = make_dense(n_rows, noise=noise)
        fit = peers.driftgames(X, y, ROUNDS, bins=BINS)
        model: Any = fit()
        once = best_of(peers.driftgames(X, y, 1, bins=BINS), repeats=repeats)
        per_round = (best_of(fit, repeats=repeats) - once) / (ROUNDS - 1)
        nonzero = 1.0 - float(np.mean(model.history_["zero_fraction"]))
        rows.append((f"{noise:.0%}", nonzero, per_round))
    columns = (Column("labels flipped"), Column("nonzero weights", "%"), Column("per round", "s"))
    title = f"{n_rows:,} x {COLUMNS} dense: time per round by the fraction of nonzero weights"
    return Table(title, columns, tuple(rows))


def first_fit(
    repeats: int,
    tell: Tell,
    *,
    settings: str = "",
    limits: Mapping[str, float] = _FIRST_FIT_LIMITS,
) -> Table:
    """Return what the first fit of a process costs beyond the second, with these settings."""
    columns = (
        Column("kernel cache"),
        Column("import", "s"),
        Column("first fit", "s"),
        Column("second fit", "s"),
        Column("overhead", "s"),
        Column("at most", "s"),
    )
    rows: list[Row] = []
    for kind in ("dense", "sparse"):
        code = _FIRST_FIT.format(sparse=kind == "sparse", rounds=ROUNDS, settings=settings)
        taken: dict[str, list[tuple[float, ...]]] = {"cold": [], "warm": []}
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                for cache, found in taken.items():
                    tell(f"first fit in a new process, {kind}, {cache} cache")
                    printed = run_python(code, variables={"NUMBA_CACHE_DIR": folder})
                    found.append(tuple(float(word) for word in printed.split()))
        for cache, most in limits.items():
            imported, first, second = min(taken[cache], key=lambda each: each[1] - each[2])
            rows.append((f"{cache}, {kind}", imported, first, second, first - second, most))
    title = "A new process: what the first fit costs beyond the second"
    return Table(title, columns, tuple(rows))


_SETTINGS = (
    "LightGBM num_leaves=2; XGBoost hist, max_depth=1; HistGradientBoosting",
    "max_leaf_nodes=2; EBM interactions=0, max_leaves=2, one outer bag: it visits",
    "every feature in each round and is compared by the time per stump and row.",
)

_FIRST_FIT = """
import time
import numpy as np
import scipy.sparse
import sklearn.base, sklearn.utils.validation

rng = np.random.default_rng(0)
X = rng.random((5000, 50), dtype=np.float32)
y = np.where(X[:, :5].sum(axis=1) + rng.random(5000) > 3, 1, -1)
if {sparse}:
    X = scipy.sparse.csr_matrix(X > 0.8, dtype=np.float32)
clock = [time.perf_counter()]
from driftgames.boosting import NHBoostDTClassifier
clock.append(time.perf_counter())
for _ in range(2):
    NHBoostDTClassifier(n_estimators={rounds}, {settings}).fit(X, y)
    clock.append(time.perf_counter())
print(*np.diff(clock))
"""


def _ebm(X: Any, y: Any, *, share: int = 1, threads: int = 1, bins: int = 255) -> Contestant:
    """Return EBM, which is slow, on one of ``share`` rows."""
    rows, labels = X[::share], y[::share]
    cycles = math.ceil(ROUNDS / X.shape[1])
    part = "" if share == 1 else f", 1/{share} of the rows"
    return Contestant(
        "EBM (interpret)",
        lambda: peers.ebm(rows, labels, cycles, threads=threads, bins=bins),
        requires=("interpret",),
        items=cycles * X.shape[1] * rows.shape[0],
        note=f"{cycles} rounds of {X.shape[1]} stumps{part}",
    )


def _paper_set(name: str) -> Any:
    """Return one of the paper's sets, or the reason why it was not found."""
    from driftgames.datasets import load
    from driftgames.datasets.files import DataError

    try:
        return load(name)
    except DataError as error:
        return str(error)
