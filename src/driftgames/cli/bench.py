"""``driftgames bench``: the library against the ones that people use now, in one run."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Annotated

import typer

from driftgames.cli._output import console

app = typer.Typer(
    no_args_is_help=True,
    help="Race the library against its peers on this machine and print the ratios.\n\n"
    "A peer that is not installed is left out, with the reason in the table; "
    "pip install 'driftgames[bench]' brings all but SMPyBandits.\n\n"
    "Example: driftgames bench boosting --quick",
)

PEERS: dict[str, tuple[str, ...]] = {
    "boosting": ("lightgbm", "xgboost", "scikit-learn", "interpret-core"),
    "hedge": ("river", "sktime", "pyol"),
    "bandit": ("river", "pymab", "SMPyBandits"),
    "oco": ("scipy", "universal-portfolios"),
}
"""The subjects, and the packages whose versions their figures depend on."""

Quick = Annotated[
    bool, typer.Option("--quick", help="Smaller data and fewer turns: minutes become seconds.")
]
Json = Annotated[
    Path | None,
    typer.Option("--json", metavar="OUT.json", help="Write the raw numbers to this file too."),
]


@app.command()
def boosting(quick: Quick = False, output: Json = None) -> None:
    """Stump boosting against LightGBM, XGBoost, scikit-learn and EBM.

    Example: driftgames bench boosting --json boosting.json
    """
    _bench(["boosting"], quick, output)


@app.command()
def hedge(quick: Quick = False, output: Json = None) -> None:
    """Learning from expert advice.

    Example: driftgames bench hedge --quick
    """
    _bench(["hedge"], quick, output)


@app.command()
def bandit(quick: Quick = False, output: Json = None) -> None:
    """Multi-armed bandits.

    Example: driftgames bench bandit --quick
    """
    _bench(["bandit"], quick, output)


@app.command()
def oco(quick: Quick = False, output: Json = None) -> None:
    """Online convex optimization and portfolios.

    Example: driftgames bench oco --quick
    """
    _bench(["oco"], quick, output)


@app.command("all")
def everything(quick: Quick = False, output: Json = None) -> None:
    """All of them, one after the other.

    Example: driftgames bench all --json bench.json
    """
    _bench(list(PEERS), quick, output)


def _bench(subjects: list[str], quick: bool, output: Path | None) -> None:
    from rich.console import Console

    from driftgames.benchmarks.harness import Table, as_json, machine, render
    from driftgames.core.documents import atomic_write

    if output is not None and not output.parent.is_dir():
        raise typer.BadParameter(f"there is no directory {output.parent}", param_hint="--json")
    screen = console()
    facts = machine(list(dict.fromkeys(name for each in subjects for name in PEERS[each])))
    screen.print(", ".join(f"{key} {value}" for key, value in facts.items()), style="dim")
    results: dict[str, list[Table]] = {}
    for subject in subjects:
        module = importlib.import_module(f"driftgames.benchmarks.{subject}")
        with Console(stderr=True).status(subject) as status:
            results[subject] = module.run(quick=quick, tell=status.update)
        for table in results[subject]:
            screen.print()
            render(table, screen)
    if output is not None:
        with atomic_write(output) as stream:
            stream.write(json.dumps(as_json(results, facts), indent=1).encode())
