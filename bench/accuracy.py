"""Error, log-loss, AUC, time and size on real sets, against the defaults of other libraries.

One run goes through all libraries, sets and splits and keeps each result in a file, so a run that
was killed goes on. The tables are made of that file. Sets are divided by the hash of their names:
settings are chosen on one half and reported on the other, and every table says which half it is of.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.accuracy_options import RESULTS, AccuracyOptions
from bench.accuracy_page import write_page
from bench.accuracy_tables import MEASURES, TITLES, Facts, Report
from bench.harness import Tell, silent
from bench.libraries import LIBRARIES, OURS, Library
from bench.measuring import measure
from bench.rank_plot import draw_ranks
from bench.results import Key, ResultsFile
from bench.set_table import TABLE
from bench.sets import HALVES, QUICK, SPLITS, half, load, sets
from driftgames.plots import save_figure
from driftgames.tables import Table, counted


def run(
    *, quick: bool = False, tell: Tell = silent, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the file of results lacks, and return the tables.

    ``quick`` takes three small sets, one split, and no library that has a time limit.
    """
    options = options or AccuracyOptions()
    settings = {} if options.settings is None else runpy.run_path(str(options.settings))["SETTINGS"]
    known = libraries_of(settings) | LIBRARIES
    chosen = [known[name] for name in names_in(options.libraries, known, "libraries")]
    names = names_in(options.sets, TABLE, "sets")
    seeds = [int(seed) for seed in names_in(options.splits, [*map(str, SPLITS)], "splits")]
    if options.half is not None:
        wanted = names_in(options.half, HALVES, "half")
        names = [name for name in names if half(name) in wanted]
    if quick:
        names = [name for name in names if name in QUICK]
        chosen = [library for library in chosen if library.limit is None]
        seeds = seeds[:1]
    file = ResultsFile(options.results)
    if options.again is not None:
        stale = names_in(options.again, known, "again")
        file.drop(lambda row: row["library"] in stale and row["set"] in names)
    return compare(
        chosen,
        names,
        seeds,
        file,
        tell=tell,
        only_report=options.only_report,
        figures=options.figures,
        page=options.page,
    )


def libraries_of(settings: Mapping[str, Callable[[], Any]]) -> dict[str, Library]:
    """Return settings of ours, functions that return a classifier, as libraries by their names."""
    return {name: Library(name, make) for name, make in settings.items()}


def compare(
    libraries: Sequence[Library],
    names: Iterable[str] = TABLE,
    splits: Sequence[int] = SPLITS,
    file: ResultsFile | None = None,
    *,
    tell: Tell = silent,
    only_report: bool = False,
    figures: Path | None = None,
    page: Path | None = None,
) -> list[Table]:
    """Measure libraries on sets, as far as the file does not know the figures, and compare them.

    Wins and losses are those of the first library. Settings of ours, on the sets to choose on::

        settings = libraries_of({"8 leaves": lambda: NHBoostDTClassifier(max_leaves=8)})
        names = [name for name in TABLE if half(name) == "choose"]
        compare([*settings.values(), *LIBRARIES.values()], names)
    """
    file = ResultsFile(RESULTS) if file is None else file
    notes = [f"{each.name} left out: {each.why_absent}" for each in libraries if each.why_absent]
    libraries = [library for library in libraries if library.why_absent is None]
    facts: dict[str, Facts] = {}
    for examples in sets(tuple(names), notes.append):
        tell(f"reading {examples.name}")
        facts[examples.name] = Facts.of(examples)
    if not only_report:
        fill(file, plan(facts, libraries, splits, file.rows()), tell)
    report = Report(file.rows(), facts, libraries, splits)
    notes += _stale(report)
    if unlearnt := report.unlearnt():
        notes.append(f"nothing is learnt on {', '.join(unlearnt)}")
    if figures is not None:
        _draw(report, figures)
    tables = report.tables()
    tables[0] = Table(tables[0].title, tables[0].columns, tables[0].rows, tuple(notes))
    if page is not None:
        write_page(page, tables)
    return tables


class Task(NamedTuple):
    """One library on one split of one set."""

    name: str
    split: int
    library: Library

    @property
    def key(self) -> Key:
        """What its row is found by."""
        return self.name, self.split, self.library.name


def plan(
    facts: Mapping[str, Facts],
    libraries: Sequence[Library],
    splits: Sequence[int],
    done: Collection[Key],
) -> list[Task]:
    """Return what is to be measured: small sets first, libraries with a time limit last."""
    order = sorted(facts, key=lambda name: facts[name].work)
    tasks = [
        Task(name, split, library)
        for limited in (False, True)
        for name in order
        for library in libraries
        for split in splits[: library.most_splits]
        if (library.limit is not None) is limited
    ]
    return [task for task in tasks if task.key not in done]


def fill(file: ResultsFile, tasks: Sequence[Task], tell: Tell = silent) -> None:
    """Measure tasks one after the other; the row of each is in the file before the next begins."""
    examples = None
    for at, task in enumerate(tasks, start=1):
        tell(f"{at} of {len(tasks)}: {task.name}, split {task.split}, {task.library.name}")
        if examples is None or examples.name != task.name:
            examples = load(task.name)
        file.append(measure(task.library, examples, task.split))


def names_in(text: str | None, known: Collection[str], option: str) -> list[str]:
    """Return the names of an option, all if it is not given; a name may itself have commas.

    >>> names_in("b,a", ["a", "b", "c"], "sets")
    ['b', 'a']
    """
    if text is None:
        return list(known)
    names = [text] if text in known else [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{option} must be of {', '.join(known)}; got {unknown[0]!r}")
    return names


def _stale(report: Report) -> list[str]:
    """Say whose rows are of another version than the one that is installed."""
    notes = []
    for library in report.libraries:
        versions = {
            row["version"]
            for (name, _, each), row in report.rows.items()
            if each == library.name and name in report.facts
        }
        if older := versions - {library.version}:
            notes.append(
                f"{library.name}: rows of {', '.join(sorted(older))}, now {library.version}; "
                f"--again {library.name!r} measures them anew"
            )
    return notes


def _draw(report: Report, folder: Path) -> None:
    """Write a picture of the mean ranks for each half and measure."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in HALVES:
        names = [name for name in report.facts if half(name) == part]
        for key, (title, _) in MEASURES.items():
            comparison = report.compared(names, key)
            if comparison.sets and len(comparison.libraries) > 1:
                head = f"Mean rank by {title.removesuffix(', %')} on {TITLES[part]}"
                figure = draw_ranks(
                    comparison, f"{head} ({counted(len(comparison.sets), 'set')})", ours=OURS
                )
                save_figure(figure, folder / f"accuracy_{part}_{key}.svg")
