"""How speed is measured and shown: best of several turns, ratios against peers, one table.

A subject is a module ``driftgames.benchmarks.<subject>`` with one function::

    def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]: ...

``tell("a9a: fitting")`` says what is being measured to whoever watches. Most subjects are
races: a list of `Contestant`, ours first, handed to `race`. Seconds differ between machines;
the ratios of one run are what can be compared.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console

Cell = str | int | float | None
Tell = Callable[[str], None]
Result = TypeVar("Result")

PATIENCE = 20.0
"""Seconds after which a contestant takes no further turns."""


def silent(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Column:
    """A column's name and the unit of its numbers: s, x (a ratio), /s, B, % or none."""

    name: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """One result as plain data; ``rows`` hold raw numbers, in the units of the columns."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> list[Cell]:
        """Return the cells of one column.

        >>> Table("t", (Column("name"), Column("best", "s")), (("ours", 0.5),)).column("best")
        [0.5]
        """
        at = [column.name for column in self.columns].index(name)
        return [row[at] for row in self.rows]


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
) -> Table:
    """Time the contestants, the first of whom is ours, and compare the others with it.

    Turns are taken in rounds, so that a busy moment of the machine hurts all alike, and the
    best turn counts: what is compiled or cached in the first turn is not charged. A contestant
    that has used `PATIENCE` seconds takes no more turns. What a peer warns of is its makers'
    concern and is not shown. With a ``unit`` ("rounds", "rows") there is a column of units per
    second too.

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
    times = _take_turns(title, ready, repeats, tell)
    per_item = {c.name: times[c.name] / c.items for c in contestants if c.name in times}
    ours = per_item.get(contestants[0].name)
    rows: list[tuple[Cell, ...]] = []
    for c in contestants:
        if c.name in absent:
            rows.append((c.name, None, None, None, c.wanted, f"skipped: {absent[c.name]}"))
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
    return _without(table, unused | {n for n in ("wanted", "note") if not any(table.column(n))})


def best_of(function: Callable[[], object], *, repeats: int = 5) -> float:
    """Return the seconds of the fastest of ``repeats`` calls, or of as many as patience allows."""
    return _take_turns("", {"": function}, repeats, silent)[""]


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


def peak_memory(code: str, *, environment: dict[str, str] | None = None) -> int:
    """Return the most bytes of memory that a new Python process held while it ran ``code``."""
    lines = run_python(f"{code}\n{_REPORT_PEAK}", environment=environment).split()
    return int(lines[-1])


def run_python(code: str, *, environment: dict[str, str] | None = None) -> str:
    """Run ``code`` in a new Python process and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"a measured process ended with code {done.returncode}: {last}")
    return done.stdout


def machine(packages: Sequence[str] = ()) -> dict[str, str]:
    """Return what the figures depend on: the processor, the system, the versions."""
    facts = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
    }
    for package in ("driftgames", "numpy", "numba", *packages):
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = "absent"
    return facts


def as_json(tables: dict[str, list[Table]], facts: dict[str, str]) -> dict[str, Any]:
    """Return results by subject as what `json.dumps` takes."""
    results = {subject: [asdict(table) for table in each] for subject, each in tables.items()}
    return {"machine": facts, "results": results}


def render(table: Table, console: Console) -> None:
    """Print one table; it is readable at 80 columns."""
    from rich import box
    from rich.table import Table as RichTable

    console.print(table.title, style="bold", markup=False, highlight=False)
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for at, column in enumerate(table.columns):
        numeric = any(isinstance(row[at], (int, float)) for row in table.rows)
        drawn.add_column(column.name, justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        cells = zip(row, table.columns, strict=True)
        drawn.add_row(*(format_cell(cell, column.unit) for cell, column in cells))
    console.print(drawn)
    for note in table.notes:
        console.print(f"  {note}", style="dim", markup=False, highlight=False)


def format_cell(cell: Cell, unit: str = "") -> str:
    """Return a cell in words that fit a table.

    >>> [format_cell(0.0123, "s"), format_cell(6.04, "x"), format_cell(None)]
    ['12.3 ms', '6.0x', '-']
    >>> [format_cell(3_500_000.0, "/s"), format_cell(0.221, "%"), format_cell(2**21, "B")]
    ['3.5 M', '22.1 %', '2.1 MB']
    """
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell
    if unit == "s":
        return _scaled(cell, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")))
    if unit == "/s":
        return _scaled(cell, ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")))
    if unit == "B":
        return _scaled(cell, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")))
    if unit == "x":
        return f"{cell:.2f}x" if cell < 2 else f"{cell:.1f}x"
    if unit == "%":
        return f"{100 * cell:.1f} %"
    return f"{cell:,d}" if isinstance(cell, int) else f"{cell:.4g}"


# VmHWM, for ru_maxrss counts the memory of the parent too, which a child shares until it execs
_REPORT_PEAK = """
def _peak():
    import resource, sys
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if "VmHWM" in line)
    except (OSError, StopIteration):
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return used if sys.platform == "darwin" else used * 1024
print(_peak())
"""


def _take_turns(
    title: str, functions: dict[str, Callable[[], object]], repeats: int, tell: Tell
) -> dict[str, float]:
    best: dict[str, float] = {}
    used = dict.fromkeys(functions, 0.0)
    for turn in range(1, repeats + 1):
        for name, function in functions.items():
            if used[name] >= PATIENCE:
                continue
            tell(f"{title}: {name}, turn {turn} of {repeats}")
            gc.collect()
            begun = time.perf_counter()
            function()
            taken = time.perf_counter() - begun
            used[name] += taken
            best[name] = min(taken, best.get(name, taken))
    return best


def _unwarned(function: Callable[[], Result]) -> Callable[[], Result]:
    def quiet() -> Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function()

    return quiet


def _without(table: Table, names: set[str]) -> Table:
    kept = [at for at, column in enumerate(table.columns) if column.name not in names]
    columns = tuple(table.columns[at] for at in kept)
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return Table(table.title, columns, rows, table.notes)


def _scaled(value: float, steps: Sequence[tuple[float, str]]) -> str:
    size, name = next((step for step in steps if abs(value) >= step[0]), steps[-1])
    scaled = value / size
    digits = 0 if scaled >= 100 else 1
    return f"{scaled:.{digits}f} {name}".rstrip()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as cpuinfo:
            named = (line.split(":", 1)[1].strip() for line in cpuinfo if "model name" in line)
            return next(named, platform.machine())
    except OSError:
        return platform.processor() or platform.machine()
