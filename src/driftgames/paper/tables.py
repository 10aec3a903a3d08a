"""Tables 2 and 3, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from driftgames.datasets import Dataset
from driftgames.paper import published
from driftgames.paper.boosting import AS_PUBLISHED, Fit
from driftgames.paper.results import DIFFERENCE, OURS, PUBLISHED, compared_columns, listed
from driftgames.tables import Cell, Column, Row, Table

DIGITS = 1
"""The decimals of the printed shares, which are in per cent. [LS14, Tab. 3]"""

ZEROS, TRAIN, TEST, TIME = "Zeros (%)", "Training error (%)", "Test error (%)", "Time (s)"
ZEROS_FROM_FIRST = "Zeros from round 1 (%)"


class ComparedShare(NamedTuple):
    """One number of ours beside the printed one, both in per cent."""

    data: str
    algorithm: str
    group: str
    ours: float
    printed: float

    @property
    def equal(self) -> bool:
        """Whether ours is the printed number to its last digit."""
        return agrees(self.ours, self.printed)


def table_2(sets: Sequence[Dataset]) -> Table:
    """Return the sizes of the sets. [LS14, Tab. 2]"""
    groups = ("Features", "Training rows", "Test rows")
    columns = [Column("set")]
    for group in groups:
        columns += compared_columns(group)
    columns.append(Column("source"))
    rows = []
    for data in sets:
        printed = published.TABLE_2.get(data.name) or (None,) * 3
        ours = (len(data.feature_names), data.train.y.size, data.test.y.size)
        pairs = [cell for pair in zip(ours, printed, strict=True) for cell in pair]
        rows.append((data.name, *pairs, data.source.partition(" (")[0]))
    notes = [f"{data.name}: {data.note}" for data in sets if data.note]
    notes += dict.fromkeys(f"Source {data.source}." for data in sets)
    return Table("The sets", tuple(columns), tuple(rows), tuple(notes), name="table2")


def table_3(
    sets: Sequence[Dataset], fits: Sequence[Fit], rounds: int, *, name: str = "table3"
) -> Table:
    """Return time, zeros and errors of every booster on every set. [LS14, Tab. 3]

    Published numbers and differences stand where the rows are the published ones and the run
    is as long as theirs.
    """
    comparable = {
        data.name for data in sets if data.published and rounds == published.ROUNDS
    } & set(published.TABLE_3)
    columns = [Column("set"), Column("algorithm")]
    for group in (TEST, TRAIN, ZEROS):  # errors first: a phone shows the first columns
        columns += compared_columns(group, ".2f", ".1f")
        columns.append(Column(DIFFERENCE, "+z.2f", group, on_terminal=False))
    columns.append(Column(OURS, ",.3f", TIME))
    columns.append(Column(PUBLISHED, ",.1f", TIME, on_terminal=False))
    columns.append(Column(OURS, ".2f", ZEROS_FROM_FIRST, on_terminal=False))
    rows: list[Row] = []
    for fit in fits:
        printed = _printed(fit) if fit.data in comparable else None
        seconds, zeros, train, test = printed or (None,) * 4
        row: list[Cell] = [fit.data, fit.algorithm]
        for share, number in ((fit.test_error, test), (fit.train_error, train), (fit.zeros, zeros)):
            ours = 100 * share
            row += [ours, number, None if number is None else ours - number]
        rows.append((*row, fit.seconds, seconds, 100 * fit.zeros_from_first))
    title = f"{rounds:,} rounds of stumps"
    notes = _notes(sets, fits, rounds, comparable)
    table = Table(title, tuple(columns), tuple(rows), notes, name=name)
    return table if comparable else table.without({PUBLISHED, DIFFERENCE})


def compared(table: Table, group: str, algorithm: str | None = None) -> list[ComparedShare]:
    """Return each number of a group of columns that can be compared with a printed one."""
    if (PUBLISHED, group) not in {(column.name, column.group) for column in table.columns}:
        return []
    names = (table.column("set"), table.column("algorithm"))
    numbers = (table.column(OURS, group), table.column(PUBLISHED, group))
    return [
        ComparedShare(str(name), str(own), group, ours, printed)
        for name, own, ours, printed in zip(*names, *numbers, strict=True)
        if isinstance(ours, float) and isinstance(printed, float) and algorithm in (None, own)
    ]


def compared_from_first(table: Table, algorithm: str) -> list[ComparedShare]:
    """Return the shares of zeros over rounds 1 to T beside the printed ones."""
    ours = dict(
        zip(
            zip(table.column("set"), table.column("algorithm"), strict=True),
            table.column(OURS, ZEROS_FROM_FIRST),
            strict=True,
        )
    )
    return [
        each._replace(ours=share)
        for each in compared(table, ZEROS, algorithm)
        if isinstance(share := ours[each.data, each.algorithm], float)
    ]


def agrees(ours: float, printed: float) -> bool:
    """Whether our number, rounded once to the printed decimals, is the printed number.

    >>> agrees(15.552, 15.6), agrees(2.665, 2.6)
    (True, False)
    """
    return round(ours, DIGITS) == printed


def _printed(fit: Fit) -> published.Outcome | None:
    # both readings of NH-Boost.DT are compared with the one that was printed
    name = "NH-Boost.DT" if fit.algorithm == AS_PUBLISHED else fit.algorithm
    return published.TABLE_3[fit.data].get(name)


def _notes(
    sets: Sequence[Dataset], fits: Sequence[Fit], rounds: int, comparable: set[str]
) -> tuple[str, ...]:
    notes = [f"{data.name}: {data.note}" for data in sets if data.note]
    if comparable:
        notes.append(
            "Published times are of another machine in 2014. A difference is ours less theirs. "
            "Numbers are equal to the printed digit if ours, rounded to one decimal, is theirs; "
            "bold marks the others."
        )
        positive = [f"{data.classes[1]} on {data.name}" for data in sets if data.name in comparable]
        notes.append(
            "A tied vote counts as -1, so it matters which class is +1. One rule holds for all "
            "sets: +1 is the class that the .names file names first, or the first label in the "
            f"LIBSVM file ({listed(positive)}). The paper states no rule; this one was found "
            "after seeing its numbers."
        )
        notes.append(
            f"Zeros are averaged over the weights after each round, those of rounds 2 to "
            f"{rounds + 1}. The last column has rounds 1 to {rounds}; in round 1 no weight "
            "is zero. The paper states no convention; the first one fits more of its numbers."
        )
    short = [fit for fit in fits if fit.rounds < rounds]
    notes += [
        f"{fit.data}: {fit.algorithm} ended after {fit.rounds} rounds, when no stump had an edge."
        for fit in short
    ]
    return tuple(notes)
