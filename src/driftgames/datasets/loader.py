"""`load`: a set by its name, from the first place that has it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driftgames.core.documents import atomic_write
from driftgames.datasets.adult import a9a_feature_names
from driftgames.datasets.bundled import BUNDLED
from driftgames.datasets.catalogue import CATALOGUE, Entry
from driftgames.datasets.dataset import Dataset, Part
from driftgames.datasets.download import DownloadError, download, ready_folder
from driftgames.datasets.files import (
    DataError,
    check_sha256,
    find_file,
    read_bytes,
    read_checked,
)
from driftgames.datasets.libsvm import format_libsvm, parse_libsvm
from driftgames.datasets.places import Place, cache_folder, places


class MissingDataError(DataError):
    """A set that is in none of the places; the message says where it was looked for."""


@dataclass(frozen=True)
class Status:
    """Where a set is at present."""

    name: str
    title: str
    where: str | None
    """The place and its folder; None when it is nowhere yet."""
    published: bool
    """Whether what is there are the published rows."""


def load(
    name: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    allow_download: bool = True,
    timeout: float = 30.0,
    retries: int = 2,
) -> Dataset:
    """Return a set by its name, train and test part, from the first place that has it.

    Parameters
    ----------
    name : str
        A set of the paper (a9a, census, ocr49, splice, w8a), or one that comes with
        scikit-learn (digits49, breast_cancer).
    directory : path, optional
        A folder to look in first, with one folder per set in it. ``DRIFTGAMES_DATA`` names one
        where this is not given. Then come the user's cache, ``../shared/data`` beside the
        repository, and the public home of the set.
    allow_download : bool
        Whether a set that is nowhere here may be downloaded to the user's cache.
    timeout, retries
        As `download` takes them.

    Returns
    -------
    Dataset
        Its ``published`` says whether these are the rows of the published experiment. They
        are wherever the files were found; the downloads of a9a, w8a and splice yield them to
        the byte, those of census and ocr49 cannot and give a set made likewise.

    Examples
    --------
    >>> data = load("digits49")
    >>> X, y = data.train
    >>> X.shape, data.feature_names[0], data.source
    ((181, 715), '2:1>=1', 'scikit-learn')
    """
    if name in BUNDLED:
        return BUNDLED[name]()
    entry = _entry(name)
    looked = places(directory)
    for place in looked:
        if _holds_published(entry, place.folder):
            return _read_published(entry, place)
    cache = Place("cache", cache_folder())
    if not _holds_likewise(entry, cache.folder):
        if not allow_download:
            raise MissingDataError(_not_here(entry, looked))
        try:
            fetch(name, timeout=timeout, retries=retries)
        except DownloadError as error:
            raise MissingDataError(f"{_not_here(entry, looked)} ({error})") from error
        if _holds_published(entry, cache.folder):
            return _read_published(entry, cache)
    return _read_likewise(entry, cache)


def fetch(
    name: str, *, timeout: float = 30.0, retries: int = 2, show_progress: bool = True
) -> Path:
    """Download a set of the paper to the user's cache and return its folder there.

    What the cache has already, with the right checksum, is neither downloaded nor made again.
    """
    entry = _entry(name)
    folder = cache_folder() / entry.name
    for remote in entry.remotes:
        target = folder / remote.file
        if not _has_content(target, remote.sha256):
            download(
                remote.urls,
                target,
                remote.sha256,
                timeout=timeout,
                retries=retries,
                show_progress=show_progress,
            )
    if entry.derive is not None and not _has_published(entry, folder):
        ready_folder(folder)
        files = {remote.file: read_bytes(folder / remote.file) for remote in entry.remotes}
        part, names = entry.derive(files)
        _write_derived(entry, folder, part, names)
    return folder


def status(directory: str | os.PathLike[str] | None = None) -> list[Status]:
    """Return where each set is at present; nothing is downloaded."""
    found: list[Status] = []
    looked = places(directory)
    for entry in CATALOGUE.values():
        held = (place for place in looked if _holds_published(entry, place.folder))
        place = next(held, None)
        if place is not None:
            found.append(Status(entry.name, entry.title, _described(place), published=True))
        elif _holds_likewise(entry, cache_folder()):
            where = _described(Place("cache", cache_folder()))
            found.append(Status(entry.name, entry.title, where, published=False))
        else:
            found.append(Status(entry.name, entry.title, None, published=False))
    titles = {"digits49": "8 x 8 digits, 4 against 9", "breast_cancer": "Wisconsin breast cancer"}
    return found + [Status(name, titles[name], "scikit-learn", False) for name in BUNDLED]


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        known = ", ".join([*CATALOGUE, *BUNDLED])
        raise DataError(f"name must be one of {known}; got {name!r}")
    return CATALOGUE[name]


def _not_here(entry: Entry, looked: list[Place]) -> str:
    where = ", ".join(f"{place.folder / entry.name}" for place in looked)
    return (
        f"{entry.name} is not in {where}; 'driftgames datasets fetch {entry.name}' downloads it, "
        "and DRIFTGAMES_DATA names a folder that has it"
    )


def _described(place: Place) -> str:
    return f"{place.kind} ({place.folder})"


def _published_files(entry: Entry) -> tuple[tuple[str, str], ...]:
    return entry.files if entry.features is None else (*entry.files, entry.features)


def _holds_published(entry: Entry, folder: Path) -> bool:
    files = _published_files(entry)
    return all(find_file(folder / entry.name, file) is not None for file, _ in files)


def _holds_likewise(entry: Entry, folder: Path) -> bool:
    return all(os.path.isfile(folder / entry.name / file) for file in _likewise_files(entry))


def _likewise_files(entry: Entry) -> tuple[str, str]:
    return f"{entry.name}.likewise.svm", f"{entry.name}.likewise.features.txt"


def _has_content(path: Path, sha256: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        check_sha256(path.read_bytes(), sha256, str(path))
    except DataError:
        return False
    return True


def _has_published(entry: Entry, folder: Path) -> bool:
    try:
        _published_content(entry, folder)
    except DataError:
        return False
    return True


def _published_content(entry: Entry, folder: Path) -> dict[str, bytes]:
    """Return the published files of a set by name, each checked against its sha256."""
    content = {}
    for file, sha256 in _published_files(entry):
        path = find_file(folder, file)
        if path is None:
            raise DataError(f"{folder / file} is not there")
        content[file] = read_checked(path, sha256)
    return content


def _write_derived(entry: Entry, folder: Path, part: Part, names: tuple[str, ...]) -> None:
    """Write a derived set under the published names if it is that set, else under its own."""
    text = format_libsvm(part.X, part.y)
    try:
        check_sha256(text, entry.files[0][1], entry.name)
        examples, features = (file for file, _ in _published_files(entry))
    except DataError:
        examples, features = _likewise_files(entry)
    lines = "".join(f"{number} {name}\n" for number, name in enumerate(names, start=1))
    for file, content in ((features, lines.encode()), (examples, text)):
        with atomic_write(folder / file) as stream:
            stream.write(content)


def _read_published(entry: Entry, place: Place) -> Dataset:
    folder = place.folder / entry.name
    content = _published_content(entry, folder)
    parts = [_part(content[file], str(folder / file), entry.n_features) for file, _ in entry.files]
    train, test = parts if len(parts) == 2 else _halves(parts[0])
    if entry.features is not None:
        names = _feature_names(content[entry.features[0]])
    elif entry.name == "a9a":
        names = a9a_feature_names()
    else:
        names = tuple(f"keyword {k}" for k in range(1, entry.n_features + 1))
    return Dataset(
        entry.name,
        train,
        test,
        names,
        entry.classes,
        source=_described(place),
        published=True,
        note=entry.note,
    )


def _read_likewise(entry: Entry, place: Place) -> Dataset:
    folder = place.folder / entry.name
    examples, features = (folder / file for file in _likewise_files(entry))
    names = _feature_names(read_bytes(features))
    train, test = _halves(_part(read_bytes(examples), str(examples), len(names)))
    return Dataset(
        entry.name,
        train,
        test,
        names,
        entry.classes,
        source=_described(place),
        published=False,
        note="Made from the public file as the published set was, from other rows.",
    )


def _part(text: bytes, name: str, n_features: int) -> Part:
    X, y = parse_libsvm(text, name, n_features=n_features)
    return Part(X, y.astype(np.int64))


def _halves(part: Part) -> tuple[Part, Part]:
    half = part.y.size // 2
    return Part(part.X[:half], part.y[:half]), Part(part.X[half:], part.y[half:])


def _feature_names(text: bytes) -> tuple[str, ...]:
    return tuple(line.split(" ", 1)[1] for line in text.decode().splitlines())
