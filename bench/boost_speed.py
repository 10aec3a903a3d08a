"""What a booster costs beside LightGBM, and the limits it should keep: one row for each.

``python -m bench boost_speed`` fits, predicts and starts, with one thread and with two. The sides
take turns and the best turn counts. The time of the processor stands beside that of the clock; the
clock's ratio is held against the limit. ``--only SECTION`` runs one section of `SECTIONS`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets as bundled

from bench import predict_speed, tree_speed
from bench.boosting import COLUMNS, make_dense
from bench.harness import SKIPPED, Tell, best_clocks, run_python, silent, why_absent
from driftgames import datasets
from driftgames.boosting import NHBoostDTClassifier
from driftgames.datasets import MissingDataError
from driftgames.tables import Cell, Column, Row, Table

ROUNDS = 200
THREADS = (1, 2)
STUMPS = {
    (1_000, 7): 1.0,
    (5_404, 5): 1.0,
    (19_020, 10): 0.7,
    (50_000, 28): 0.4,
    (200_000, 28): 0.4,
}
"""The shape of each made table, and the most of LightGBM's time that a fit may take."""
TREES = {(50_000, 28): 0.5, (200_000, 28): 0.5}
PAPER = {"a9a": 0.5, "w8a": 0.3}
ONE_OR_TWO = (100, 1_000, 10_000, 50_000, 200_000, 1_000_000)
DEFAULT_ROWS = (300, 1_000, 3_000, 10_000, 20_000, 45_000, 60_000, 200_000, 1_000_000)
DEFAULT_SCALING = (20_000, 1 / 1.6)
"""From how many rows on two threads of a default fit may take at most what part of one's time."""
SCALING = {(200_000, "stumps"): 0.6, (200_000, "trees"): 0.62}
"""The most of one thread's time that two may take; elsewhere `NEVER_ABOVE`."""
NEVER_ABOVE = 1.05
CLASSES = {"K + 2": 0.4, "4K": 0.8}
ONE_ROW = 120e-6
FIRST_FIT = {"cold": 6.0, "warm": 0.45}
QUICK_ROWS = 10_000

Fit = Callable[[], Any]
Clocks = tuple[float, float]


def stumps(X: Any, y: Any, *, threads: int) -> Fit:
    """NH-Boost.DT with stumps, and calibrated probabilities."""
    return lambda: NHBoostDTClassifier(ROUNDS, max_leaves=2, n_jobs=threads).fit(X, y)


def trees(X: Any, y: Any, *, threads: int) -> Fit:
    """NH-Boost.DT with trees of eight leaves, not calibrated."""
    return tree_speed.driftgames(X, y, threads=threads, trees=ROUNDS)


