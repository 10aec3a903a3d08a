"""How commands speak: tables on standard output, one clear line on standard error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

INTERRUPTED = 130
"""The exit code of a command that was stopped by Ctrl-C."""


def console() -> Console:
    """Return the console for results; plain text when standard output is not a terminal.

    It prints every text as it is: names come from users, and theirs may hold brackets.
    """
    from rich.console import Console

    return Console(markup=False, emoji=False, highlight=False, soft_wrap=False)


def make_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table with the first column flush left and all others flush right."""
    from rich import box
    from rich.table import Table

    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        min_width=min(len(title), 80),  # a title is not to be wrapped above a narrow table
    )
    for column, header in enumerate(headers):
        table.add_column(header, justify="left" if column == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def fail(message: str) -> NoReturn:
    """Say what is wrong in one line and end with exit code 2."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(2)


def reason(error: Exception) -> str:
    """Return what an error says, for an operating-system error of a file with its name first."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


@contextlib.contextmanager
def clear_errors() -> Iterator[None]:
    """Turn bad input (a `ValueError` or an operating-system error) into one clear line."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read the output has left: the command ends without a word
    except (OSError, ValueError) as error:
        fail(reason(error))
