"""Data beyond memory and beyond one machine: the figures of docs/scale.md.

``python -m bench.scale make FOLDER`` writes 10,000,000 x 100 examples as parquet files.
``python -m bench.scale batches FOLDER`` fits them with `fit_batches` and prints the largest
resident memory and the time of a round. ``python -m bench.scale lightgbm FOLDER --rows N`` does the
same with LightGBM on the first N rows in memory, in 64-bit numbers as it takes them, or in 32-bit.
``python -m bench scale`` races 1,000,000 x 28 on two workers against ``lightgbm.dask`` and
``xgboost.dask``.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bench.boosting import make_dense
from bench.harness import Contestant, Tell, race, silent
from driftgames.cli._output import console
from driftgames.tables import Column, Table, draw_table

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)

Folder = Annotated[Path, typer.Argument(help="The folder of the parquet files.")]
Rounds = Annotated[int, typer.Option(help="How many rounds to play.")]

_FILE_ROWS = 500_000
_GROUP_ROWS = 65_536


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return the races on a Dask cluster of two workers of one thread."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    n_rows, rounds = (20_000, 20) if quick else (1_000_000, 200)
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        return [
            on_cluster(client, n_rows, rounds, leaves, 1 if quick else 3, tell) for leaves in (2, 8)
        ]


def on_cluster(
    client: Any, n_rows: int, rounds: int, leaves: int, repeats: int, tell: Tell
) -> Table:
    """Return the race on one cluster: data on the workers, binning included."""
    import dask.array as da

    X, y = make_dense(n_rows)
    rows = n_rows // 4
    data = client.persist([da.from_array(X, chunks=(rows, 28)), da.from_array(y > 0, chunks=rows)])
    depth = {2: 1, 8: 3}[leaves]
    reports: list[Any] = []

    def ours() -> Any:
        from driftgames.dask import DaskNHBoostDTClassifier

        def fit() -> None:
            settings: dict[str, Any] = {
                "max_depth": depth,
                "max_bins": 64,
                "calibrate": False,
            }
            model = DaskNHBoostDTClassifier(rounds, client=client, **settings)
            reports.append(model.fit(*data).exchange_)

        return fit

    def lightgbm_dask() -> Any:
        import lightgbm.dask as lgb

        settings = {"n_estimators": rounds, "num_leaves": leaves, "max_bin": 63, "verbose": -1}
        return lambda: lgb.DaskLGBMClassifier(client=client, n_jobs=1, **settings).fit(*data)

    def xgboost_dask() -> Any:
        import xgboost.dask as xgb

        settings = {"max_depth": depth, "max_bin": 64, "tree_method": "hist", "nthread": 1}

        def fit() -> None:
            matrix = xgb.DaskDMatrix(client, *data)
            xgb.train(client, {"objective": "binary:logistic", **settings}, matrix, rounds)

        return fit

    items = rounds * n_rows
    entrants = [
        Contestant("driftgames.dask", ours, items=items),
        Contestant("lightgbm.dask", lightgbm_dask, requires=("lightgbm",), items=items),
        Contestant("xgboost.dask", xgboost_dask, requires=("xgboost",), items=items),
    ]
    title = f"{n_rows:,} x 28, {rounds} rounds of {leaves} leaves, two Dask workers"
    table = race(title, entrants, repeats=repeats, tell=tell)
    best = min(reports, key=lambda report: report.seconds)
    share = best.exchange / best.seconds
    note = f"exchange: {share:.0%} of {best.seconds:.2f} s of rounds, {best.n_asked} questions"
    return Table(table.title, table.columns, table.rows, (*table.notes, note))


@app.command()
def make(folder: Folder, rows: int = 10_000_000, columns: int = 100) -> None:
    """Write examples of normal features in 32-bit numbers, whose label depends on ten of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    for k, begin in enumerate(range(0, rows, _FILE_ROWS)):
        rng = np.random.default_rng(k)
        n = min(_FILE_ROWS, rows - begin)
        X = rng.standard_normal((columns, n), dtype=np.float32)
        label = X[:5].sum(axis=0) + X[5:10].prod(axis=0) + rng.standard_normal(n) > 0
        table = pa.table({**{f"x{j}": X[j] for j in range(columns)}, "label": label})
        pq.write_table(table, folder / f"{k:03}.parquet", _GROUP_ROWS, compression="none")


@app.command()
def batches(folder: Folder, rounds: Rounds = 20, depth: int = 1, threads: int = 1) -> None:
    """Fit all files in batches."""
    from driftgames.boosting import NHBoostDTClassifier
    from driftgames.boosting.fit import fit_booster

    times: list[float] = []
    model: Any = NHBoostDTClassifier(rounds, max_depth=depth, n_jobs=threads, calibrate=False)
    boost = fit_booster.boost

    def timed(*arguments: Any) -> Any:
        times.append(time.perf_counter())
        fitted = boost(*arguments)
        times.append(time.perf_counter())
        return fitted

    fit_booster.boost = timed  # type: ignore[assignment]
    begun = time.perf_counter()
    model.fit_batches(str(folder / "*.parquet"), label="label")
    error = float(model.history_["training_error"][-1])
    _tell("driftgames, fit_batches", times[0] - begun, times[1] - times[0], rounds, error)


@app.command()
def lightgbm(
    folder: Folder, rows: int = 10_000_000, rounds: Rounds = 20, leaves: int = 2, threads: int = 1
) -> None:
    """Fit the first rows with LightGBM, which needs them in memory first."""
    import lightgbm as lgb
    import pyarrow.dataset as ds

    begun = time.perf_counter()
    source = ds.dataset(str(folder), format="parquet")
    n_columns = len(source.schema.names) - 1
    X, y, at = np.empty((rows, n_columns), dtype=np.float32), np.empty(rows, dtype=bool), 0
    for part in source.to_batches(batch_size=_GROUP_ROWS, use_threads=False, batch_readahead=1):
        n = min(part.num_rows, rows - at)
        for j in range(n_columns):
            X[at : at + n, j] = part.column(j).to_numpy()[:n]
        y[at : at + n] = part.column(n_columns).to_numpy(zero_copy_only=False)[:n]
        at += n
        if at == rows:
            break
    settings = {"objective": "binary", "num_leaves": leaves, "verbose": -1, "num_threads": threads}
    data = lgb.Dataset(X, y, params=settings, free_raw_data=True).construct()
    del X
    ready = time.perf_counter()
    lgb.train(settings, data, rounds)
    _tell(f"LightGBM, {rows:,} rows", ready - begun, time.perf_counter() - ready, rounds, np.nan)


def _tell(name: str, reading: float, playing: float, rounds: int, error: float) -> None:
    """Print times and the largest resident memory of this process."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    columns = (
        Column("contestant"),
        Column("read and bin", "s"),
        Column("a round", "s"),
        Column("largest memory, GB", ".2f"),
        Column("training error", ".4f"),
    )
    row = (name, reading, playing / rounds, largest, error)
    console().print(draw_table(Table("Beyond memory", columns, (row,))))


if __name__ == "__main__":
    app()
