"""``driftgames play``: a page on which a person is the adversary."""

from __future__ import annotations

from pathlib import Path

import typer

from driftgames.cli._options import described, running
from driftgames.cli._output import say


@described
def play(
    output: Path = Path("driftgames-play.html"),
    no_open: bool = False,
) -> None:
    """Write a page to play with and open it in the browser.

    The page is one file and needs no network. On it you push the chips of a drifting game, and
    you draw points and watch NH-Boost.DT learn them round by round.

    Example: driftgames play --output game.html --no-open

    Options:
        output (FILE): The file to write.
        no_open: Write the page and do not open it.
    """
    import webbrowser

    from driftgames.play import write_page

    with running(output=output):
        write_page(output)
    say(f"Wrote {output}.")
    if not no_open and not webbrowser.open(output.resolve().as_uri()):
        typer.echo("No browser was found; open the file by hand.", err=True)
