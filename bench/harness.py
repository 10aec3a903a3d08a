"""How speed is measured: the best of several turns, and ratios against peers.

A subject is a module ``bench.<subject>`` with one function::

    def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]: ...

``tell("a9a: fitting")`` shows what is being measured. Most subjects are
races: a list of `Contestant`, ours first, handed to `race`. Seconds differ between machines;
the ratios of one run are what can be compared.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from driftgames.paper.environment import environment
from driftgames.tables import Cell, Column, Row, Table

Tell = Callable[[str], None]
Result = TypeVar("Result")

PATIENCE = 20.0
"""Seconds after which a contestant takes no further turns."""

SKIPPED = "skipped: "
"""The note of a contestant that is not installed begins with this."""


def silent(text: str) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Contestant:
    """One side of a race.

    Parameters
    ----------
    name : str
        What the table calls it.
    prepare : callable
        Brings the data into the form this side likes best, untimed, and returns the function
        that is timed. It is called only when ``requires`` imports.
    requires : tuple of str
        Modules without which this side is left out, with the reason in the table.
    items : int
        How many units of work one turn does; ratios compare the time per unit, so that a slow
        peer may do less.
    wanted : float, optional
        How many times as long as ours this side is expected to take, at least.
    note : str
        A word on the settings.
    """

    name: str
    prepare: Callable[[], Callable[[], object]]
    requires: tuple[str, ...] = ()
    items: int = 1
    wanted: float | None = None
    note: str = ""


def race(
    title: str,
    contestants: Sequence[Contestant],
    *,
    repeats: int = 5,
    unit: str = "",
    notes: Sequence[str] = (),
    tell: Tell = silent,
    clock: Callable[[], float] | None = None,
) -> Table:
    """Time the contestants, ours first, and compare the others with ours.

    Contestants take turns, so that a busy moment of the machine hurts all of them, and the best
    turn counts: what is compiled or cached in the first turn is not charged. A contestant
    that has used `PATIENCE` seconds takes no more turns. Warnings of peers are not shown. With
    a ``unit`` ("rounds", "rows") there is a column of units per second too. The ``clock`` may be
    that of the processor, for contestants of one thread on a busy machine.

    >>> def work(n):
    ...     return lambda: (lambda: sum(range(n)))
    >>> ours, theirs = Contestant("ours", work(10)), Contestant("theirs", work(10**5))
    >>> race("sums", [ours, theirs], repeats=1).column("contestant")
    ['ours', 'theirs']
    """
    ready: dict[str, Callable[[], object]] = {}
    absent: dict[str, str] = {}
    for contestant in contestants:
        reason = why_absent(contestant.requires)
        if reason is None:
            tell(f"{title}: preparing {contestant.name}")
            if contestant.requires:
                ready[contestant.name] = _unwarned(_unwarned(contestant.prepare)())
            else:
                ready[contestant.name] = contestant.prepare()
        else:
            absent[contestant.name] = reason
    times = _take_turns(title, ready, repeats, tell, clock)
    per_item = {c.name: times[c.name] / c.items for c in contestants if c.name in times}
    ours = per_item.get(contestants[0].name)
    rows: list[Row] = []
    for c in contestants:
        if c.name in absent:
            rows.append((c.name, None, None, None, c.wanted, f"{SKIPPED}{absent[c.name]}"))
            continue
        ratio = None if ours is None else per_item[c.name] / ours
        rows.append((c.name, times[c.name], 1 / per_item[c.name], ratio, c.wanted, c.note))
    columns = (
        Column("contestant"),
        Column("best", "s"),
        Column(f"{unit}/s", "/s"),
        Column("to ours", "x"),
        Column("wanted", "x"),
        Column("note"),
    )
    table = Table(title, columns, tuple(rows), tuple(notes))
    unused = {f"{unit}/s"} if not unit else set()
    return table.without(unused | {n for n in ("wanted", "note") if not any(table.column(n))})


def side_by_side(
    title: str,
    races: Mapping[str, Table],
    column: str,
    unit: str,
    *,
    inverse: bool = False,
    wanted: Mapping[str, Mapping[str, float]] | None = None,
) -> Table:
    """Return one column of several races, a column for each race.

    Parameters
    ----------
    races : mapping
        Results of `race` by the header of their column, such as ``N=10``.
    column, unit : str
        The column that is taken from each race, and the unit that it is shown in.
    inverse : bool
        Whether 1 over each number is shown: seconds per round rather than rounds per second.
    wanted : mapping, optional
        Limits by name and race. They come first, and the reasons why a contestant was skipped
        come last.
    """
    cells = {label: _by_contestant(table, column) for label, table in races.items()}
    names = dict.fromkeys(name for own in cells.values() for name in own)
    rows: list[Row] = [
        (name, *(limits.get(label) for label in races))
        for name, limits in (wanted or {}).items()
        if not limits.keys().isdisjoint(races)
    ]
    for name in names:
        own = [cells[label].get(name) for label in races]
        rows.append((name, *(1 / x if inverse and isinstance(x, float) else x for x in own)))
    reasons = dict.fromkeys(
        f"{name} {note}"
        for table in races.values()
        if wanted
        for name, note in _by_contestant(table, "note").items()
        if str(note).startswith(SKIPPED)
    )
    columns = (Column("contestant"), *(Column(label, unit) for label in races))
    return Table(title, columns, tuple(rows), tuple(reasons))


def best_of(function: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the seconds of the fastest of ``repeats`` calls, or of as many as patience allows."""
    return _take_turns("", {"": function}, repeats, silent)[""]


