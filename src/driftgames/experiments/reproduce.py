"""The runner: does what is not done yet, part by part, and puts the report together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from driftgames.core.progress import progress
from driftgames.core.typing import Content
from driftgames.experiments.environment import environment
from driftgames.experiments.experiment import EXPERIMENTS, Experiment, Setting
from driftgames.experiments.published import ROUNDS
from driftgames.experiments.results import Section
from driftgames.experiments.store import Part, Store
from driftgames.experiments.summary import sets_used, summarise


@dataclass(frozen=True)
class Report:
    """Everything a reader gets, as plain data.

    Parameters
    ----------
    sets, missing : tuple of str
        The sets that some section used, and those that could not be had.
    kept : tuple of str
        The sections that this run did not make but found from earlier ones.
    """

    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    sets: tuple[str, ...]
    missing: tuple[str, ...]
    seed: int
    environment: dict[str, str] = field(default_factory=environment)
    kept: tuple[str, ...] = ()


@dataclass(frozen=True)
class Progress:
    """How a run went: how many parts there are, and how many were done before."""

    parts: int
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
    for name in only:
        if name not in EXPERIMENTS:
            raise ValueError(f"an experiment must be one of {', '.join(EXPERIMENTS)}; got {name!r}")
    return tuple(each for each in EXPERIMENTS.values() if each.name in only)


def reproduce(
    experiments: Sequence[Experiment],
    setting: Setting,
    store: Store,
    *,
    fresh: bool = False,
    show_progress: bool = True,
) -> tuple[Report, Progress]:
    """Do the work of these experiments that the store does not hold, and return the report.

    Every part is stored as soon as it is done, so that a run that was stopped, in whatever
    way, goes on where it was. ``fresh`` does all of it again.

    The report also has the other sections that earlier runs left in the same store, as they
    were, if the seed and the code are still the same.
    """
    begun = time.perf_counter()
    parts = {part.key: part for each in experiments for part in each.parts(setting)}
    done: dict[str, Content] = {}
    if not fresh:
        stored = {key: store.get(part) for key, part in parts.items()}
        done = {key: result for key, result in stored.items() if result is not None}
    found = len(done)
    with progress("experiments", len(parts), show=show_progress) as advance:
        advance(found)
        for key, part in parts.items():
            if key not in done:
                done[key] = part.run()
                store.put(part, done[key])
                advance(1)

    def result(part: Part) -> Content:
        return done[part.key]

    made = {
        each.name: each.section(setting, result, command_for(each, setting)) for each in experiments
    }
    for section in made.values():
        store.put(_as_part(section.name, setting), asdict(section))
    report = _assemble(made, setting, store)
    return report, Progress(len(parts), found, time.perf_counter() - begun)


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
    """Return the report: what this run made, and what earlier ones left beside it."""
    stored = {name: store.get(_as_part(name, setting)) for name in EXPERIMENTS if name not in made}
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
    )


def _as_part(name: str, setting: Setting) -> Part:
    """Return under what a section is stored: one of each name, on whatever sets it was made."""
    return Part("section", {"name": name, "seed": setting.seed}, dict)
