"""Progress bars: for a person at a terminal or in a notebook, and for long work only."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, Protocol

PATIENCE = 1.0
"""Seconds of work before a bar appears; shorter work stays silent."""

_BETWEEN = 0.2  # seconds between two pictures of a bar in a notebook


class Bar(Protocol):
    """A bar on some screen."""

    def advance(self, steps: int) -> None:
        """Count these steps, and show the bar if that is due."""

    def close(self) -> None:
        """Take the bar away."""


@contextlib.contextmanager
def progress(
    description: str, total: int | None, *, show: bool = True
) -> Iterator[Callable[[int], None]]:
    """Yield ``advance(steps)``, which moves a bar of ``total`` steps; None if it is unknown.

    The bar appears after `PATIENCE` seconds when standard error is a terminal or a notebook runs
    the code, and never otherwise; ``show=False`` silences it. A service may have no standard error,
    or a closed one.

    >>> with progress("rounds", total=3) as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    from driftgames.core.checks import check_flag  # it needs NumPy

    bar = _bar(description, total) if check_flag("progress", show) else None
    if bar is None:
        yield lambda steps: None
        return
    try:
        yield bar.advance
    finally:
        bar.close()


def _bar(description: str, total: int | None) -> Bar | None:
    """Return the bar of this screen; None if there is no screen."""
    if in_notebook():
        return NotebookBar(description, total)
    stream = sys.stderr
    if stream is None or stream.closed or not stream.isatty():
        return None
    return TerminalBar(description, total)


def in_notebook() -> bool:
    """Return whether the kernel of a notebook runs this code; IPython is not imported for it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class TerminalBar:
    """A bar on standard error, which is a terminal."""

    def __init__(self, description: str, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(description, total=total)
        self._begun = time.monotonic()

    def advance(self, steps: int) -> None:
        """Count these steps; the bar appears after `PATIENCE` seconds."""
        self._bar.advance(self._task, steps)
        if not self._bar.live.is_started and time.monotonic() - self._begun > PATIENCE:
            self._bar.start()

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


class NotebookBar:
    """A bar in the output of a notebook cell: one ``<progress>`` element, no widget, no script."""

    def __init__(self, description: str, total: int | None) -> None:
        self._description, self._total, self._done = description, total, 0
        self._begun = time.monotonic()
        self._next = self._begun + PATIENCE
        self._handle: Any = None

    def advance(self, steps: int) -> None:
        """Count these steps; the bar appears after `PATIENCE` seconds, then at most 5 times each.

        One output is updated, so that a saved notebook holds no trail of bars.
        """
        self._done += steps
        now = time.monotonic()
        if now <= self._next:
            return
        self._next = now + _BETWEEN
        self._show(self._html(now - self._begun))

    def close(self) -> None:
        """Take the bar away."""
        if self._handle is not None:
            self._show("")

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display  # the kernel has imported it

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))

    def _html(self, seconds: float) -> str:
        name, done = escape(self._description), f"{self._done:,}"
        if self._total is None:
            return f"<span>{name} {done}</span>"
        left = seconds * (self._total - self._done) / max(self._done, 1)
        return (
            f'<span>{name} <progress value="{self._done}" max="{self._total}"></progress> '
            f"{done}/{self._total:,}, {left:,.0f} s left</span>"
        )