def table_of(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    """Return a made table of this shape, always the same."""
    X, y = make_dense(n_rows)
    return np.ascontiguousarray(X[:, :n_columns]), y


def fit_stumps(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return 200 calibrated stumps beside LightGBM's defaults."""
    rows: list[Row] = []
    for (n_rows, n_columns), limit in STUMPS.items():
        if n_rows <= most_rows:
            data = table_of(n_rows, n_columns)
            name = f"{n_rows:,} x {n_columns}"
            rows += _against(name, data, stumps, tree_speed.lightgbm, limit, repeats, tell)
    return _compared(f"{ROUNDS} stumps, calibrated, beside LightGBM's defaults", rows)


def fit_trees(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return 200 plain trees of eight leaves beside LightGBM's."""
    theirs = partial(tree_speed.lightgbm, n_estimators=ROUNDS, num_leaves=tree_speed.LEAVES)
    rows: list[Row] = []
    for (n_rows, n_columns), limit in TREES.items():
        if n_rows <= most_rows:
            data = table_of(n_rows, n_columns)
            name = f"{n_rows:,} x {n_columns}"
            rows += _against(name, data, trees, theirs, limit, repeats, tell)
    notes = []
    for name, limit in PAPER.items():
        try:
            part = datasets.load(name).train
        except MissingDataError as error:
            notes.append(f"{name} {SKIPPED}{error}")
            continue
        rows += _against(name, part, trees, theirs, limit, repeats, tell)
    title = f"{ROUNDS} trees of {tree_speed.LEAVES} leaves, plain, beside LightGBM's"
    return _compared(title, rows, notes)


def scale_threads(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return two threads beside one."""
    rows: list[Row] = []
    for n_rows in (n for n in ONE_OR_TWO if n <= most_rows):
        X, y = make_dense(n_rows)
        for kind, make in (("stumps", stumps), ("trees", trees)):
            fits = {threads: make(X, y, threads=threads) for threads in (1, 2)}
            best = best_clocks(f"{n_rows:,} rows, {kind}", fits, repeats, tell)
            limit = SCALING.get((n_rows, kind), NEVER_ABOVE)
            ratio = best[2][0] / best[1][0]
            rows.append(
                (f"{n_rows:,} x 28", kind, *best[1], *best[2], ratio, limit, _kept(ratio, limit))
            )
    columns = (
        Column("rows"),
        Column("what"),
        *_clocks("one thread"),
        *_clocks("two threads"),
        *_JUDGED,
    )
    return Table(f"{ROUNDS} rounds: two threads beside one", columns, tuple(rows))


def scale_default(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return two threads beside one for a default fit, each in a process of its own."""
    rows: list[Row] = []
    for n_rows in (n for n in DEFAULT_ROWS if n <= most_rows):
        best: dict[int, tuple[float, ...]] = {}
        turns = repeats if n_rows < DEFAULT_SCALING[0] else min(repeats, 2)
        for threads in THREADS * turns:
            tell(f"default fit, {n_rows:,} rows, {threads} threads")
            printed = run_python(_DEFAULT_FIT.format(n_rows=n_rows, threads=threads))
            measured = tuple(float(figure) for figure in printed.split())
            best[threads] = min(best.get(threads, measured), measured)
        one, two = best[1], best[2]
        ratio, memory = two[0] / one[0], max(one[2], two[2]) / (n_rows * COLUMNS * 4)
        limit = DEFAULT_SCALING[1] if n_rows >= DEFAULT_SCALING[0] else NEVER_ABOVE
        judged = ratio, limit, _kept(ratio, limit)
        rows.append((f"{n_rows:,} x {COLUMNS}", *one[:2], *two[:2], *judged, memory))
    columns = (
        Column("rows"),
        *_clocks("one thread"),
        *_clocks("two threads"),
        *_JUDGED,
        Column("memory, tables", ".2f"),
    )
    notes = ("memory is the most beyond the table that a fit is given, as a multiple of the table",)
    return Table("A default fit: two threads beside one", columns, tuple(rows), notes)


def time_classes(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return a round of one tree beside LightGBM's round of a tree for each class."""
    made = bundled.make_classification(
        1_000, 13, n_informative=8, n_classes=11, n_clusters_per_class=1, random_state=0
    )
    sets = {"digits": bundled.load_digits(return_X_y=True), "1,000 x 13 of 11 classes": made}
    rows: list[Row] = []
    for name, (X, y) in sets.items():
        k = int(y.max()) + 1
        sizes = dict(zip(CLASSES, (k + 2, 4 * k), strict=True))
        for threads in THREADS:
            fits: dict[Any, Fit] = {}
            for turns in (2, 2 + ROUNDS // 4):
                for size, leaves in sizes.items():
                    model = NHBoostDTClassifier(
                        turns,
                        max_depth=None,
                        max_leaves=leaves,
                        calibrate=False,
                        n_jobs=threads,
                    )
                    fits[size, turns] = partial(model.fit, X, y)
                if why_absent(("lightgbm",)) is None:
                    fits["LightGBM", turns] = _lightgbm_classes(X, y, turns, k + 2, threads)
            best = best_clocks(f"{name}, {threads} threads", fits, repeats, tell)
            theirs = _per_round(best, "LightGBM")
            for size, limit in CLASSES.items():
                ours = _per_round(best, size)
                rows.append(_judged(f"{name}, {size} leaves", threads, ours, theirs, limit))
    return _compared("A round of several classes beside LightGBM's round of K trees", rows)


def predict(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return predictions of many rows and of one, with one thread."""
    X, y = predict_speed.make("dense")
    rows, one = X[predict_speed.TRAINING :], X[:1]
    train = X[: predict_speed.TRAINING], y[: predict_speed.TRAINING]
    tell("predictions: fitting")
    models = {"ours": tree_speed.driftgames(*train, trees=predict_speed.TREES)()}
    if why_absent(("lightgbm",)) is None:
        sizes = {"n_estimators": predict_speed.TREES, "num_leaves": tree_speed.LEAVES}
        models["LightGBM"] = tree_speed.lightgbm(*train, **sizes)()
    judged: list[Row] = []
    for what, asked, calls, limit in (
        ("a row of many", rows, 1, None),
        ("one row", one, 100, ONE_ROW),
    ):
        asks = {who: partial(_ask, model, asked, calls) for who, model in models.items()}
        best = best_clocks(what, asks, repeats + 1, tell)
        per_row = {who: [t / calls / len(asked) for t in clocks] for who, clocks in best.items()}
        ours, theirs = per_row["ours"], per_row.get("LightGBM")
        ratio = None if theirs is None else ours[0] / theirs[0]
        kept = None if limit is None else _kept(ours[0], limit)
        judged.append((what, *ours, *(theirs or (None, None)), ratio, limit, kept))
    columns = (
        Column("what"),
        *_clocks("ours"),
        *_clocks("LightGBM"),
        Column("ratio", "x"),
        Column("at most", "s"),
        Column("kept"),
    )
    note = "python -m bench.predict_speed --tsv compares a row of many with another version"
    title = (
        f"Probabilities by {predict_speed.TREES:,} trees of {tree_speed.LEAVES} leaves, 1 thread"
    )
    return Table(title, columns, tuple(judged), (note,))


def start(repeats: int, most_rows: int, tell: Tell) -> Table:
    """Return the processor seconds of the first fit of a process, without and with a cache."""
    kinds = {
        "stumps": "max_leaves=2",
        "trees": "max_depth=None, max_leaves=8",
        "five classes": "max_depth=3",
    }
    rows: list[Row] = []
    for kind, settings in kinds.items():
        code = _FIRST_FIT.format(settings=settings, classes=5 if kind == "five classes" else 2)
        taken: dict[str, list[float]] = {cache: [] for cache in FIRST_FIT}
        for _ in range(min(repeats, 2)):
            with tempfile.TemporaryDirectory() as folder:
                for cache, seconds in taken.items():
                    tell(f"first fit in a new process, {kind}, {cache}")
                    printed = run_python(code, variables={"NUMBA_CACHE_DIR": folder})
                    seconds.append(float(printed))
        for cache, limit in FIRST_FIT.items():
            least = min(taken[cache])
            rows.append((kind, cache, least, limit, _kept(least, limit)))
    columns = (
        Column("booster"),
        Column("kernel cache"),
        Column("processor", "s"),
        Column("at most", "s"),
        Column("kept"),
    )
    return Table("The first fit of a process", columns, tuple(rows))


SECTIONS: dict[str, Callable[[int, int, Tell], Table]] = {
    "stumps": fit_stumps,
    "trees": fit_trees,
    "threads": scale_threads,
    "default": scale_default,
    "classes": time_classes,
    "prediction": predict,
    "start": start,
}


def run(*, quick: bool = False, tell: Tell = silent, only: str | None = None) -> list[Table]:
    """Return the table of every section, or of ``only`` one."""
    repeats, most_rows = (2, QUICK_ROWS) if quick else (5, max(ONE_OR_TWO))
    chosen = SECTIONS if only is None else {only: SECTIONS[only]}
    return [section(repeats, most_rows, tell) for section in chosen.values()]


def _against(
    name: str,
    data: Any,
    ours: Callable[..., Fit],
    theirs: Callable[..., Fit],
    limit: float,
    repeats: int,
    tell: Tell,
) -> list[Row]:
    """Return a row for each number of threads."""
    rows = []
    for threads in THREADS:
        fits = {"ours": ours(*data, threads=threads)}
        if why_absent(("lightgbm",)) is None:
            fits["LightGBM"] = theirs(*data, threads=threads)
        best = best_clocks(f"{name}, {threads} threads", fits, repeats, tell)
        rows.append(_judged(name, threads, best["ours"], best.get("LightGBM"), limit))
    return rows


def _ask(model: Any, rows: Any, calls: int) -> None:
    for _ in range(calls):
        model.predict_proba(rows)


def _lightgbm_classes(X: Any, y: Any, turns: int, leaves: int, threads: int) -> Fit:
    import lightgbm as lgb

    model = lgb.LGBMClassifier(n_estimators=turns, num_leaves=leaves, n_jobs=threads, verbose=-1)
    return lambda: model.fit(X, y)


def _per_round(best: Mapping[Any, Clocks], name: str) -> Clocks | None:
    """Return the clocks of a round, from a short and a long fit; None if there are none."""
    lengths = sorted(turns for who, turns in best if who == name)
    if not lengths:
        return None
    short, long = lengths
    (a, b), (c, d) = best[name, short], best[name, long]
    return (c - a) / (long - short), (d - b) / (long - short)


def _judged(
    name: str, threads: int, ours: Clocks | None, theirs: Clocks | None, limit: float
) -> Row:
    assert ours is not None
    if theirs is None:
        return name, threads, *ours, None, None, None, limit, None
    ratio = ours[0] / theirs[0]
    return name, threads, *ours, *theirs, ratio, limit, _kept(ratio, limit)


def _kept(value: float, limit: float) -> Cell:
    return "yes" if value <= limit else "no"


def _clocks(who: str) -> tuple[Column, Column]:
    return Column(who, "s"), Column(f"{who}, processor", "s")


_JUDGED = (Column("ratio", "x"), Column("at most", "x"), Column("kept"))


def _compared(title: str, rows: list[Row], notes: list[str] | None = None) -> Table:
    columns = (
        Column("data"),
        Column("threads"),
        *_clocks("ours"),
        *_clocks("LightGBM"),
        *_JUDGED,
    )
    reason = why_absent(("lightgbm",))
    absent = [] if reason is None else [f"LightGBM {SKIPPED}{reason}"]
    return Table(title, columns, tuple(rows), (*(notes or []), *absent))


_FIRST_FIT = """
import time
import numpy as np
import sklearn.base, sklearn.utils.validation

rng = np.random.default_rng(0)
X = rng.random((5000, 50), dtype=np.float32)
y = np.minimum(np.floor(X[:, :5].sum(axis=1) + rng.random(5000) - 1.0), {classes} - 1)
y = np.maximum(y, 0) if {classes} > 2 else X[:, 0] + X[:, 1] + rng.random(5000) > 1.5
begun = time.process_time()
from driftgames.boosting import NHBoostDTClassifier
NHBoostDTClassifier(n_estimators=5, {settings}).fit(X, y)
print(time.process_time() - begun)
"""

_DEFAULT_FIT = """
import time
from bench.boosting import make_dense
from bench.harness import forget_peak, resident_memory
from driftgames.boosting import NHBoostDTClassifier

X, y = make_dense(2_000)
NHBoostDTClassifier(n_jobs={threads}).fit(X, y)
X, y = make_dense({n_rows})
forget_peak()
held = resident_memory("VmRSS")
begun, wall = time.process_time(), time.perf_counter()
NHBoostDTClassifier(n_jobs={threads}).fit(X, y)
wall, seconds = time.perf_counter() - wall, time.process_time() - begun
print(wall, seconds, resident_memory() - held)
"""
