"""The commands put together, in the order in which ``--help`` shows them."""

from __future__ import annotations

from typing import Annotated

import typer

from driftgames import __version__
from driftgames.cli import bench, boost, datasets
from driftgames.cli.bandit import bandit
from driftgames.cli.game import game
from driftgames.cli.hedge import hedge
from driftgames.cli.portfolio import portfolio
from driftgames.cli.reproduce import reproduce

app = typer.Typer(
    name="driftgames",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Online learning and boosting from drifting games, each run with its guarantee.",
)
app.command()(reproduce)
app.add_typer(boost.app, name="boost")
app.command()(hedge)
app.command()(bandit)
app.command()(portfolio)
app.command()(game)
app.add_typer(datasets.app, name="datasets")
app.add_typer(bench.app, name="bench")


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True)
    ] = False,
) -> None:
    if version:
        typer.echo(f"driftgames {__version__}")
        raise typer.Exit
