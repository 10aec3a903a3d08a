"""The tables of a comparison, made of the rows of its file of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.libraries import Library, categories
from bench.measuring import CLASSES, Kind
from bench.ranks import Comparison, compare, critical_distance
from bench.results import Key, Row
from bench.set_table import TABLE, Source
from bench.sets import HALVES, Examples, half
from driftgames.tables import Column, Table, counted
from driftgames.tables import Row as Line

RANKS, COSTS = "mean ranks", "wins and costs"
"""How the titles of two tables begin."""

HEADING, TITLE = "the sets", "the sets to {} on"
"""What all sets are called, and those of a half."""


@dataclass(frozen=True)
class Facts:
    """What the tables say of a set."""

    n_rows: int
    n_columns: int
    n_categories: int
    missing: float
    n_classes: int
    baselines: Mapping[str, float]
    """What is reached by measure without looking at an example: for classes the error, in per cent,
    of always naming the most frequent one, and the log-loss of always naming the shares; for
    numbers the root mean squared error of the mean, in standard deviations."""
    work: int

    @classmethod
    def of(cls, examples: Examples) -> Facts:
        """Look at a set."""
        X = examples.X
        baselines = {"rmse": 1.0}
        if examples.n_classes:
            shares = np.bincount(examples.y) / examples.y.size
            majority = 100.0 - 100.0 * float(shares.max())
            baselines = {"error": majority, "log_loss": -float(np.sum(shares * np.log(shares)))}
        return cls(
            n_rows=X.shape[0],
            n_columns=X.shape[1],
            n_categories=len(categories(X)),
            missing=float(X.isna().to_numpy().mean()),
            n_classes=examples.n_classes,
            baselines=baselines,
            work=examples.work,
        )


@dataclass(frozen=True)
class Report:
    """Rows of a file of results, the sets and libraries that are asked for, and the splits."""

    rows: Mapping[Key, Row]
    facts: Mapping[str, Facts]
    libraries: Sequence[Library]
    splits: Sequence[int]
    kind: Kind = CLASSES
    table: Mapping[str, Source] = field(default_factory=lambda: TABLE)
    heading: str = HEADING
    title: str = TITLE

    def tables(self) -> list[Table]:
        """Return all tables: the sets, then for each half a summary and the figures by set."""
        found = [self.set_table()]
        for part in HALVES:
            names = self.names(part)
            if not names:
                continue
            title = self.title.format(part)
            found.append(self._ranks(title, names, self.full, self.splits))
            found.append(self._costs(title, names, self.full, self.splits))
            shown = {**self.kind.measures, **self.kind.means}
            found += [self._by_set(key, *shown[key], title, names) for key in shown]
            for libraries in self._with_slow():
                more = [name for name in libraries if name not in self.full]
                all_take_part = len(libraries) == len(self.ranked)
                whom = "all libraries" if all_take_part else f"with {', '.join(more)}"
                named = f"{title}, one split, {whom}"
                found.append(self._ranks(named, names, libraries, self.splits[:1]))
                found.append(self._costs(named, names, libraries, self.splits[:1]))
        return found

    def _with_slow(self) -> list[list[str]]:
        """Return the libraries of further tables: those of all splits, and slower ones by limit.

        Those of the largest limit finish the most sets, so they come first.
        """
        ranked = [each for each in self.libraries if each.is_ranked]
        limits = {each.name: each.limit or math.inf for each in ranked}
        steps = sorted({limits[name] for name in limits if name not in self.full}, reverse=True)
        return [
            [name for name in limits if name in self.full or limits[name] >= step] for step in steps
        ]

    def names(self, part: str) -> list[str]:
        """Return the sets of a half."""
        return [name for name in self.facts if half(name) == part]

    @property
    def ranked(self) -> list[str]:
        """The libraries that are ranked."""
        return [each.name for each in self.libraries if each.is_ranked]

    @property
    def full(self) -> list[str]:
        """The libraries that are ranked and take part in all splits."""
        return [each.name for each in self.libraries if each.is_ranked and each.most_splits is None]

    def compared(self, names: Iterable[str], measure: str) -> Comparison:
        """Compare the libraries that take part in all splits."""
        return compare(self.rows, measure, names, self.full, self.splits)

    def unlearnt(self) -> list[str]:
        """Return the sets on which no other library learns, by any measure of the kind."""
        others = [each.name for each in self.libraries if each.package != "driftgames"]
        others = [name for name in others if name in self.full]
        found = list(self.facts) if others else []
        for measure, share in self.kind.learnt.items():
            scores = compare(self.rows, measure, found, others, self.splits)
            found = [
                name
                for name, values in zip(scores.sets, scores.values, strict=True)
                if values.min() > share * self.facts[name].baselines[measure]
            ]
        return found

    def set_table(self) -> Table:
        """Return the table of the sets."""
        columns = (
            Column("set"),
            Column("package"),
            Column("frame"),
            Column("rows", ",d"),
            Column("columns", ",d"),
            Column("categories", ",d"),
            Column("missing", "%"),
            Column("classes", ",d"),
            Column("majority, %", ",.1f"),
            Column("half"),
        )
        lines: list[Line] = []
        for name, fact in self.facts.items():
            source = self.table[name]
            lines.append(
                (
                    name,
                    source.package,
                    source.frame,
                    fact.n_rows,
                    fact.n_columns,
                    fact.n_categories,
                    fact.missing,
                    fact.n_classes,
                    fact.baselines.get("error"),
                    half(name),
                )
            )
        table = Table(self.heading, columns, tuple(lines), name="sets")
        return table if any(table.column("classes")) else table.without({"classes", "majority, %"})

    def _ranks(
        self, title: str, names: Sequence[str], libraries: Sequence[str], splits: Sequence[int]
    ) -> Table:
        """Return the mean ranks of each library, the best first, and how far it is behind."""
        every = self._compared(names, libraries, splits)
        first = every[0]
        behind = 100.0 * first.behind_share if self.kind.is_relative else first.behind
        lines: list[Line] = []
        for at, library in enumerate(libraries if first.sets else ()):
            worst = int(np.argmax(behind[:, at]))
            ranks = [float(each.ranks[at]) for each in every]
            lines.append((library, *ranks, float(behind[worst, at]), first.sets[worst]))
        columns = (
            Column("library"),
            *(Column(head, ",.2f") for head in self._heads),
            Column("behind, %" if self.kind.is_relative else "behind, points", ",.2f"),
            Column("on"),
        )
        lines.sort(key=lambda line: line[1])  # type: ignore[arg-type,return-value]  # a rank
        return Table(f"{RANKS} on {title}", columns, tuple(lines), self._notes(first))

    @property
    def _heads(self) -> list[str]:
        """The titles of the measures without their units."""
        return [title.removesuffix(", %") for title, _ in self.kind.measures.values()]

    def _compared(
        self, names: Sequence[str], libraries: Sequence[str], splits: Sequence[int]
    ) -> list[Comparison]:
        """Compare libraries by every measure."""
        return [compare(self.rows, key, names, libraries, splits) for key in self.kind.measures]

    def _costs(
        self, title: str, names: Sequence[str], libraries: Sequence[str], splits: Sequence[int]
    ) -> Table:
        """Return wins and losses of the first library, and the time and size of each."""
        every = self._compared(names, libraries, splits)
        measured = every[0].sets
        lines: list[Line] = []
        order = np.argsort(every[0].ranks, kind="stable").tolist() if measured else []
        for library in (libraries[at] for at in order):
            records = [_record(each, libraries[0], library) for each in every]
            means = [
                self._sum(each, measured, library, splits) / len(measured)
                for each in self.kind.means
            ]
            totals = [self._sum(each, measured, library, splits) for each in self.kind.sums]
            lines.append((library, *records, *means, *totals))
        columns = (
            Column("library"),
            *(Column(head, flush_right=True) for head in self._heads),
            *(Column(name, form) for name, form in self.kind.means.values()),
            *(Column(name, form) for name, form in self.kind.sums.values()),
        )
        sums = "times and sizes" if "size" in self.kind.sums else "times"
        notes = (
            f"wins-ties-losses are those of {libraries[0]} against the library",
            f"{sums} are sums over the sets, means over the splits",
        )
        return Table(f"{COSTS} on {title}", columns, tuple(lines), notes)

    def _notes(self, error: Comparison) -> tuple[str, ...]:
        n_libraries, n_sets = len(error.libraries), len(error.sets)
        notes = [counted(n_sets, "set")]
        if n_sets:
            distance = critical_distance(n_libraries, n_sets)
            notes.append(f"mean ranks that differ by less than {distance:.2f} may be equal")
        if error.left_out:
            notes.append(f"not measured by all: {', '.join(error.left_out)}")
        notes += [
            f"{row['library']} failed on {row['set']}, split {row['split']}: {row['failed']}"
            for (name, _, library), row in self.rows.items()
            if "failed" in row and name in error.sets and library in error.libraries
        ]
        return tuple(notes)

    def _sum(
        self, measure: str, names: Sequence[str], library: str, splits: Sequence[int]
    ) -> float:
        rows = [self.rows[name, split, library] for name in names for split in splits]
        return float(sum(row.get(measure, 0.0) for row in rows)) / len(splits)

    def _by_set(
        self, measure: str, head: str, form: str, title: str, names: Sequence[str]
    ) -> Table:
        comparison = self.compared(names, measure)
        columns = (Column("set"), *(Column(name, form) for name in comparison.libraries))
        lines = tuple(
            (name, *row.tolist())
            for name, row in zip(comparison.sets, comparison.values, strict=True)
        )
        return Table(f"{head} on {title}", columns, lines)


def _record(comparison: Comparison, one: str, other: str) -> str | None:
    """Return wins, ties and losses of one library against another as a text."""
    return None if one == other else "-".join(map(str, comparison.wins(one, other)))
