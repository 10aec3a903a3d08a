"""A file of results that grows line by line: a run that was killed goes on where it ended.

Each line is the JSON of one row: a library on a split of a set. A torn last line is ignored and
overwritten by a line of its own. Two processes may add rows to one file.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from driftgames.core.documents import atomic_write
from driftgames.core.locks import LockedError, sole_writer

Row = dict[str, Any]
Key = tuple[str, int, str]
"""A set, a split and a library."""


def key_of(row: Row) -> Key:
    """Return what a row is the result of."""
    return row["set"], row["split"], row["library"]


class ResultsFile:
    """The rows of a file of JSON lines by their key; the last row of a key counts.

    Parameters
    ----------
    path : path
        The file, which need not exist. Folders above it are made.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def rows(self) -> dict[Key, Row]:
        """Read the rows that are there now."""
        found: dict[Key, Row] = {}
        for line in self._lines():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a torn line
                row = json.loads(line)
                found[key_of(row)] = row
        return found

    def append(self, row: Row) -> None:
        """Add a row, in one write that reaches the disk."""
        line = json.dumps(row, allow_nan=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(self.path), open(self.path, "ab+") as stream:
            if stream.tell() and not self.path.read_bytes().endswith(b"\n"):
                line = "\n" + line
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())

    def drop(self, unwanted: Callable[[Row], bool]) -> int:
        """Take rows out of the file; return how many."""
        if not self.path.exists():
            return 0
        with _alone(self.path):
            rows = self.rows().values()
            kept = [row for row in rows if not unwanted(row)]
            with atomic_write(self.path) as stream:
                stream.write("".join(json.dumps(row) + "\n" for row in kept).encode())
        return len(rows) - len(kept)

    def _lines(self) -> list[str]:
        return self.path.read_text().splitlines() if self.path.exists() else []


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process writes to the file, and keep others away."""
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(sole_writer(path))
                break
            except LockedError:
                time.sleep(0.02)
        yield
