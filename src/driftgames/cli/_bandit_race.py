"""``driftgames bandit race``: which arms of a table of pulls may still be the best."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from driftgames.bandit import ArmRace
from driftgames.cli._options import Reading
from driftgames.cli._output import console
from driftgames.cli._tables import open_table
from driftgames.core.cells import is_number
from driftgames.core.text import listed
from driftgames.datasets.files import DataError
from driftgames.tables import as_records, counted, draw_table, write_json


def show_race(
    source: str,
    reading: Reading,
    ends: tuple[float, float],
    gains: bool,
    delta: float,
    names: list[str] | None,
    every: int | None,
    json: Path | None,
) -> None:
    """Print which arms may still be the best: at the end, and after each ``every`` pulls.

    The arms share ``delta``, so that their number must be known before the first pull is judged.
    """
    if every is not None and names is None:
        raise ValueError("--every needs the arms before the first pull: name them with --names")
    pulls = _pulls(source, reading, ends, "gain" if gains else "loss", live=every is not None)
    if names is None:
        seen = list(pulls)
        names, pulls = sorted(dict.fromkeys(name for name, _ in seen)), iter(seen)
    if not names:
        raise DataError(f"{source}: has no pulls")
    race = ArmRace(names, delta=delta, loss_range=ends, gains=gains)
    played = 0
    for played, (name, value) in enumerate(pulls, start=1):
        race.update(name, value)
        if every is not None and played % every == 0:
            typer.echo(f"{counted(played, 'pull')}: {race}")  # which flushes
    if not played:
        raise DataError(f"{source}: has no pulls")
    out = console()
    out.print(draw_table(race.table))
    out.print(str(race))
    if json is not None:
        content = {"leader": race.leader, "shortfall": race.shortfall, "delta": delta}
        reach = list(race.within_reach)
        write_json({**content, "within_reach": reach, "arms": as_records(race.table)}, json)


def _pulls(
    source: str, reading: Reading, ends: tuple[float, float], wanted: str, *, live: bool
) -> Iterator[tuple[str, float]]:
    """Yield arm and number of each pull; ``live``: each as soon as its line has come."""
    rows = 1 if live else None
    with open_table(source, **reading._asdict(), rows=rows, whole=not live) as table:
        titles = table.titles or ()
        if "arm" not in titles or wanted not in titles:
            found = f"it has {listed(titles)}: rename yours" if titles else "it names none"
            raise DataError(f"{source}: a log of pulls has the columns arm and {wanted}; {found}")
        arm, number = titles.index("arm"), titles.index(wanted)
        for columns, places in table.blocks:
            cells = zip(columns[arm], columns[number], places, strict=True)
            for name, cell, place in cells:
                if not is_number(cell) or not ends[0] <= float(cell) <= ends[1]:
                    raise DataError(
                        f"{table.place(place, number)}: a {wanted} must lie in [{ends[0]:g}, "
                        f"{ends[1]:g}] (see --loss-range); got {str(cell).strip()!r}"
                    )
                yield str(name).strip(), float(cell)
