"""Progress bars: for a person at a terminal or in a notebook, and for long work only.

A bar names what is done, the steps that are done, how many there will be, and their unit. It says
how long the rest takes once a tenth is done.
"""

from __future__ import annotations

import contextlib
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

PATIENCE = 1.0
"""Seconds of work before a bar appears; shorter work stays silent."""

_BETWEEN = 0.2  # seconds between two pictures of a bar
_KNOWN_FROM = 0.1  # the part of the work after which the rest is estimated
_WIDTH = 20  # columns of a bar, so that all the words fit into 80


@contextlib.contextmanager
def progress(
    description: str,
    total: int | None,
    unit: str,
    *,
    at_most: bool = False,
    show: bool = True,
) -> Iterator[Callable[[int], None]]:
    """Yield ``advance(steps)``, which moves a bar of ``total`` steps; None if it is unknown.

    The bar appears after `PATIENCE` seconds when standard error is a terminal or a notebook runs
    the code, and never otherwise; ``show=False`` silences it. Work that may end before ``total``
    says so by ``at_most``. A service may have no standard error, or a closed one.

    >>> with progress("playing", 3, "rounds") as advance:
    ...     for _ in range(3):
    ...         advance(1)
    """
    from driftgames.core.checks import check_flag  # it needs NumPy

    words = Words(description, total, unit, at_most)
    bar = make_bar(words) if check_flag("progress", show) else None
    if bar is None:
        yield lambda steps: None
        return
    try:
        yield bar.advance
    finally:
        bar.close()


@dataclass(frozen=True)
class Words:
    """What a bar says in words.

    >>> words = Words("choosing a size", 25, "stages", at_most=True)
    >>> words.count(7), words.left(2, 1.0), words.left(5, 1.0)
    ('7 of at most 25 stages', '', '4 s left')
    """

    description: str
    total: int | None
    unit: str
    at_most: bool = False

    def count(self, done: int) -> str:
        """Return how much is done, of how much, in which unit."""
        most = "at most " * self.at_most
        end = "" if self.total is None else f" of {most}{self.total:,}"
        return f"{done:,}{end} {self.unit}"

    def left(self, done: int, seconds: float) -> str:
        """Return how long the rest takes; nothing before a tenth of the work is done."""
        if self.total is None or done < max(_KNOWN_FROM * self.total, 1):
            return ""
        rest = seconds * (self.total - done) / done
        return f"{rest:,.0f} s left" if rest < 120 else f"{rest / 60:,.0f} min left"


class Bar(ABC):
    """A bar on some screen, of which there is one at a time."""

    def __init__(self, words: Words) -> None:
        self.words, self._done = words, 0
        self._begun = time.monotonic()
        self._next = self._begun + PATIENCE

    def advance(self, steps: int) -> None:
        """Count these steps; the bar appears after `PATIENCE` seconds, then at most 5 times each.

        A bar within the work of another one stays silent.
        """
        self._done += steps
        now = time.monotonic()
        if now <= self._next or any(bar is not self for bar in _on_screen):
            return
        self._next = now + _BETWEEN
        _on_screen[:] = [self]
        self._draw(self._done, now - self._begun)

    def close(self) -> None:
        """Take the bar away; it comes back if more steps are counted."""
        if self in _on_screen:
            _on_screen.remove(self)
            self._remove()

    @abstractmethod
    def _draw(self, done: int, seconds: float) -> None:
        """Show the bar."""

    @abstractmethod
    def _remove(self) -> None:
        """Take the bar off the screen."""


_on_screen: list[Bar] = []


def make_bar(words: Words) -> Bar | None:
    """Return the bar of this screen; None if there is no screen."""
    if in_notebook():
        return NotebookBar(words)
    stream = sys.stderr
    if stream is None or stream.closed or not stream.isatty():
        return None
    return TerminalBar(words)


def in_notebook() -> bool:
    """Return whether the kernel of a notebook runs this code; IPython is not imported for it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class TerminalBar(Bar):
    """A bar on standard error, which is a terminal."""

    def __init__(self, words: Words) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        super().__init__(words)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=_WIDTH),
            TextColumn("{task.fields[words]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(words.description, total=words.total, words="")

    def _draw(self, done: int, seconds: float) -> None:
        words = f"{self.words.count(done)}  {self.words.left(done, seconds)}"
        self._bar.update(self._task, completed=done, words=words)
        self._bar.start()

    def _remove(self) -> None:
        self._bar.stop()


class NotebookBar(Bar):
    """A bar in the output of a notebook cell: one ``<progress>`` element, no widget, no script.

    One output is updated, so that a saved notebook holds no trail of bars.
    """

    _handle: Any = None

    def _draw(self, done: int, seconds: float) -> None:
        words = self.words
        bar = "" if words.total is None else f'value="{done}" max="{words.total}"'
        text = ", ".join(filter(None, [words.count(done), words.left(done, seconds)]))
        name = escape(words.description)
        self._show(f"<span>{name} <progress {bar}></progress> {escape(text)}</span>")

    def _remove(self) -> None:
        self._show("")

    def _show(self, html: str) -> None:
        from IPython.display import HTML, display  # the kernel has imported it

        if self._handle is None:
            self._handle = display(HTML(html), display_id=True)
        else:
            self._handle.update(HTML(html))
