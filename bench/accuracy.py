"""Error, log-loss, AUC, time and size on real sets, against the defaults of other libraries.

One run goes through all libraries, sets and splits and keeps each result in a file, so a run that
was killed goes on. The tables are made of that file. Sets are divided by the hash of their names:
settings are chosen on one half and reported on the other, and every table says which half it is of.
`Study` is what else such a run can compare: `bench.large`, `bench.tuned` and `bench.regression`.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from bench.accuracy_options import AccuracyOptions
from bench.accuracy_page import write_page
from bench.accuracy_tables import HEADING, TITLE, Facts, Report
from bench.harness import Tell, silent
from bench.libraries import LIBRARIES, OURS, Library
from bench.measuring import CLASSES, Kind, measure
from bench.rank_plot import draw_ranks
from bench.results import Key, ResultsFile
from bench.set_table import TABLE, Source
from bench.sets import HALVES, QUICK, SPLITS, half, read, sets
from driftgames.plots import save_figure
from driftgames.tables import Table, counted


def _no_tables(report: Report) -> list[Table]:
    return []


@dataclass(frozen=True)
class Study:
    """What is compared on which sets.

    Parameters
    ----------
    name : str
        The subject; its results stand in ``build/NAME.jsonl``, and its pictures begin with it.
    table : mapping
        The sets by name.
    libraries : sequence of Library
        Ours first.
    quick : collection of str
        The sets of a quick run.
    kind : Kind
        What is measured.
    splits : sequence of int
        The seeds of the splits.
    heading, title : str
        What all sets are called, and those of a half.
    notes : tuple of str
        What the first table says below.
    more : callable
        Makes further tables of the report.
    """

    name: str
    table: Mapping[str, Source]
    libraries: Sequence[Library]
    quick: Collection[str] = QUICK
    kind: Kind = CLASSES
    splits: Sequence[int] = SPLITS
    heading: str = HEADING
    title: str = TITLE
    notes: tuple[str, ...] = ()
    more: Callable[[Report], list[Table]] = _no_tables

    @property
    def results(self) -> Path:
        """The file of results, where no other is named."""
        return Path(f"build/{self.name}.jsonl")


def run(
    *, quick: bool = False, tell: Tell = silent, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the file of results lacks, and return the tables.

    ``quick`` takes three small sets, one split, and no library that has a time limit.
    """
    study = Study("accuracy", TABLE, tuple(LIBRARIES.values()))
    if quick:
        libraries = [library for library in study.libraries if library.limit is None]
        study = replace(study, libraries=libraries)
    return run_study(study, quick=quick, tell=tell, options=options)


def run_study(
    study: Study, *, quick: bool, tell: Tell, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the options choose of a study, and return the tables.

    ``quick`` takes the study's quick sets and its first split.
    """
    options = options or AccuracyOptions()
    settings = {} if options.settings is None else runpy.run_path(str(options.settings))["SETTINGS"]
    known = libraries_of(settings) | {library.name: library for library in study.libraries}
    chosen = [known[name] for name in names_in(options.libraries, known, "libraries")]
    names = names_in(options.sets, study.table, "sets")
    seeds = names_in(options.splits, [*map(str, study.splits)], "splits")
    if options.half is not None:
        wanted = names_in(options.half, HALVES, "half")
        names = [name for name in names if half(name) in wanted]
    if quick:
        names = [name for name in names if name in study.quick]
        seeds = seeds[:1]
    file = ResultsFile(options.results or study.results)
    if options.again is not None:
        stale = names_in(options.again, known, "again")
        file.drop(lambda row: row["library"] in stale and row["set"] in names)
    study = replace(
        study,
        libraries=chosen,
        table={name: study.table[name] for name in names},
        splits=[int(seed) for seed in seeds],
    )
    return compare(
        study,
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
    study: Study,
    file: ResultsFile,
    *,
    tell: Tell = silent,
    only_report: bool = False,
    figures: Path | None = None,
    page: Path | None = None,
) -> list[Table]:
    """Measure libraries on sets, as far as the file does not know the figures, and compare them.

    Wins and losses are those of the first library.
    """
    absent = {each.name: each.why_absent for each in study.libraries}
    notes = [*study.notes, *(f"{name} left out: {why}" for name, why in absent.items() if why)]
    libraries = [library for library in study.libraries if absent[library.name] is None]
    facts: dict[str, Facts] = {}
    for examples in sets(study.table, notes.append, study.table):
        tell(f"reading {examples.name}")
        facts[examples.name] = Facts.of(examples)
    if not only_report:
        tasks = plan(facts, libraries, study.splits, file.rows())
        fill(file, tasks, tell, table=study.table, kind=study.kind)
    report = Report(
        file.rows(),
        facts,
        libraries,
        study.splits,
        study.kind,
        study.table,
        study.heading,
        study.title,
    )
    notes += _stale(report)
    if unlearnt := report.unlearnt():
        notes.append(f"nothing is learnt on {', '.join(unlearnt)}")
    if figures is not None:
        _draw(report, figures, study.name)
    tables = report.tables()
    tables[0] = Table(tables[0].title, tables[0].columns, tables[0].rows, tuple(notes))
    tables += study.more(report)
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


def fill(
    file: ResultsFile,
    tasks: Sequence[Task],
    tell: Tell = silent,
    *,
    table: Mapping[str, Source] = TABLE,
    kind: Kind = CLASSES,
) -> None:
    """Measure tasks one after the other; the row of each is in the file before the next begins."""
    examples = None
    for at, task in enumerate(tasks, start=1):
        tell(f"{at} of {len(tasks)}: {task.name}, split {task.split}, {task.library.name}")
        if examples is None or examples.name != task.name:
            examples = read(task.name, table[task.name])
        file.append(measure(task.library, examples, task.split, kind))


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


def _draw(report: Report, folder: Path, study: str) -> None:
    """Write a picture of the mean ranks for each half and measure."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in HALVES:
        for key, (title, _) in report.kind.measures.items():
            comparison = report.compared(report.names(part), key)
            if comparison.sets and len(comparison.libraries) > 1:
                head = f"Mean rank by {title.removesuffix(', %')} on {report.title.format(part)}"
                figure = draw_ranks(
                    comparison, f"{head} ({counted(len(comparison.sets), 'set')})", ours=OURS
                )
                save_figure(figure, folder / f"{study}_{part}_{key}.svg")
