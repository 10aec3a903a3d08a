"""Downloads: checked against a sha256, written in one step, tried again when a line is bad."""

from __future__ import annotations

import hashlib
import http.client
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

from driftgames.core.documents import atomic_write
from driftgames.core.progress import progress
from driftgames.datasets.files import DataError
from driftgames.datasets.places import CACHE_VARIABLE

_CHUNK = 1 << 16
_WORTH_ANOTHER_TRY = {408, 425, 429, 500, 502, 503, 504}
_SCHEMES = {"http", "https"}


class DownloadError(DataError):
    """A download that failed; the message says for each address in which way."""


class _TransientError(Exception):
    """A failure that may pass: the line broke, or the server was busy."""


def download(
    urls: Sequence[str],
    target: str | Path,
    sha256: str,
    *,
    timeout: float = 30.0,
    retries: int = 2,
    pause: float = 1.0,
    show_progress: bool = True,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring the file with this sha256 to ``target`` from the first address that has it.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the same bytes, tried in turn.
    target : path
        Where the file goes. It appears there whole and checked, or not at all.
    sha256 : str
        Of the bytes as they are served. Bytes that differ are thrown away and not asked for
        again: a changed file stays changed.
    timeout : float
        Seconds that the server may stay silent.
    retries : int
        How often an address is tried again after a time-out, a cut-off body, a refused
        connection or a busy server. ``pause`` seconds before the first, twice as many before
        each one after it.
    """
    path = Path(target)
    ready_folder(path.parent)
    failures: list[str] = []
    for url in urls:
        if urllib.parse.urlsplit(url).scheme not in _SCHEMES:
            raise ValueError(f"an address must begin with http:// or https://; got {url!r}")
        wait = pause
        for attempt in range(retries + 1):
            try:
                _fetch(url, path, sha256, timeout, show_progress)
            except _TransientError as error:
                failure = f"{url}: {error}"
                if attempt < retries:
                    sleep(wait)
                    wait *= 2
            except DownloadError as error:
                failure = str(error)
                break
            else:
                return path
        failures.append(failure)
    raise DownloadError(f"{path.name} could not be downloaded: " + "; ".join(failures))


def ready_folder(folder: Path) -> None:
    """Make a folder of the cache, or say that nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # to be there is not to be writable
            pass
    except OSError as error:
        raise DownloadError(
            f"{folder}: nothing can be written there ({CACHE_VARIABLE} names another folder): "
            f"{error.strerror}"
        ) from error


def _fetch(url: str, path: Path, sha256: str, timeout: float, show_progress: bool) -> None:
    try:
        with closing(urllib.request.urlopen(url, timeout=timeout)) as response:
            announced = response.headers.get("Content-Length")
            size = int(announced) if announced else None
            with (
                atomic_write(path) as stream,
                progress(path.name, size or 1, show=show_progress and bool(size)) as advance,
            ):
                found, received = _copy(response, stream, advance)
                if size is not None and received < size:
                    raise _TransientError(f"cut off after {received} of {size} bytes")
                if found != sha256:
                    raise DownloadError(
                        f"{url}: the sha256 of what came is {found[:12]}..., "
                        f"where {sha256[:12]}... was expected; nothing was kept"
                    )
    except urllib.error.HTTPError as error:
        with error:
            if error.code in _WORTH_ANOTHER_TRY:
                raise _TransientError(f"HTTP {error.code} {error.reason}") from error
            raise DownloadError(f"{url}: HTTP {error.code} {error.reason}") from error
    except TimeoutError as error:
        raise _TransientError(f"no answer within {timeout:g} s") from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise _TransientError(f"no answer within {timeout:g} s") from error
        raise _TransientError(str(error.reason)) from error
    except (http.client.HTTPException, ConnectionError) as error:
        raise _TransientError(str(error) or type(error).__name__) from error


def _copy(
    response: IO[bytes], stream: IO[bytes], advance: Callable[[int], None]
) -> tuple[str, int]:
    digest, received = hashlib.sha256(), 0
    while chunk := response.read(_CHUNK):
        stream.write(chunk)
        digest.update(chunk)
        received += len(chunk)
        advance(len(chunk))
    return digest.hexdigest(), received
