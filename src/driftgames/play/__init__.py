"""A page to play with: a person is the adversary of a drifting game, or draws points to boost.

`page` returns one HTML file that needs no network. Its arithmetic is plain JavaScript, in
``parts``. The page replays games and a fit of this library and shows the largest difference.
"""

from __future__ import annotations

import json
import os
from html import escape
from importlib import resources

from driftgames.core.documents import atomic_write

__all__ = ["page", "write_page"]

SCRIPTS = (
    "numbers.js",
    "potentials.js",
    "minimax.js",
    "game.js",
    "adversaries.js",
    "lookahead.js",
    "boosting.js",
    "adaboost.js",
    "address.js",
    "drawing.js",
    "line_view.js",
    "race.js",
    "tasks.js",
    "presets.js",
    "game_view.js",
    "game_actions.js",
    "tour.js",
    "plane_view.js",
    "boost_charts.js",
    "boost_view.js",
    "boost_actions.js",
    "check.js",
    "main.js",
)
"""The scripts of the page, in the order in which they run."""


def page(*, documentation: str | None = None) -> str:
    """Return the page: HTML, style, scripts and the records of the library in one text."""
    from driftgames.play.fixtures import fixtures

    link = ""
    if documentation is not None:
        link = f'<a href="{escape(documentation)}">Documentation and lessons</a>.'
    script = "\n".join(read_part(name) for name in SCRIPTS)
    # "</" would end the script element
    records = json.dumps(fixtures(), separators=(",", ":"), allow_nan=False).replace("</", r"<\/")
    return (
        read_part("page.html")
        .replace("{{style}}", read_part("page.css"))
        .replace("{{documentation}}", link)
        .replace("{{fixtures}}", records)
        .replace("{{script}}", script)
    )


def write_page(path: str | os.PathLike[str], *, documentation: str | None = None) -> None:
    """Write the page in one step. Its last link leads to ``documentation``, if that is given."""
    with atomic_write(path) as stream:
        stream.write(page(documentation=documentation).encode())


def read_part(name: str) -> str:
    """Return the text of a part of the page."""
    return resources.files("driftgames.play").joinpath("parts", name).read_text("utf-8")