def best_clocks(
    title: str, fits: Mapping[Any, Callable[[], object]], repeats: int, tell: Tell
) -> dict[Any, tuple[float, float]]:
    """Return the best seconds of the clock and of the processor; the functions take turns."""
    best: dict[Any, tuple[float, float]] = {}
    for turn in range(1, repeats + 1):
        for name, function in fits.items():
            tell(f"{title}: {name}, turn {turn} of {repeats}")
            gc.collect()
            begun = time.perf_counter(), time.process_time()
            function()
            taken = time.perf_counter() - begun[0], time.process_time() - begun[1]
            was = best.get(name, taken)
            best[name] = min(was[0], taken[0]), min(was[1], taken[1])
    return best


def why_absent(modules: Sequence[str]) -> str | None:
    """Return why one of these modules cannot be imported, or None when all can.

    >>> why_absent(["math", "no_such_module"])
    "No module named 'no_such_module'"
    """
    for module in modules:
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:  # OSError: a shared library it needs is missing
            return str(error).splitlines()[0]
    return None


def peak_memory(code: str) -> int:
    """Return the most bytes of memory that a new Python process held while it ran ``code``."""
    lines = run_python(f"{code}\n{_REPORT_PEAK}").split()
    return int(lines[-1])


def run_python(code: str, *, variables: dict[str, str] | None = None) -> str:
    """Run ``code`` in a new Python process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": _path(), **(variables or {})},
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"a measured process ended with code {done.returncode}: {last}")
    return done.stdout


def machine(packages: Sequence[str] = ()) -> dict[str, str]:
    """Return what the figures depend on: the versions, the processor, the system."""
    return environment(("numpy", "numba", *packages))


def resident_memory(field: str = "VmHWM") -> int:
    """Return the bytes of memory that this process holds (VmRSS) or held at most (VmHWM)."""
    import resource
    import sys

    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if field in line)
    except (OSError, StopIteration):
        # counts the memory that a child shares with its parent before exec too
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used if sys.platform == "darwin" else used * 1024


def forget_peak() -> None:
    """Let the most memory of this process count from now on, where the system can do that."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as control:
        control.write("5")


# a measured process does not import this module, which would take memory
_REPORT_PEAK = f"{inspect.getsource(resident_memory)}\nprint(resident_memory())\n"


def _take_turns(
    title: str,
    functions: dict[str, Callable[[], object]],
    repeats: int,
    tell: Tell,
    clock: Callable[[], float] | None = None,
) -> dict[str, float]:
    now = clock or time.perf_counter
    best: dict[str, float] = {}
    used = dict.fromkeys(functions, 0.0)
    for turn in range(1, repeats + 1):
        for name, function in functions.items():
            if used[name] >= PATIENCE:
                continue
            tell(f"{title}: {name}, turn {turn} of {repeats}")
            gc.collect()
            begun = now()
            function()
            taken = now() - begun
            used[name] += taken
            best[name] = min(taken, best.get(name, taken))
    return best


def _by_contestant(table: Table, column: str) -> dict[str, Cell]:
    if column not in [each.name for each in table.columns]:
        return {}
    return dict(zip(map(str, table.column("contestant")), table.column(column), strict=True))


def _unwarned(function: Callable[[], Result]) -> Callable[[], Result]:
    def quiet() -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function()

    return quiet


def _path() -> str:
    """Return PYTHONPATH with the repository first, so that a new process finds `bench`."""
    root = str(Path(__file__).resolve().parents[1])
    return os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
