"""Where data is looked for, in order."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from driftgames.datasets.files import DataError

DATA_VARIABLE = "DRIFTGAMES_DATA"
CACHE_VARIABLE = "DRIFTGAMES_CACHE"


@dataclass(frozen=True)
class Place:
    """A folder that may hold data sets, one folder each, and what it is called."""

    kind: str
    folder: Path


def places(directory: str | os.PathLike[str] | None = None) -> list[Place]:
    """Return where data is looked for, in order.

    The directory given, or else the one that ``DRIFTGAMES_DATA`` names; the user's cache; and
    ``../shared/data`` where the repository stands beside it.
    """
    found: list[Place] = []
    named = directory if directory is not None else os.environ.get(DATA_VARIABLE)
    if named:
        folder = Path(named)
        if not folder.is_dir():
            what = "directory" if directory is not None else DATA_VARIABLE
            raise DataError(f"{what} must be a folder that exists; got {os.fspath(named)!r}")
        found.append(Place("directory" if directory is not None else DATA_VARIABLE, folder))
    found.append(Place("cache", cache_folder()))
    shared = beside_repository()
    if shared is not None:
        found.append(Place("shared", shared))
    return found


def cache_folder() -> Path:
    """Return the user's cache: ``DRIFTGAMES_CACHE``, or the system's place for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "driftgames"


def beside_repository() -> Path | None:
    """Return ``../shared/data`` seen from the repository that this file lies in, if it is there."""
    root = Path(__file__).resolve().parents[3]
    folder = root.parent / "shared" / "data"
    return folder if (root / "pyproject.toml").is_file() and folder.is_dir() else None
