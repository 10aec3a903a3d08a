"""Trees of eight leaves against LightGBM's: the tables of times in docs/choosing.md.

``python -m bench.tree_speed`` fits 200 trees of eight leaves, binning included, on a9a, w8a and
1,000,000 rows of 28 continuous features, with one thread and with two. The contestants take turns,
and the best turn of each counts. The time of the processor is shown beside that of the clock,
because other programs on the machine do not change it much. ``--figure OUT.svg`` draws the time per
tree against the share of examples that weigh zero.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bench.boosting import first_fit, make_dense
from bench.harness import Tell, best_clocks, best_of, peak_memory, silent, why_absent
from driftgames import datasets
from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.data.binned_data import BinnedData, bin_examples
from driftgames.boosting.engine.binned_trees import TreeLearner
from driftgames.boosting.engine.rules import PotentialRule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.cli._output import console
from driftgames.plots import save_figure
from driftgames.plots.style import new_axes, with_styles
from driftgames.potentials import NormalHedgeDT
from driftgames.tables import Column, Row, Table, draw_table

TREES = 200
LEAVES = 8
NOISE = (0.0, 0.05, 0.1, 0.2, 0.4)
"""The shares of flipped labels in the figure: the cleaner the labels, the more weights are zero."""


def driftgames(X: Any, y: Any, *, threads: int = 1, trees: int = TREES) -> Callable[[], Any]:
    """NH-Boost.DT with trees of eight leaves."""
    model = NHBoostDTClassifier(
        trees, max_depth=None, max_leaves=LEAVES, calibrate=False, n_jobs=threads
    )
    return lambda: model.fit(X, y)


def lightgbm(X: Any, y: Any, *, threads: int = 1, **settings: Any) -> Callable[[], Any]:
    """LightGBM with its defaults but for the settings given."""
    import lightgbm as lgb

    labels = np.asarray(y) > 0
    model = lgb.LGBMClassifier(n_jobs=threads, verbose=-1, **settings)
    return lambda: model.fit(X, labels)


def fit(name: str, X: Any, y: Any, repeats: int, tell: Tell) -> Table:
    """Return the race on one set, with one thread and with two."""
    fits: dict[tuple[str, int], Callable[[], Any]] = {}
    for threads in (1, 2):
        fits["driftgames", threads] = driftgames(X, y, threads=threads)
        if why_absent(("lightgbm",)) is None:
            sizes = {"n_estimators": TREES, "num_leaves": LEAVES}
            fits["LightGBM", threads] = lightgbm(X, y, threads=threads, **sizes)
    driftgames(X, y, trees=1)()  # compile
    best = best_clocks(f"{name}: {TREES} trees", fits, repeats, tell)
    rows: list[Row] = []
    for (who, threads), (clock, processor) in best.items():
        ours, one = best["driftgames", threads], best[who, 1]
        ratios = clock / ours[0], processor / ours[1], one[0] / clock
        rows.append((who, threads, clock, processor, *ratios))
    columns = (
        Column("contestant"),
        Column("threads"),
        Column("best", "s"),
        Column("processor", "s"),
        Column("to ours", "x"),
        Column("processor to ours", "x"),
        Column("one thread to it", "x"),
    )
    return Table(
        f"{name}: {TREES} trees of {LEAVES} leaves, binning included", columns, tuple(rows)
    )


def time_to_error(name: str, data: Any, repeats: int, tell: Tell) -> Table:
    """Return how long it takes us to reach the test error of LightGBM's defaults."""
    title = f"{name}: time to the test error of LightGBM's defaults, 1 thread"
    columns = (
        Column("contestant"),
        Column("trees"),
        Column("test error", "%"),
        Column("best", "s"),
        Column("to ours", "x"),
    )
    if (reason := why_absent(("lightgbm",))) is not None:
        return Table(title, columns, (), (f"skipped: {reason}",))
    (X, y), (X_test, y_test) = data.train, data.test
    tell(title)
    train = lightgbm(X, y)
    wanted = float(np.mean(train().predict(X_test) != (y_test > 0)))
    theirs = best_of(train, repeats=repeats)
    stages = driftgames(X, y, trees=1000)().staged_predict(X_test)
    errors = [float(np.mean(stage != y_test)) for stage in stages]
    reached = [t for t, error in enumerate(errors, start=1) if error <= wanted]
    trees = reached[0] if reached else int(np.argmin(errors)) + 1
    ours = best_of(driftgames(X, y, trees=trees), repeats=repeats)
    rows = (
        ("driftgames", trees, errors[trees - 1], ours, 1.0),
        ("LightGBM", 100, wanted, theirs, theirs / ours),
    )
    notes = ["ours is the first tree at or below that error, found on the test part itself"]
    if not reached:
        notes = ["not reached in 1,000 trees; our best is shown"]
    return Table(title, columns, rows, tuple(notes))


