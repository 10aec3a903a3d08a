"""Bytes from files: decompressed by their content rather than by their name, and checked."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path

SUFFIXES = ("", ".xz", ".gz", ".bz2")
"""The endings that a file's name may have; the content decides how it is read."""

_DECOMPRESSORS: dict[bytes, tuple[str, Callable[[bytes], bytes]]] = {
    b"\x1f\x8b": ("gzip", gzip.decompress),
    b"\xfd7zXZ\x00": ("xz", lzma.decompress),
    b"BZh": ("bzip2", bz2.decompress),
}


class DataError(ValueError):
    """Data that is missing, unreadable or other than expected."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, decompressed if it is gzip, xz or bzip2."""
    return decompress(Path(path).read_bytes(), os.fspath(path))


def decompress(data: bytes, name: str) -> bytes:
    """Return ``data`` decompressed; ``name`` is what an error calls it.

    >>> decompress(gzip.compress(b"+1 3:1"), "a.gz")
    b'+1 3:1'
    """
    for magic, (kind, decompressor) in _DECOMPRESSORS.items():
        if data.startswith(magic):
            try:
                return decompressor(data)
            except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise DataError(f"{name}: damaged or cut short {kind} data ({error})") from error
    return data


def read_checked(path: str | os.PathLike[str], sha256: str) -> bytes:
    """Return the decompressed content of a file whose sha256 must be the given one."""
    data = read_bytes(path)
    check_sha256(data, sha256, os.fspath(path))
    return data


def check_sha256(data: bytes, sha256: str, name: str) -> None:
    """Raise an error if ``data`` is not the content with this sha256.

    >>> check_sha256(b"", "00" * 32, "empty.svm")
    Traceback (most recent call last):
    ...
    driftgames.datasets.files.DataError: empty.svm: its sha256 is e3b0c44298fc..., where
    000000000000... was expected; the content was changed or cut short
    """
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise DataError(
            f"{name}: its sha256 is {found[:12]}..., where {sha256[:12]}... was expected; "
            "the content was changed or cut short"
        )


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file of this name in ``folder``, plain or compressed; None if it is missing."""
    for suffix in SUFFIXES:
        path = folder / (name + suffix)
        if os.path.isfile(path):  # unlike Path.is_file, False in a folder without permission
            return path
    return None
