"""The command line: ``driftgames reproduce``, ``boost``, ``hedge`` and the rest.

Every command stands in a file of its own and imports what it needs when it runs.
"""

import os
import sys
import warnings

INTERRUPTED = 130
"""The exit code of a command that was stopped by Ctrl-C."""


def main() -> None:
    """Run the command line."""
    try:
        _replace_missing_streams()
        warnings.showwarning = _say_warning
        from driftgames.cli.app import app

        app()
    except KeyboardInterrupt:  # while modules are imported; commands have their own answers
        sys.stderr.write("stopped\n")
        sys.exit(INTERRUPTED)


def _say_warning(message: Warning | str, *place: object, **settings: object) -> None:
    """Print a warning as one line, without the place in the code that a user does not know."""
    from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, visible

    line = " ".join(str(message).split())
    sys.stderr.write(f"warning: {shorten(visible(line), MOST_OF_A_MESSAGE)}\n")


def _replace_missing_streams() -> None:
    """Open the null device where a standard stream is closed.

    Otherwise the next file would take the number of the stream, and what is written to the stream
    would end up in that file. ``sys.stdin`` stays None: a command that reads it says so.
    """
    was_silent = sys.stdout is None
    for name in ("stdin", "stdout", "stderr"):  # a handle takes the lowest number that is free
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if name != "stdin":
                setattr(sys, name, os.fdopen(handle, "w", encoding="utf-8"))
    if was_silent:
        sys.stderr.write("standard output is closed: results are not shown\n")
