"""``driftgames help``: the ideas behind the commands, a topic at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftgames.cli._options import READING, completes
from driftgames.cli._output import clear_errors, console, fail
from driftgames.core.text import shown

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
    from driftgames.core.registry import choose

    out = console()
    if topic is None:
        out.print(f"driftgames help TOPIC explains one of: {', '.join(TOPICS)}.")
        return
    if topic not in TOPICS and (near := _topics_on(topic)):
        fail(f"there is no topic {shown(topic)}; see driftgames help {' or '.join(near)}")
    with clear_errors():
        command = choose("TOPIC", topic, TOPICS)
        for paragraph in _text(topic).split("\n\n"):
            out.print(" ".join(paragraph.split()) + "\n")
        out.print(f"To try it: driftgames {command} --help")


def _text(topic: str) -> str:
    """Return the docstring of the topic's package, without the time to import it."""
    import ast
    from importlib.util import find_spec

    if topic == "tables":
        return READING
    spec = find_spec(f"driftgames.{topic}")
    tree = ast.parse(Path(str(spec and spec.origin)).read_text(encoding="utf-8"))
    return ast.get_docstring(tree) or ""


def _topics_on(word: str) -> list[str]:
    """Return the topics whose name is almost the word, or else the three that use it most."""
    import difflib
    import re

    if near := difflib.get_close_matches(word, TOPICS, n=1, cutoff=0.75):
        return near
    pattern = re.compile(rf"\b{re.escape(word.removesuffix('s'))}", re.IGNORECASE)
    uses = {topic: len(pattern.findall(_text(topic))) for topic in TOPICS}
    return sorted(filter(uses.get, uses), key=lambda topic: -uses[topic])[:3]
