"""The runner: does the tasks that are missing and puts the report together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from driftgames.core.progress import progress
from driftgames.core.registry import choose
from driftgames.core.typing import Content
from driftgames.paper.claims import claims_table, verdict_sentence
from driftgames.paper.environment import environment
from driftgames.paper.experiment import EXPERIMENTS, Experiment, Setting
from driftgames.paper.published import ROUNDS
from driftgames.paper.results import Section
from driftgames.paper.store import Store, Task
from driftgames.paper.summary import sets_used, summarise
from driftgames.tables import Table


@dataclass(frozen=True)
class Report:
    """The report as plain data.

    Parameters
    ----------
    sets, missing : tuple of str
        The sets that some section used, and those that were not found.
    kept : tuple of str
        The sections of earlier runs, which this run did not make.
    claims : Table or None
        A row for each claim of the paper that these sections can judge.
    """

    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    sets: tuple[str, ...]
    missing: tuple[str, ...]
    seed: int
    environment: dict[str, str] = field(default_factory=environment)
    kept: tuple[str, ...] = ()
    claims: Table | None = None

    @property
    def verdict(self) -> str:
        """How many claims are confirmed, in a sentence; empty if none was judged."""
        return verdict_sentence(self.claims)


@dataclass(frozen=True)
class Progress:
    """How a run went: how many tasks there are, and how many were done before."""

    tasks: int
    found: int
    seconds: float


def select(only: Sequence[str] | None = None, *, full: bool = False) -> tuple[Experiment, ...]:
    """Return the experiments of these names, or the paper's own, or with ``full`` all.

    >>> [experiment.name for experiment in select()]
    ['table2', 'table3', 'figure1', 'figure2', 'hedge']
    >>> [experiment.name for experiment in select(["hedge", "table2"])]
    ['table2', 'hedge']
    """
    if only is None:
        return tuple(each for each in EXPERIMENTS.values() if full or not each.extra)
    if not only:
        raise ValueError(f"only must name at least one of {', '.join(EXPERIMENTS)}; got {only!r}")
    asked = {choose("experiment", name, EXPERIMENTS).name for name in only}
    return tuple(each for each in EXPERIMENTS.values() if each.name in asked)


def reproduce(
    experiments: Sequence[Experiment],
    setting: Setting,
    store: Store,
    *,
    fresh: bool = False,
    show_progress: bool = True,
) -> tuple[Report, Progress]:
    """Do the work of these experiments that the store does not hold, and return the report.

    Every task is stored as soon as it is done, so that a stopped run goes on where it was.
    ``fresh`` does all tasks again.

    The report also has the other sections that earlier runs left in the same store, if the
    seed and the code are still the same.
    """
    begun = time.perf_counter()
    wanted = {each.name: each.tasks(setting) for each in experiments}
    tasks = {task.key: task for each in wanted.values() for task in each.values()}
    done: dict[str, Content] = {}
    if not fresh:
        stored = {key: store.get(task) for key, task in tasks.items()}
        done = {key: result for key, result in stored.items() if result is not None}
    found = len(done)
    with progress("running the experiments", len(tasks), "tasks", show=show_progress) as advance:
        advance(found)
        for key, task in tasks.items():
            if key not in done:
                done[key] = task.run()
                store.put(task, done[key])
                advance(1)

    made: dict[str, Section] = {}
    for each in experiments:
        results = {key: done[task.key] for key, task in wanted[each.name].items()}
        made[each.name] = each.section(setting, results, command_for(each, setting))
    for section in made.values():
        store.put(_as_task(section.name, setting), asdict(section))
    report = _assemble(made, setting, store)
    return report, Progress(len(tasks), found, time.perf_counter() - begun)


def command_for(experiment: Experiment, setting: Setting) -> str:
    """Return the command that makes a section again."""
    words = ["driftgames reproduce", f"--only {experiment.name}"]
    if experiment.name != "hedge":
        words.append(f"--sets {','.join(data.name for data in setting.chosen.sets)}")
    if experiment.name not in {"table2", "hedge", "long"} and setting.rounds != ROUNDS:
        words.append(f"--rounds {setting.rounds}")
    if setting.seed != 0:
        words.append(f"--seed {setting.seed}")
    return " ".join(words)


def _assemble(made: Mapping[str, Section], setting: Setting, store: Store) -> Report:
    """Return the report: the sections of this run and of earlier ones."""
    stored = {name: store.get(_as_task(name, setting)) for name in EXPERIMENTS if name not in made}
    kept = {name: Section.from_content(each) for name, each in stored.items() if each is not None}
    found = {**kept, **made}
    sections = tuple(found[name] for name in {**EXPERIMENTS, **made} if name in found)
    missing = setting.chosen.missing
    return Report(
        summary=summarise(sections, missing=missing, kept=tuple(kept)),
        sections=sections,
        sets=sets_used(sections),
        missing=missing,
        seed=setting.seed,
        kept=tuple(kept),
        claims=claims_table(sections),
    )


def _as_task(name: str, setting: Setting) -> Task:
    """Return the task that a section is stored under: one of each name, for any sets."""
    return Task("section", {"name": name, "seed": setting.seed}, dict)
