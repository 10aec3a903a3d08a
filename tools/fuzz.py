"""Break files of every kind that the library reads, and see that each break is met in order.

``python tools/fuzz.py --minutes 20 --seed 1`` mutates whole files: members are removed, replaced,
renamed and swapped, arrays change type, shape and bytes, and text is cut. Most files then get the
checksum of their new content, as if their author had meant it. In tables and data sets bytes and
numbers change, inside compressed files too. A file must be refused with the documented error, or
the object that comes of it must work.

Cases run in a child process under a limit of memory; one that takes too long is killed. Case i of
a seed is always the same: ``--first i --cases 1`` repeats it.
"""

from __future__ import annotations

import argparse
import base64
import collections
import contextlib
import copy
import json
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from fuzz_files import Kind, all_kinds
from fuzz_tables import broken_bytes

from driftgames.core.documents import digest, encode_array

STRANGE = (
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"),
    -float("inf"), 10**400, -(10**400), 2**31, 2**53, 2**53 + 1, 2**63, 2**64, 30_000, 3_000_000,
    10**9, 10**15, "", "x", "inf", "nan", "\u0000", "a" * 1000, [], {}, [[]], [None], [0] * 100,
    {"name": "Simplex", "arguments": {"n_coordinates": 10**9}},
    {"name": "RecipePotential", "arguments": {"phi_T": None, "horizon": 10**12}},
    {"name": "Exponential", "arguments": {"eta": 1e300}},
    {"name": "NormalHedgeDT", "arguments": {"d": 1e-300, "lag": 0}},
    {"name": "Points", "arguments": {"n_points": 2**40, "matched": True}},
    {"name": "Hedge", "arguments": None},
    {"dtype": "<f8", "shape": [10**12], "base64": ""},
    {"dtype": "<f8", "shape": [0, 10**15], "base64": ""},
    {"dtype": "O", "shape": [1], "base64": "AAAAAAAAAAA="},
)  # fmt: skip


def deep() -> Any:
    """Return a list in a list in a list, and so on."""
    nest: Any = []
    for _ in range(500):
        nest = [nest]
    return nest


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every member and entry."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, each in steps:
        yield (*at, step)
        if isinstance(each, dict | list):
            yield from places(each, (*at, step))


def mutate(document: Any, rng: random.Random) -> str:
    """Change one place of a document; return a line that says which and how."""
    where = rng.choice(list(places(document["content"]) if rng.random() < 0.97 else [()]))
    if not where:
        name = rng.choice(["format", "version", "content", "sha256"])
        document[name] = copy.deepcopy(rng.choice(STRANGE))
        return f"{name} replaced"
    holder = document["content"]
    for step in where[:-1]:
        holder = holder[step]
    step, value = where[-1], holder[where[-1]]
    path = ".".join(map(str, where))
    is_array = isinstance(value, dict) and value.keys() == {"dtype", "shape", "base64"}
    ways = ["replace", "replace", "remove", "copy", "deepen", "number"]
    if is_array or "base64" in where:
        ways += ["array"] * 8
    elif type(value) in (int, float):
        ways += ["number"] * 6
    way = rng.choice(ways)
    if way == "remove":
        del holder[step]
    elif way == "copy":  # another part of the file in this place
        other = document["content"]
        for each in rng.choice(list(places(document["content"]))):
            other = other[each]
        holder[step] = copy.deepcopy(other)
    elif way == "deepen":
        holder[step] = rng.choice([[value], {"x": value}, deep(), str(value)])
    elif way == "number" and type(value) in (int, float):
        holder[step] = rng.choice([value + 1, value - 1, -value, value * 2, value * 1e9, value / 3])
    elif way == "array" and is_array:
        holder[step] = other_array(value, rng)
    else:
        holder[step] = copy.deepcopy(rng.choice(STRANGE))
    return f"{path}: {way}"


def other_array(encoded: Any, rng: random.Random) -> Any:
    """Return an array near another one: other entries, sizes or bytes."""
    data = base64.b64decode(encoded["base64"])
    array = np.frombuffer(data, dtype=encoded["dtype"]).reshape(encoded["shape"]).copy()
    way = rng.randrange(6)
    if way == 0 and array.size:
        entry = rng.choice([np.nan, np.inf, -1.0, 1e300, -1e300, 0.0, 1e15, 5e-324, 2.0**53])
        with np.errstate(invalid="ignore"):
            array.flat[rng.randrange(array.size)] = entry
    elif way == 1:
        with np.errstate(invalid="ignore"):
            array = np.full(array.shape, rng.choice([np.nan, 1e308, -1.0, 0.0, 1.0])).astype(
                array.dtype
            )
    elif way == 2:
        array = np.zeros(rng.choice([(0,), (1,), (2, 2), (3,), (1000,), ()]))
    elif way == 3:
        array = array.astype(rng.choice([np.float32, np.int64, np.bool_, np.uint8]))
    elif way == 4:
        return {**encoded, rng.choice(["dtype", "shape", "base64"]): rng.choice(STRANGE)}
    else:
        data = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        return {**encoded, "base64": base64.b64encode(data).decode()}
    return encode_array(array)


def broken_text(text: str, seed: int, case: int) -> tuple[str, str]:
    """Return case ``case`` of a seed: the text of a broken file, and what was done to it."""
    rng = random.Random(f"{seed} {case}")
    document = json.loads(text)
    done = []
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        with contextlib.suppress(LookupError, OverflowError, RecursionError, TypeError, ValueError):
            done.append(mutate(document, rng))  # two changes may meet
    try:
        if rng.random() < 0.9:
            document["sha256"] = digest(document["content"])
            done.append("checksum made anew")
        text = json.dumps(document)
    except RecursionError:
        text = "[" * 5000  # a change that was made deeper cannot be written
    if rng.random() < 0.05:
        at = rng.randrange(len(text))
        text = rng.choice([text[:at], text[:at] + "\x00" + text[at:], text + text, text[at:]])
        done.append("text cut")
    return text, ", ".join(done)


