"""How commands speak: tables on standard output, one clear line on standard error."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from driftgames.tables import visible

if TYPE_CHECKING:
    from driftgames.core.typing import Console


def console() -> Console:
    """Return the console for results; plain text when standard output is not a terminal.

    Names come from users. It prints their brackets as they are, and their control characters as
    escapes.
    """
    from rich.console import Console

    class Screen(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            shown = (visible(each) if isinstance(each, str) else each for each in objects)
            super().print(*shown, **options)

    return Screen(markup=False, emoji=False, highlight=False, soft_wrap=False)


def say(line: str, *, err: bool = False) -> None:
    """Print one line with control characters as escapes; a terminal wraps it at spaces."""
    stream = sys.stderr if err else sys.stdout
    text = visible(line)
    if stream is not None and not stream.closed and stream.isatty():
        width = shutil.get_terminal_size().columns
        text = textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)
    typer.echo(text, err=err)


def fail(message: str) -> NoReturn:
    """Print one line that says what is wrong, and end with exit code 2."""
    say(f"error: {message}", err=True)
    raise typer.Exit(2)


def reason(error: Exception) -> str:
    """Return the message of an error; one of the operating system begins with the file."""
    if isinstance(error, OSError) and (error.filename or error.errno == errno.ENOSPC):
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return str(error)


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Turn bad input (a `ValueError` or an operating-system error) into one clear line."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of the output has left: the command ends silently
    except (OSError, ValueError) as error:
        fail(reason(error))
