"""Whether this process compiles: a worker that compiles answers late and is not lost."""

from __future__ import annotations

import threading
from typing import Any

from numba.core import event


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
