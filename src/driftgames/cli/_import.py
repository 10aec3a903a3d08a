"""``--import``: a Python file of the user's, such as one that defines a potential."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

ImportedFile = Annotated[
    Path | None,
    typer.Option(
        "--import",
        metavar="FILE",
        help="A Python file that is run first, such as one that defines your own potential.",
    ),
]


def import_file(path: Path | None) -> None:
    """Run a Python file as a module; the classes in it register themselves."""
    if path is None:
        return
    name = f"driftgames_import_{path.stem}"  # the file may be called as a real module is
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"--import must be a Python file; got {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look it up there
    spec.loader.exec_module(module)
