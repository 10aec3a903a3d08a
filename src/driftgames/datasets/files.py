"""Where files are looked for, and their bytes: decompressed by their content, and checked."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, shown, visible

MOST_BYTES = 2**30
"""The most bytes that compressed data may hold; ``DRIFTGAMES_MOST_BYTES`` sets another number."""

LIMIT_VARIABLE = "DRIFTGAMES_MOST_BYTES"
DATA_VARIABLE = "DRIFTGAMES_DATA"
CACHE_VARIABLE = "DRIFTGAMES_CACHE"

SUFFIXES = ("", ".xz", ".gz", ".bz2")
"""The endings that a file's name may have; the content decides how it is read."""

_OPENERS: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
    b"BZh": ("bzip2", bz2.open),
}
_CHUNK = 1 << 20


class DataError(ValueError):
    """Data that is missing, unreadable or other than expected.

    The message is cut if it is long, and shows no control characters: files name columns.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(visible(message), MOST_OF_A_MESSAGE))


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, decompressed if it is gzip, xz or bzip2."""
    return decompress(Path(path).read_bytes(), os.fspath(path))


@contextlib.contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Open a file, decompressed as it is read if it is gzip, xz or bzip2."""
    with open(path, "rb") as stream:
        head = stream.peek(8)
        for magic, (_, opener) in _OPENERS.items():
            if head.startswith(magic):
                with opener(stream) as plain:
                    yield plain
                return
        yield stream


def decompress(data: bytes, name: str) -> bytes:
    """Return ``data`` decompressed; ``name`` is what an error calls it.

    Data of more than `MOST_BYTES` is refused before it is decompressed further.

    >>> decompress(gzip.compress(b"+1 3:1"), "a.gz")
    b'+1 3:1'
    """
    for magic, (kind, opener) in _OPENERS.items():
        if data.startswith(magic):
            limit = most_bytes()
            whole = io.BytesIO()
            try:
                with opener(io.BytesIO(data)) as stream:
                    while whole.tell() <= limit and (chunk := stream.read(_CHUNK)):
                        whole.write(chunk)
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise DataError(f"{name}: damaged or cut short {kind} data ({error})") from error
            if whole.tell() > limit:
                raise DataError(
                    f"{name}: its {len(data):,} bytes of {kind} data hold more than {limit:,} "
                    f"bytes; {LIMIT_VARIABLE} sets another limit"
                )
            return whole.getvalue()
    return data


def most_bytes() -> int:
    """Return the limit that ``DRIFTGAMES_MOST_BYTES`` sets. Default: `MOST_BYTES`."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    if text and (not text.isdecimal() or int(text) < 1):
        raise DataError(f"{LIMIT_VARIABLE} must be a number of bytes; got {shown(text)}")
    return int(text) if text else MOST_BYTES


def read_checked(path: str | os.PathLike[str], sha256: str) -> bytes:
    """Return the decompressed content of a file whose sha256 must be the given one."""
    data = read_bytes(path)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise DataError(
            f"{os.fspath(path)}: its sha256 is {found[:12]}..., where {sha256[:12]}... was "
            "expected; the content was changed or cut short"
        )
    return data


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file of this name in ``folder``, plain or compressed; None if it is missing."""
    for suffix in SUFFIXES:
        path = folder / (name + suffix)
        if os.path.isfile(path):  # unlike Path.is_file, False in a folder without permission
            return path
    return None


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
            raise DataError(f"{kind} must be a folder that exists; got {shown(os.fspath(named))}")
        found.insert(0, Location(kind, Path(named)))
    return found


def cache() -> Location:
    """Return the user's cache: ``DRIFTGAMES_CACHE``, or the system's folder for caches."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Location("cache", Path(named))
    import pooch

    return Location("cache", Path(pooch.os_cache("driftgames")))
