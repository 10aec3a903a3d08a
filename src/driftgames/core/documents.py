"""Documents: JSON files that are written atomically and checked when they are read.

A document is one JSON object with four members::

    {"format": "driftgames.hedge", "version": 1, "sha256": "...", "content": {...}}

``sha256`` is of ``content`` written without spaces and with sorted keys. Numbers are written
so that they read back to the same bits; an array is ``{"dtype", "shape", "base64"}``, the bytes
in C order and little endian. Nothing is ever loaded with pickle.

A reader takes its own version and those older ones for which there are upgrades: functions that
turn the content of version v into that of version v + 1, and run one after the other. What is
nested in a document carries no version of its own: if its content changes, so does the version of
every document that it may be part of.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import glob
import hashlib
import json
import math
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from driftgames.core.locks import same_file, try_lock
from driftgames.core.text import MOST_OF_A_MESSAGE, shorten, shown, visible
from driftgames.core.typing import Content

Upgrades = Mapping[int, Callable[[Content], Content]]
"""What turns the content of a version into that of the next one."""

_TEMPORARY = ".tmp"


class DocumentError(ValueError):
    """A file that is not the document it should be; the message says in which way.

    The message may name what the file holds: it is cut if it is long, and shows no control
    characters.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten(visible(message), MOST_OF_A_MESSAGE))


class OtherFormatError(DocumentError):
    """A document of another format than the one that was wanted: ``found``."""

    def __init__(self, path: object, found: object, wanted: str, advice: str | None) -> None:
        shown_advice = "" if advice is None else f": {advice}"
        super().__init__(
            f"{path}: holds a {shown(found)}, where {wanted!r} was wanted{shown_advice}"
        )
        self.found = found


def write_document(path: str | os.PathLike[str], kind: str, version: int, content: Content) -> None:
    """Write ``content`` to ``path`` so that a reader sees the old file or the new one, whole."""
    document = {
        "format": kind,
        "version": version,
        "sha256": digest(content),
        "content": content,
    }
    with atomic_write(path) as stream:
        stream.write(json.dumps(document, separators=(",", ":")).encode())


def read_document(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    upgrades: Upgrades | None = None,
    advice: Mapping[str, str] | None = None,
) -> Content:
    """Return the content of a document of this ``kind``, as this ``version`` has it.

    Documents of an older version go through its upgrade and all later ones. ``advice`` says what to
    do with documents of some other kinds.
    """
    try:
        document = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:  # numbers and nesting have limits too
        raise DocumentError(f"{path}: not JSON, or cut short ({shorten(str(error))})") from error
    if not isinstance(document, dict) or "format" not in document:
        raise DocumentError(f"{path}: not a driftgames document (it has no 'format')")
    if (other := document["format"]) != kind:
        known = (advice or {}).get(other) if isinstance(other, str) else None
        raise OtherFormatError(path, other, kind, known)
    found = document.get("version")
    if type(found) is not int or found < 1:
        raise DocumentError(f"{path}: its version must be an integer >= 1; got {shown(found)}")
    steps = upgrades or {}
    oldest = version
    while oldest - 1 in steps:
        oldest -= 1
    if not oldest <= found <= version:
        age = "newer" if found > version else "older"
        read = f"{version}" if oldest == version else f"{oldest} to {version}"
        raise DocumentError(
            f"{path}: format version {found} is {age} than this driftgames reads ({read})"
        )
    content = document.get("content")
    if not isinstance(content, dict) or document.get("sha256") != digest(content):
        raise DocumentError(f"{path}: the content does not match its sha256; it was changed")
    for each in range(found, version):
        try:
            content = steps[each](content)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise DocumentError(f"{path}: not whole for version {each}: {error!r}") from error
    return content


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a stream whose bytes replace ``path`` in one step, or not at all on an error.

    A link stays a link, and the file that it leads to is replaced; an old file's permissions
    stay. A device or a pipe cannot be replaced and is written to. When the block has ended, the
    bytes and the name are on the disk. What a killed process left of ``path`` is removed. An error
    of the operating system, as that of a full disk, names ``path``.
    """
    try:
        with _replacing(path) as stream:
            yield stream
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    given = Path(path)
    if given.is_symlink():
        try:
            given.stat()
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise
    if given.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if given.exists() and not given.is_file():
        with given.open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        _remove_stale(target)
        handle, name = _open_temporary(target, mode)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            if mode is not None:
                os.chmod(name, mode)
            if sys.platform != "win32":  # the lock ends with the block, and the name before it
                os.replace(name, target)
        if sys.platform == "win32":
            os.replace(name, target)
        _sync_folder(target.parent)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def encode_array(array: npt.NDArray[Any]) -> Content:
    """Return an array as JSON members that read back to the same bits."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {
        "dtype": little.dtype.str,
        "shape": list(array.shape),
        "base64": base64.b64encode(little.tobytes()).decode(),
    }


def decode_array(encoded: Content) -> npt.NDArray[Any]:
    """Return the array that `encode_array` was given; a fresh one, free to be changed."""
    try:
        text, shape = encoded["dtype"], encoded["shape"]
        if not isinstance(text, str) or not re.fullmatch(r"[<|][biuf]\d", text):
            raise ValueError(f"dtype must be of numbers, little endian; got {shown(text)}")
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"shape must be a list of sizes; got {shown(shape)}")
        data = base64.b64decode(encoded["base64"], validate=True)
        dtype = np.dtype(text)
        if len(data) != math.prod(shape) * dtype.itemsize:
            raise ValueError(f"{len(data)} bytes are not an array of shape {shown(shape)}")
        array = np.frombuffer(data, dtype=dtype).reshape(shape)
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise DocumentError(
            f"an array in the document cannot be read: {shorten(str(error))}"
        ) from error
    return array.astype(dtype.newbyteorder("="))


def digest(content: Content) -> str:
    """Return the sha256 of content, written without spaces and with sorted keys."""
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


def _open_temporary(target: Path, mode: int | None) -> tuple[int, str]:
    """Create a file beside ``target`` and lock it; return its handle and its name.

    The operating system gives a new file the mode that the umask says.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        name = str(target.with_name(f".{target.name}.{secrets.token_hex(6)}{_TEMPORARY}"))
        handle = os.open(name, flags, 0o666 if mode is None else mode & 0o666)
        try:
            taken = sys.platform == "win32" or try_lock(handle) is not False
            if taken and (sys.platform == "win32" or same_file(handle, name)):
                return handle, name
        except BaseException:
            os.close(handle)
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        os.close(handle)  # another process took it for a stale one


def _remove_stale(target: Path) -> None:
    """Remove the temporary files of ``target`` whose process has ended; it then holds no lock.

    Where the file system has no locks, none is removed: its process may be writing to it.
    """
    for stale in target.parent.glob(f".{glob.escape(target.name)}.*{_TEMPORARY}"):
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                os.unlink(stale)  # refused while a process has it open
                continue
            handle = os.open(stale, os.O_RDWR)
            try:
                if try_lock(handle):
                    os.unlink(stale)
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if sys.platform == "win32":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder may be written to and not read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
