"""The folders in which data is looked for, in order."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from driftgames.datasets.files import DataError

DATA_VARIABLE = "DRIFTGAMES_DATA"
CACHE_VARIABLE = "DRIFTGAMES_CACHE"


@dataclass(frozen=True)
class Location:
    """A folder that may hold data sets, one folder each; ``kind`` says why it is searched."""

    kind: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.kind} ({self.folder})"


def search_path(directory: str | os.PathLike[str] | None = None) -> list[Location]:
    """Return where data is looked for, in order.

    First comes the directory given, or else the one that ``DRIFTGAMES_DATA`` names. Then comes
    the user's cache.
    """
    found = [cache()]
    named = directory if directory is not None else os.environ.get(DATA_VARIABLE)
    if named:
        kind = "directory" if directory is not None else DATA_VARIABLE
        if not Path(named).is_dir():
            raise DataError(f"{kind} must be a folder that exists; got {os.fspath(named)!r}")
        found.insert(0, Location(kind, Path(named)))
    return found


def cache() -> Location:
    """Return the user's cache: ``DRIFTGAMES_CACHE``, or the system's folder for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Location("cache", Path(named))
    import pooch

    return Location("cache", Path(pooch.os_cache("driftgames")))
