"""``driftgames datasets``: what is where, and how to get the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftgames.cli._options import (
    SETS,
    CommandGroup,
    JsonFile,
    Natural,
    completes,
    described,
    running,
)
from driftgames.cli._output import clear_errors, console, fail, reason
from driftgames.tables import Column, Row, Table, as_records, draw_table, write_json

app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    help="The sets of the paper's experiments: where each one is, and how to bring it here.\n\n"
    "They are looked for in the folder that DRIFTGAMES_DATA names, and in your cache, which "
    "DRIFTGAMES_CACHE moves.\n\n"
    "Example: driftgames datasets export breast_cancer stocks visits",
)


@app.command("list")
@described
def list_sets(
    data: Path | None = None,
    json: JsonFile = None,
) -> None:
    """Show every set and where it is; nothing is downloaded.

    Example: driftgames datasets list

    Options:
        data (DIR): A folder that is searched first.
    """
    from driftgames.datasets import CATALOGUE, status

    with running(json=json):
        states = status(data)
    rows: list[Row] = []
    for state in states:
        entry = CATALOGUE.get(state.name)
        sizes = (
            (None, None, None) if entry is None else (entry.n_train, entry.n_test, entry.n_features)
        )
        likewise = ", made in the same way" * (entry is not None and not state.published)
        where = "not here yet" if state.where is None else f"{state.where}{likewise}"
        rows.append((state.name, *sizes, where))
    columns = tuple(map(Column, ("set", "train", "test", "features", "where")))
    table = Table("Data sets", columns, tuple(rows))
    if json is not None:
        write_json(as_records(table), json)
    console().print(draw_table(table))
    missing = [state.name for state in states if state.where is None]
    if missing:
        console().print(f"To get the rest: driftgames datasets fetch {' '.join(missing)}")


@app.command("export")
@described
def export_sets(
    names: Annotated[
        list[str],
        typer.Argument(
            autocompletion=completes(*SETS, "breast_cancer", "digits49", "stocks", "visits")
        ),
    ],
    output: Path = Path(),
) -> None:
    """Write sets as CSV files that the other commands read.

    breast_cancer, digits49, stocks and visits need no network. stocks are
    the monthly prices of five companies and two indexes from 1990 to 2022.
    visits are simulated visits of a web page, and a log of pulls.

    Example: driftgames datasets export breast_cancer stocks visits

    Options:
        names: Sets of the paper, breast_cancer, digits49, stocks, or visits.
        output (DIR): The folder of the files.
    """
    from driftgames.datasets import export

    with clear_errors():
        if not output.is_dir():
            raise ValueError(f"--output: there is no directory {output}")
        for name in names:
            for path in export(name, output):
                console().print(str(path), soft_wrap=True)


@app.command(short_help="Download sets to your cache.")
@described
def fetch(
    names: Annotated[list[str], typer.Argument(autocompletion=completes(*SETS, "all"))],
    timeout: Annotated[float, typer.Option(min=0.1)] = 30.0,
    retries: Natural = 2,
) -> None:
    """Download sets to your cache, check them, and binarise them if they are raw.

    A file that is there already is not downloaded again.

    Example: driftgames datasets fetch a9a w8a

    Options:
        names: Sets of the paper, or 'all'.
        timeout: Seconds that a server may stay silent.
        retries: How often a broken download is tried again.
    """
    from driftgames.datasets import CATALOGUE, DataError
    from driftgames.datasets import fetch as fetch_set

    wanted = list(CATALOGUE) if names == ["all"] else names
    for name in wanted:
        if name not in CATALOGUE:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(CATALOGUE)} or all")
    failures = []
    for name in wanted:
        try:
            folder = fetch_set(name, timeout=timeout, retries=retries)
        except (DataError, OSError) as error:
            failures.append(reason(error))
        else:
            console().print(f"{name}: {folder}", soft_wrap=True)
    if failures:
        fail("; ".join(failures))
