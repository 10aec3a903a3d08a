"""The tables of `bench.accuracy`, made of the rows of its file of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.libraries import Library, categories
from bench.ranks import Comparison, compare, critical_distance
from bench.results import Key, Row
from bench.set_table import TABLE
from bench.sets import HALVES, Examples, half
from driftgames.tables import Column, Table, counted
from driftgames.tables import Row as Line

MEASURES = {"error": ("error, %", ",.2f"), "log_loss": ("log-loss", ",.4f"), "auc": ("AUC", ",.4f")}
"""What ranks are made of: the name in a row of the file, its title, and how numbers are written."""

SUMS = {
    "fit": ("fits, s", ",.1f"),
    "fit_wall": ("on the wall, s", ",.1f"),
    "predict": ("predictions, s", ",.2f"),
    "size": ("models", "B"),
}
"""What is summed over the sets; times are of the processor, if not said otherwise."""

LEARNT = {"error": 0.9, "log_loss": 0.95}
"""Something is learnt if a library is below this share of what knowing no example would give."""

TITLES = {"choose": "the sets to choose on", "report": "the sets to report on"}


@dataclass(frozen=True)
class Facts:
    """What the tables say of a set."""

    n_rows: int
    n_columns: int
    n_categories: int
    missing: float
    n_classes: int
    majority: float
    """The error, in per cent, of always naming the most frequent class."""
    entropy: float
    """The log-loss of always naming the shares of the classes."""
    work: int

    @classmethod
    def of(cls, examples: Examples) -> Facts:
        """Look at a set."""
        X = examples.X
        shares = np.bincount(examples.y) / examples.y.size
        return cls(
            n_rows=X.shape[0],
            n_columns=X.shape[1],
            n_categories=len(categories(X)),
            missing=float(X.isna().to_numpy().mean()),
            n_classes=examples.n_classes,
            majority=100.0 - 100.0 * float(shares.max()),
            entropy=-float(np.sum(shares * np.log(shares))),
            work=examples.work,
        )


@dataclass(frozen=True)
class Report:
    """Rows of a file of results, the sets and libraries that are asked for, and the splits."""

    rows: Mapping[Key, Row]
    facts: Mapping[str, Facts]
    libraries: Sequence[Library]
    splits: Sequence[int]

    def tables(self) -> list[Table]:
        """Return all tables: the sets, then for each half a summary and the figures by set."""
        found = [self.set_table()]
        for part in HALVES:
            names = [name for name in self.facts if half(name) == part]
            if not names:
                continue
            title = TITLES[part]
            found.append(self._ranks(title, names, self.full, self.splits))
            found.append(self._costs(title, names, self.full, self.splits))
            found += [self._by_set(measure, title, names) for measure in MEASURES]
            if len(self.full) < len(self.libraries):
                every, first = [each.name for each in self.libraries], self.splits[:1]
                title = f"{title}, one split, all libraries"
                found.append(self._ranks(title, names, every, first))
                found.append(self._costs(title, names, every, first))
        return found

    @property
    def full(self) -> list[str]:
        """The libraries that take part in all splits."""
        most = len(self.splits)
        return [each.name for each in self.libraries if (each.most_splits or most) >= most]

    def compared(self, names: Iterable[str], measure: str) -> Comparison:
        """Compare the libraries that take part in all splits."""
        return compare(self.rows, measure, names, self.full, self.splits)

    def unlearnt(self) -> list[str]:
        """Return the sets on which no other library learns: neither `LEARNT` is reached."""
        others = [each.name for each in self.libraries if each.package != "driftgames"]
        others = [name for name in others if name in self.full]
        error, loss = (
            compare(self.rows, measure, self.facts, others, self.splits) for measure in LEARNT
        )
        return [
            name
            for name, errors, losses in zip(error.sets, error.values, loss.values, strict=True)
            if others
            and errors.min() > LEARNT["error"] * self.facts[name].majority
            and losses.min() > LEARNT["log_loss"] * self.facts[name].entropy
        ]

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
            source = TABLE[name]
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
                    fact.majority,
                    half(name),
                )
            )
        return Table("the sets", columns, tuple(lines), name="sets")

    def _ranks(
        self, title: str, names: Sequence[str], libraries: Sequence[str], splits: Sequence[int]
    ) -> Table:
        """Return the mean ranks of each library, and how far it is behind the best at most."""
        every = [compare(self.rows, each, names, libraries, splits) for each in MEASURES]
        error = every[0]
        lines: list[Line] = []
        for at, library in enumerate(libraries if error.sets else ()):
            worst = int(np.argmax(error.behind[:, at]))
            ranks = [float(each.ranks[at]) for each in every]
            lines.append((library, *ranks, float(error.behind[worst, at]), error.sets[worst]))
        columns = (
            Column("library"),
            Column("error", ",.2f"),
            Column("log-loss", ",.2f"),
            Column("AUC", ",.2f"),
            Column("behind, points", ",.2f"),
            Column("on"),
        )
        return Table(f"mean ranks on {title}", columns, tuple(lines), self._notes(error))

    def _costs(
        self, title: str, names: Sequence[str], libraries: Sequence[str], splits: Sequence[int]
    ) -> Table:
        """Return wins and losses of the first library, and the time and size of each."""
        every = [compare(self.rows, each, names, libraries, splits) for each in MEASURES]
        measured = every[0].sets
        lines: list[Line] = []
        for library in libraries if measured else ():
            records = [_record(each, libraries[0], library) for each in every]
            sums = [self._sum(each, measured, library, splits) for each in SUMS]
            lines.append((library, *records, *sums))
        columns = (
            Column("library"),
            Column("error", flush_right=True),
            Column("log-loss", flush_right=True),
            Column("AUC", flush_right=True),
            *(Column(name, form) for name, form in SUMS.values()),
        )
        notes = (
            f"wins-ties-losses are those of {libraries[0]} against the library",
            "times and sizes are sums over the sets, means over the splits",
        )
        return Table(f"wins and costs on {title}", columns, tuple(lines), notes)

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

    def _by_set(self, measure: str, title: str, names: Sequence[str]) -> Table:
        comparison = self.compared(names, measure)
        head, form = MEASURES[measure]
        columns = (Column("set"), *(Column(name, form) for name in comparison.libraries))
        lines = tuple(
            (name, *row.tolist())
            for name, row in zip(comparison.sets, comparison.values, strict=True)
        )
        return Table(f"{head} on {title}", columns, lines)


def _record(comparison: Comparison, one: str, other: str) -> str | None:
    """Return wins, ties and losses of one library against another as a text."""
    return None if one == other else "-".join(map(str, comparison.wins(one, other)))