def break_file(kind: Kind, content: bytes, seed: int, case: int) -> tuple[bytes, str]:
    """Return case ``case`` of a seed: the bytes of a broken file, and what was done to it."""
    if not kind.file.endswith(".json"):
        return broken_bytes(content, random.Random(f"{seed} {case}"))
    text, done = broken_text(content.decode(), seed, case)
    return text.encode(), done


def try_case(kind: Kind, content: bytes, folder: Path) -> tuple[str, str]:
    """Return ``refused``, ``works`` or ``BROKE``, and the message."""
    path = folder / kind.file
    path.write_bytes(content)
    try:
        found = kind.read(path)
    except kind.error as error:
        return "refused", str(error)
    except BaseException as error:
        return "BROKE", f"read: {type(error).__name__}: {error} {last_line(error)}"
    try:
        kind.use(found)
    except ValueError as error:  # a clear refusal of what the file asks for
        return "works", str(error)
    except BaseException as error:
        return "BROKE", f"use: {type(error).__name__}: {error} {last_line(error)}"
    return "works", ""


def last_line(error: BaseException) -> str:
    """Return the place in the library where an error was raised."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if "driftgames" in each[0]]
    return f"({frames[-1].filename.split('driftgames/')[-1]}:{frames[-1].lineno})" if frames else ""


def work(seed: int, first: int, cases: int, megabytes: int, names: list[str]) -> None:
    """Run cases and print a JSON line before and after each; what the child does."""
    warnings.simplefilter("ignore")
    kinds = [make() for name, make in all_kinds().items() if name in names]
    contents = [kind.content() for kind in kinds]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, content in zip(kinds, contents, strict=True):
            outcome, message = try_case(kind, content, folder)  # compiles what it needs
            if (outcome, message) != ("works", ""):
                raise SystemExit(f"the whole file of {kind.name} fails: {outcome} {message}")
        limit = _virtual_memory() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for case in range(first, first + cases):
            at = random.Random(f"kind {seed} {case}").randrange(len(kinds))
            content, done = break_file(kinds[at], contents[at], seed, case)
            print(json.dumps([case, kinds[at].name, done]), flush=True)  # noqa: T201
            print(json.dumps(try_case(kinds[at], content, folder)), flush=True)  # noqa: T201
            for left in folder.iterdir():
                left.unlink()


def _virtual_memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@dataclass
class Tally:
    """What came of the cases so far."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    kinds: collections.Counter[str] = field(default_factory=collections.Counter)
    broken: list[str] = field(default_factory=list)

    def count(self, case: int, kind: str, done: str, outcome: str, message: str) -> None:
        """Count a case; print one that broke."""
        self.outcomes[outcome] += 1
        self.kinds[kind] += 1
        if outcome == "BROKE":
            self.broken.append(f"case {case}, {kind}: {done}: {message}")
            print(self.broken[-1], flush=True)  # noqa: T201

    def __str__(self) -> str:
        lines = [
            f"{sum(self.kinds.values()):,} files: "
            + ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(self.outcomes.items()))
        ]
        lines += [f"  {count:7,} {kind}" for kind, count in sorted(self.kinds.items())]
        return "\n".join([*lines, f"{len(self.broken)} broke"])


def fuzz(options: argparse.Namespace) -> Tally:
    """Run cases in child processes until the time is over."""
    tally, case = Tally(), options.first
    end = time.monotonic() + options.minutes * 60
    last = None if options.cases is None else options.first + options.cases
    names = options.kinds.split(",") if options.kinds else list(all_kinds())
    while (last is None and time.monotonic() < end) or (last is not None and case < last):
        cases = 10**9 if last is None else last - case
        command = [sys.executable, __file__, "--child", "--seed", str(options.seed)]
        command += ["--first", str(case), "--cases", str(cases), "--kinds", ",".join(names)]
        command += ["--megabytes", str(options.megabytes)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as child:
            case = follow(child, tally, options.seconds, end if last is None else None)
    return tally


def follow(child: Any, tally: Tally, seconds: float, end: float | None) -> int:
    """Count what a child says until it ends, hangs or the time is over; return the next case."""
    begun, case = None, 0
    while end is None or time.monotonic() < end:
        # a child may compile before its first case
        ready, _, _ = select.select([child.stdout], [], [], 3600.0 if begun is None else seconds)
        line = child.stdout.readline() if ready else ""
        if line:
            said = json.loads(line)
            if len(said) == 3:
                begun = said
            else:
                tally.count(*begun, *said)
                case = begun[0] + 1
            continue
        child.kill()
        code = child.wait()
        if begun is None:
            raise SystemExit(f"the child ended with {code} before its first case")
        if case != begun[0] + 1:  # the last case was not answered
            why = f"ended the process ({code})" if ready else f"took more than {seconds} s"
            tally.count(*begun, "BROKE", why)
        return int(begun[0]) + 1
    child.kill()
    child.wait()
    return case


def main() -> int:
    """Fuzz, print the tally, and return 1 if anything broke."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="for how long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--cases", type=int, help="how many cases, instead of --minutes")
    parser.add_argument("--kinds", default="", help="names with commas; default: all")
    parser.add_argument("--megabytes", type=int, default=256, help="memory that a case may take")
    parser.add_argument("--seconds", type=float, default=30.0, help="time that a case may take")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        names = options.kinds.split(",")
        work(options.seed, options.first, options.cases, options.megabytes, names)
        return 0
    tally = fuzz(options)
    print(tally)  # noqa: T201
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())
