"""``driftgames reproduce``: the paper's experiments, ours beside the published numbers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from driftgames.cli import INTERRUPTED
from driftgames.cli._options import SETS, Count, Natural, described, one_of
from driftgames.cli._output import clear_errors, console, say
from driftgames.tables import write_json

EXPERIMENTS = ("table2", "table3", "figure1", "figure2", "hedge", "long", "noise", "peers")
"""The names of `paper.experiment.EXPERIMENTS`, written out to keep --help quick."""


@described
def reproduce(
    only: Annotated[str | None, one_of(EXPERIMENTS)] = None,
    full: bool = False,
    sets: Annotated[str | None, one_of((*SETS, "w8a-honest", "digits49", "breast_cancer"))] = None,
    rounds: Count = 200,
    seed: Natural = 0,
    data: Path | None = None,
    offline: bool = False,
    output: Path = Path("report"),
    fresh: bool = False,
) -> None:
    """Run the paper's experiments and write a report that opens in any browser.

    DIR/index.html is the report, DIR/results.json and DIR/csv hold its numbers. A run that was
    stopped goes on where it was when the same command is given again.

    Example: driftgames reproduce --only table3 --sets breast_cancer

    Experiments:
        only (NAME,NAME): table2, table3, figure1, figure2, hedge, and beyond the paper long, noise,
            peers. Default: those of the paper.
        full: Run long, noise and peers too.
        sets (NAME,NAME): {0}. Default: all sets of the paper that are here or can be downloaded.
        rounds (T): The number of boosting rounds.
        seed (N): The seed of all random numbers.

    Files:
        data (DIR): A folder with data sets. It is searched first.
        offline: Download nothing.
        output (DIR): The folder of the report and of finished tasks.
        fresh: Do finished tasks again.
    """
    from driftgames.paper import reproduce as runner
    from driftgames.paper.experiment import Setting
    from driftgames.paper.report import print_report, write_csv, write_page
    from driftgames.paper.sets import choose_sets
    from driftgames.paper.store import Store

    screen = console()
    with clear_errors():
        experiments = runner.select(_names("--only", only), full=full)
        chosen = choose_sets(
            _names("--sets", sets),
            directory=data,
            allow_download=not offline,
            announce=lambda line: say(line, err=True),
        )
        if chosen.reason:
            say(f"could not get {', '.join(chosen.missing)}: {chosen.reason}", err=True)
        setting = Setting(chosen, rounds=rounds, seed=seed)
        output.mkdir(parents=True, exist_ok=True)
        try:
            report, went = runner.reproduce(
                experiments, setting, Store(output / "tasks"), fresh=fresh
            )
        except KeyboardInterrupt:
            typer.echo("stopped; the same command goes on from here", err=True)
            raise typer.Exit(INTERRUPTED) from None
        write_json(asdict(report), output / "results.json")
        write_csv(report, output / "csv")
        write_page(report, output / "index.html")
    print_report(report, screen)
    again = f", {went.found} of them done before" if went.found else ""
    screen.print(
        f"\n{went.tasks} tasks{again}, {went.seconds:.1f} s. Report: {output / 'index.html'}",
        soft_wrap=True,
    )


def _names(option: str, text: str | None) -> list[str] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{option} must name at least one; got {text!r}")
    return names