def memory(n_rows: int, tell: Tell) -> Table:
    """Return the peak memory of a process that bins and fits, in one thread."""
    made = f"from bench import tree_speed as b\nX, y = b.make_dense({n_rows})"
    settings = f"n_estimators=20, num_leaves={LEAVES}"
    peaks = {"the data alone": peak_memory(made)}
    tell("peak memory")
    peaks["driftgames"] = peak_memory(f"{made}\nb.driftgames(X, y, trees=20)()")
    if why_absent(("lightgbm",)) is None:
        peaks["LightGBM"] = peak_memory(f"{made}\nb.lightgbm(X, y, {settings})()")
    ours = peaks["driftgames"]
    rows = tuple((name, peak, ours / peak) for name, peak in peaks.items())
    columns = (Column("process"), Column("peak", "B"), Column("ours to it", "x"))
    return Table(f"{n_rows:,} x 28 dense: peak memory of 20 trees, 1 thread", columns, rows)


def ignored(n_rows: int = 100_000, repeats: int = 3) -> dict[float, Any]:
    """Return the share of zero weights and the seconds of every tree, by the share of noise.

    The same trees are grown several times, and the best time of each counts.
    """
    measured = {}
    for noise in NOISE:
        X, y = make_dense(n_rows, noise=noise)
        binned = bin_examples(X, y > 0, np.ones(n_rows, dtype=np.int64), 255)
        turns = np.array([_time_trees(binned) for _ in range(repeats)])
        measured[noise] = turns.min(axis=0)
    return measured


def _time_trees(binned: BinnedData) -> list[tuple[float, float]]:
    """Return the share of zero weights before each tree, and how long it took."""
    learner = TreeLearner(binned, TreeShape(None, LEAVES), binned.sample_weights)
    game = PotentialRule(NormalHedgeDT()).begin(learner, TREES)
    rounds, zeros = [], 0.0
    for _ in range(TREES):
        begun = time.process_time()
        played = game.play(1)
        rounds.append((zeros, time.process_time() - begun))
        zeros = played[0].zero_fraction
    return rounds


def draw_ignored(measured: Mapping[float, Any], path: Path) -> None:
    """Draw the time per tree against the share of ignored examples."""
    figure, axes = new_axes()
    named = ((f"{noise:.0%} of labels flipped", rounds) for noise, rounds in measured.items())
    for _, rounds, style in with_styles(named):
        zeros, seconds = rounds.T
        look = {"label": style["label"], "color": style["color"]}
        axes.plot(100 * zeros, 1000 * seconds, ".", markersize=4, **look)
    axes.set(xlabel="examples of weight zero (%)", ylabel="time per tree (ms)", ylim=(0, None))
    axes.legend(frameon=False)
    save_figure(figure, path)


def run(*, n_rows: int = 1_000_000, repeats: int = 5, tell: Tell = silent) -> list[Table]:
    """Return all tables."""
    tables = []
    for name in ("a9a", "w8a"):
        data = datasets.load(name)
        tables.append(fit(name, *data.train, repeats, tell))
        tables.append(time_to_error(name, data, repeats, tell))
    tables.append(fit(f"{n_rows:,} x 28 dense", *make_dense(n_rows), max(repeats // 2, 1), tell))
    tables.append(memory(n_rows, tell))
    settings = f"max_depth=None, max_leaves={LEAVES}"
    tables.append(first_fit(1, tell, settings=settings, limits={"cold": 8.0, "warm": 0.5}))
    return tables


def main(
    figure: Annotated[Path | None, typer.Option(help="Draw the figure to this file only.")] = None,
    rows: Annotated[int, typer.Option(help="Rows of the dense set.")] = 1_000_000,
    repeats: Annotated[int, typer.Option(help="Turns of each contestant.")] = 5,
) -> None:
    """Print the tables, or draw the figure."""
    if figure is not None:
        draw_ignored(ignored(), figure)
        return
    with console().status("") as status:
        tables = run(n_rows=rows, repeats=repeats, tell=status.update)
    for table in tables:
        console().print(draw_table(table))


if __name__ == "__main__":
    typer.run(main)
