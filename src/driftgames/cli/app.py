"""The commands put together, in the order in which ``--help`` shows them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from driftgames.cli import bandit, boost, datasets
from driftgames.cli._options import READING, CommandGroup, GroupedCommand
from driftgames.cli.game import game
from driftgames.cli.hedge import hedge
from driftgames.cli.help import help_on
from driftgames.cli.mix import mix
from driftgames.cli.play import play
from driftgames.cli.portfolio import portfolio
from driftgames.cli.reproduce import reproduce

SUMMARIES = {
    "boost": "Fit, predict and inspect boosted decision trees.",
    "hedge": "Learn from expert advice, with its regret bound.",
    "mix": "Mix forecasts online, and compare with the best of them.",
    "bandit": "Simulate bandits, replay a table, or name the best arm.",
    "portfolio": "Run portfolio strategies over a table of prices.",
    "game": "Play a drifting game of chips.",
    "play": "Open a page on which you are the adversary.",
    "reproduce": "Run the paper's experiments and write a report.",
    "datasets": "List, export and download data sets.",
    "help": "Explain an idea of the library: driftgames help TOPIC.",
}
"""Learners come first, by how many people use them; then the theory, the paper and its data."""

START = (
    "To begin with real data: driftgames datasets export breast_cancer stocks visits. Most "
    "examples run on these files. For completion by the Tab key: driftgames "
    "--install-completion, then a new shell."
)


class _InOrder(CommandGroup):
    """A group whose help lists its commands as `SUMMARIES` does; typer puts groups last."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(SUMMARIES)


app = typer.Typer(
    name="driftgames",
    cls=_InOrder,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Online learning and boosting from drifting games, each run with its guarantee.",
    epilog=START,
)
for _command in (hedge, mix, portfolio, game, play, reproduce):
    _epilog = READING if _command in (hedge, mix, portfolio) else None
    _summary = SUMMARIES[_command.__name__]
    app.command(short_help=_summary, epilog=_epilog, cls=GroupedCommand)(_command)
app.command("help", short_help=SUMMARIES["help"], cls=GroupedCommand)(help_on)
for _group, _name in ((boost.app, "boost"), (bandit.app, "bandit"), (datasets.app, "datasets")):
    app.add_typer(_group, name=_name, short_help=SUMMARIES[_name])
    for _registered in _group.registered_commands:
        _registered.cls = GroupedCommand


def _print_version(asked: bool) -> None:
    if asked:
        from driftgames import __version__

        typer.echo(f"driftgames {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and end.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Take the options that stand before a command."""
