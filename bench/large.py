"""Large tables: error, log-loss and AUC, times with one thread and two, and memory.

``python -m bench large`` compares the defaults on tables of 30,000 to 1,000,000 rows, real and
made, in the harness of `bench.accuracy`. Every fit has a process of its own. Memory is the most
that a fit takes beyond what the process held before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bench.accuracy import Study, run_study
from bench.accuracy_options import AccuracyOptions
from bench.accuracy_tables import Report
from bench.harness import Tell, silent
from bench.libraries import LIBRARIES, OURS, Library, with_threads
from bench.ranks import compare
from bench.set_table import LARGE
from bench.sets import HALVES
from driftgames.tables import Column, Row, Table

PEERS = ("LightGBM", "XGBoost", "HistGradientBoosting", "CatBoost", "ChimeraBoost")
N_THREADS = 2
LIMIT = 7200.0
"""Seconds of the processor after which a fit is given up."""

QUICK = ("late flights", "smooth with products")
QUICK_ROWS = 1_500


def run(
    *, quick: bool = False, tell: Tell = silent, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the file of results lacks, and return the tables.

    ``quick`` takes a small part of two sets, in this process, and has a file of results of its own.
    """
    one = [LIBRARIES[name] for name in (OURS, *PEERS)]
    if not quick:
        one = [replace(library, limit=LIMIT) for library in one]
    study = Study(
        "large",
        LARGE,
        with_two_threads(one),
        quick=QUICK,
        splits=(0,),
        heading="the large sets",
        title="the large sets to {} on",
        more=cost_tables,
    )
    if quick:
        parts = {name: replace(LARGE[name], most=QUICK_ROWS) for name in QUICK}
        study = replace(study, name="large_quick", table=parts)
    return run_study(study, quick=quick, tell=tell, options=options)


def with_two_threads(libraries: Iterable[Library]) -> list[Library]:
    """Return each library with one thread, and then with `N_THREADS`."""
    return [each for one in libraries for each in (one, with_threads(one, N_THREADS))]


def cost_tables(report: Report) -> list[Table]:
    """Return for each half what fits cost: in all, and set by set."""
    found = []
    for part in HALVES:
        names = compare(report.rows, "error", report.names(part), report.ranked, (0,)).sets
        if names:
            title = report.title.format(part)
            found += [_in_all(report, names, title), _by_set(report, names, title)]
    return found


def _in_all(report: Report, names: Iterable[str], title: str) -> Table:
    """Return sums of times, and the most memory of a fit."""
    names = tuple(names)
    rows: list[Row] = []
    for library in report.ranked:
        one, two = (_sum(report, names, each) for each in (library, _two(library)))
        most = max(report.rows[name, 0, library].get("memory", 0) for name in names)
        rows.append((library, one, two, one / two if two else None, most))
    columns = (
        Column("library"),
        Column("one thread, s", ",.1f"),
        Column("two threads, s", ",.1f"),
        Column("gain", "x"),
        Column("most memory", "B"),
    )
    notes = ("times of fits on the wall, sums over the sets; memory of a fit in one thread",)
    return Table(f"threads and memory on {title}", columns, tuple(rows), notes)


def _by_set(report: Report, names: Iterable[str], title: str) -> Table:
    """Return times of fits on the wall and memory for each set and library."""
    rows: list[Row] = []
    for name in names:
        for library in report.ranked:
            first, second = (
                report.rows.get((name, 0, each), {}) for each in (library, _two(library))
            )
            one, two, memory = first.get("fit_wall"), second.get("fit_wall"), first.get("memory")
            n_test = report.facts[name].n_rows * 0.3
            each_row = first["predict_wall"] / n_test * 1e6 if "predict_wall" in first else None
            rows.append((name, library, one, two, each_row, memory))
    columns = (
        Column("set"),
        Column("library"),
        Column("one thread, s", ",.2f"),
        Column("two threads, s", ",.2f"),
        Column("a prediction, us", ",.2f"),
        Column("memory", "B"),
    )
    return Table(f"times and memory by set on {title}", columns, tuple(rows))


def _two(library: str) -> str:
    return f"{library}, {N_THREADS} threads"


def _sum(report: Report, names: Iterable[str], library: str) -> float:
    found = [report.rows.get((name, 0, library), {}) for name in names]
    return float(sum(row.get("fit_wall", 0.0) for row in found))
