"""The actor on a worker: it holds shares of the rows for the length of a fit.

It also says whether its process compiles: such a worker answers late and is not lost.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import get_worker
from numba.core import event

from driftgames.boosting.data.binned_data import assemble
from driftgames.boosting.data.cuts import Cuts
from driftgames.boosting.engine.remote_game import Command, Share, combine
from driftgames.dask.partitions import Partition, PartitionSetup


class Compilation(event.Listener):  # type: ignore[misc]  # numba is untyped
    """Counts running compilations, and loads of compiled code: events ``numba:compiler_lock``.

    >>> compilation = Compilation()
    >>> with event.install_listener("numba:compiler_lock", compilation):
    ...     with event.trigger_event("numba:compiler_lock"):
    ...         compilation.runs
    True
    >>> compilation.runs
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_running = 0

    @property
    def runs(self) -> bool:
        """Whether a thread of this process compiles."""
        return self._n_running > 0

    def on_start(self, event: Any) -> None:
        """Count one more; they may be nested."""
        with self._lock:
            self._n_running += 1

    def on_end(self, event: Any) -> None:
        """Count one less."""
        with self._lock:
            self._n_running -= 1


COMPILATION = Compilation()
"""The compilation of this process."""

event.register("numba:compiler_lock", COMPILATION)


@dataclass(frozen=True)
class Message:
    """Commands or answers, opaque to Dask: pickled whole instead of walked."""

    content: Any


class Holder:
    """Bins partitions into shares, and carries out commands on them."""

    def __init__(self, setup: PartitionSetup, parts: Sequence[Partition]) -> None:
        assert setup.cuts is not None
        n_threads, n_classes = get_worker().state.nthreads, setup.classes.size
        cuts = Cuts(*(_writable(getattr(setup.cuts, f.name)) for f in dataclasses.fields(Cuts)))
        rows = [
            (_writable_rows(setup.columns(p)), setup.class_numbers(p), setup.masses(p))
            for p in parts
        ]
        self._pool = ThreadPoolExecutor(n_threads)

        def assemble_share(k: int) -> list[Share]:
            """Bin one of as many shares as there are threads."""
            pieces = []
            for X, labels, masses in rows:
                n_rows = labels.size
                piece = slice(n_rows * k // n_threads, n_rows * (k + 1) // n_threads)
                pieces.append((X[piece], labels[piece], masses[piece]))
            sets = assemble(pieces, cuts, n_classes, integer_weights=setup.integer_weights)
            return [Share(data, setup.shape, labels, n_classes) for data, labels in sets]

        self._shares = [
            s for sets in self._pool.map(assemble_share, range(n_threads)) for s in sets
        ]
        self._seconds = 0.0

    def ask(self, commands: Message) -> Message:
        """Return the answers of all shares to some `Command`s."""
        return Message([self._answer(command) for command in commands.content])

    def _answer(self, command: Command) -> Any:
        begun = time.perf_counter()
        name, arguments = command
        writable = [_writable(argument) for argument in arguments]
        answer = combine(name, self._each(lambda share: share.ask(name, *writable)))
        self._seconds += time.perf_counter() - begun
        return answer

    def _each(self, task: Callable[[Share], Any]) -> list[Any]:
        """Run a task for all shares; one share needs no other thread."""
        if len(self._shares) == 1:
            return [task(self._shares[0])]
        return list(self._pool.map(task, self._shares))

    def seconds(self) -> float:
        """Return the time that answering took."""
        return self._seconds

    async def compiles(self) -> bool:
        """Return whether this worker compiles; a coroutine is answered while a command runs."""
        return COMPILATION.runs

    def replay(self, commands: Sequence[Command]) -> None:
        """Bring the shares to where the others stand."""
        for command in commands:
            self._answer(command)


def _writable(value: Any) -> Any:
    """Return a copy of a read-only array: Dask's messages are, and compiled loops take no such."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        return value.copy()
    return value


def _writable_rows(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return _writable(X)
    return type(X)((_writable(X.data), _writable(X.indices), _writable(X.indptr)), shape=X.shape)
