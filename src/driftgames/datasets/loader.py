"""`load`: a set by its name, from the first location of the search path that has it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftgames.core.documents import atomic_write
from driftgames.core.registry import choose
from driftgames.datasets.bundled import BUNDLED, BundledSet
from driftgames.datasets.catalogue import CATALOGUE, Entry
from driftgames.datasets.dataset import Dataset, Split
from driftgames.datasets.download import DownloadError, download, ready_folder
from driftgames.datasets.files import (
    DataError,
    Location,
    cache,
    find_file,
    read_bytes,
    read_checked,
    search_path,
)
from driftgames.datasets.libsvm import format_libsvm, parse_libsvm


class MissingDataError(DataError):
    """A set that was not found; the message says where it was looked for."""


@dataclass(frozen=True)
class Status:
    """Where a set is at present."""

    name: str
    title: str
    where: str | None
    """The location; None if the set is not here yet."""
    published: bool
    """Whether these are the published rows."""


def load(
    name: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    allow_download: bool = True,
    timeout: float = 30.0,
    deadline: float = 3600.0,
    retries: int = 2,
) -> Dataset:
    """Return a set by its name, training and test split.

    Parameters
    ----------
    name : str
        A set of the paper, by its name in `CATALOGUE`, or one that comes with scikit-learn, by
        its name in `BUNDLED`.
    directory : path, optional
        A folder to look in first, with one folder per set in it. Default: the folder that
        ``DRIFTGAMES_DATA`` names. Then come the user's cache and the public home of the set.
    allow_download : bool
        Whether a set that is not here may be downloaded to the user's cache.
    timeout, deadline, retries
        As `download` takes them, for each file.

    Returns
    -------
    Dataset
        Its ``published`` says whether these are the rows of the published experiment. Where the
        public files do not contain those rows, a download gives a set made likewise.

    Examples
    --------
    >>> data = load("digits49")
    >>> X, y = data.train
    >>> X.shape, data.feature_names[0], data.source
    ((181, 715), '2:1>=1', 'scikit-learn')
    """
    known: dict[str, Entry | BundledSet] = {**CATALOGUE, **BUNDLED}
    entry = choose("set", name, known)
    if isinstance(entry, BundledSet):
        return entry.load()
    looked = search_path(directory)
    for location in looked:
        if _holds(location.folder / entry.name, entry.published_files):
            return _read(entry, location, published=True)
    own = cache()
    if not _holds(own.folder / entry.name, entry.likewise_files):
        if not allow_download:
            raise MissingDataError(_not_here(entry, looked))
        try:
            fetch(name, timeout=timeout, deadline=deadline, retries=retries)
        except DownloadError as error:
            raise MissingDataError(f"{_not_here(entry, looked)} ({error})") from error
        if _holds(own.folder / entry.name, entry.published_files):
            return _read(entry, own, published=True)
    return _read(entry, own, published=False)


def fetch(
    name: str,
    *,
    timeout: float = 30.0,
    deadline: float = 3600.0,
    retries: int = 2,
    show_progress: bool = True,
) -> Path:
    """Download a set of the paper to the user's cache and return its folder there.

    What the cache has already, with the right checksum, is neither downloaded nor made again.
    """
    entry = choose("set", name, CATALOGUE)
    folder = cache().folder / entry.name
    for remote in entry.remotes:
        target = folder / remote.file
        if not _has_content(target, remote.sha256):
            download(
                remote.urls,
                target,
                remote.sha256,
                timeout=timeout,
                deadline=deadline,
                retries=retries,
                show_progress=show_progress,
            )
    if entry.derive is not None and not _has_published(entry, folder):
        ready_folder(folder)
        files = {remote.file: read_bytes(folder / remote.file) for remote in entry.remotes}
        _write_derived(entry, folder, *entry.derive(files))
    return folder


def status(directory: str | os.PathLike[str] | None = None) -> list[Status]:
    """Return where each set is at present; nothing is downloaded."""
    found: list[Status] = []
    looked = search_path(directory)
    for entry in CATALOGUE.values():
        files = entry.published_files
        held = [str(each) for each in looked if _holds(each.folder / entry.name, files)]
        where = held[0] if held else None
        if where is None and _holds(cache().folder / entry.name, entry.likewise_files):
            where = str(cache())
        found.append(Status(entry.name, entry.title, where, published=bool(held)))
    return found + [Status(name, each.title, each.package, False) for name, each in BUNDLED.items()]


def _not_here(entry: Entry, looked: list[Location]) -> str:
    where = ", ".join(str(location.folder / entry.name) for location in looked)
    return (
        f"{entry.name} is not in {where}; 'driftgames datasets fetch {entry.name}' downloads it, "
        "and DRIFTGAMES_DATA names a folder that has it"
    )


def _holds(folder: Path, files: Iterable[str]) -> bool:
    return all(find_file(folder, file) is not None for file in files)


def _has_content(path: Path, sha256: str) -> bool:
    return os.path.isfile(path) and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _has_published(entry: Entry, folder: Path) -> bool:
    try:
        _content(folder, entry.published_files)
    except DataError:
        return False
    return True


def _content(folder: Path, files: Mapping[str, str | None]) -> dict[str, bytes]:
    """Return the content of files by name; where a sha256 is given, it is checked."""
    content = {}
    for file, sha256 in files.items():
        path = find_file(folder, file)
        if path is None:
            raise DataError(f"{folder / file} is not there")
        content[file] = read_bytes(path) if sha256 is None else read_checked(path, sha256)
    return content


def _write_derived(entry: Entry, folder: Path, split: Split, names: tuple[str, ...]) -> None:
    """Write a derived set under the published names if it is that set, else under its own."""
    text = format_libsvm(split.X, split.y)
    examples, features = entry.likewise_files
    if hashlib.sha256(text).hexdigest() == entry.files[0][1]:
        examples, features = entry.published_files
    lines = "".join(f"{number} {name}\n" for number, name in enumerate(names, start=1))
    for file, content in ((features, lines.encode()), (examples, text)):
        with atomic_write(folder / file) as stream:
            stream.write(content)


def _read(entry: Entry, location: Location, *, published: bool) -> Dataset:
    """Return the published set, or else the one made likewise; a single file holds both splits."""
    folder = location.folder / entry.name
    content = _content(folder, entry.published_files if published else entry.likewise_files)
    names, note = entry.column_names(), entry.note
    if entry.features is not None:
        names = _feature_names(content.popitem()[1])
    if not published:
        note = "Made from the public file as the published set was, from other rows."
    splits = [
        parse_libsvm(text, str(folder / file), n_features=len(names))
        for file, text in content.items()
    ]
    if len(splits) == 1:
        X, y = splits[0]
        half = y.size // 2
        splits = [(X[:half], y[:half]), (X[half:], y[half:])]
    train, test = (Split(X, y.astype(np.int64)) for X, y in splits)
    classes, source = entry.classes, str(location)
    return Dataset(entry.name, train, test, names, classes, source, published, note)


def _feature_names(text: bytes) -> tuple[str, ...]:
    return tuple(line.split(" ", 1)[1] for line in text.decode().splitlines())
