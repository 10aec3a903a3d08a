"""``driftgames help``: the ideas behind the commands, a topic at a time."""

from __future__ import annotations

from typing import Annotated

import typer

from driftgames.cli._options import READING, completes
from driftgames.cli._output import clear_errors, console

TOPICS = {
    "potentials": "game",
    "games": "game",
    "hedge": "hedge",
    "boosting": "boost",
    "bandit": "bandit",
    "portfolio": "portfolio",
    "oco": "portfolio",
    "certificates": "hedge",
    "datasets": "datasets",
    "dask": "boost",
    "tables": "boost",
}
"""Each topic, and the command to try it with."""


def help_on(
    topic: Annotated[
        str | None,
        typer.Argument(help=f"One of {', '.join(TOPICS)}.", autocompletion=completes(*TOPICS)),
    ] = None,
) -> None:
    """Explain an idea of the library, or list the topics.

    Example: driftgames help potentials
    """
    from importlib import import_module
    from inspect import cleandoc

    from driftgames.core.registry import choose

    out = console()
    if topic is None:
        out.print(f"driftgames help TOPIC explains one of: {', '.join(TOPICS)}.")
        return
    with clear_errors():
        command = choose("TOPIC", topic, TOPICS)
        text = READING if topic == "tables" else import_module(f"driftgames.{topic}").__doc__
        for paragraph in cleandoc(text or "").split("\n\n"):
            out.print(" ".join(paragraph.split()) + "\n")
        out.print(f"To try it: driftgames {command} --help")
