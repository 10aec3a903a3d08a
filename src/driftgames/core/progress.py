"""Progress bars: on standard error, for a person at a terminal, and for long work only."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

PATIENCE = 1.0
"""Seconds of work before a bar appears; shorter work stays silent."""


@contextlib.contextmanager
def progress(
    description: str, total: int | None, *, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Yield ``advance(steps)``, which moves a bar of ``total`` steps; None if it is unknown.

    The bar appears after `PATIENCE` seconds when standard error is a terminal, and never
    otherwise; ``show=False`` silences it. A service may have no standard error, or a closed one.

    >>> with progress("rounds", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    stream = sys.stderr
    if not show or stream is None or stream.closed or not stream.isatty():
        yield lambda steps: None
        return

    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(description, total=total)
    begun = time.monotonic()

    def advance(steps: int) -> None:
        bar.advance(task, steps)
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()
