"""Downloads by pooch: checked against a sha256, written in one step, tried again on bad lines.

Hosts are asked all at once whether they answer, so that a machine without a network waits once.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from driftgames.core.checks import check_positive
from driftgames.core.progress import progress
from driftgames.datasets.catalogue import Entry
from driftgames.datasets.files import CACHE_VARIABLE, LIMIT_VARIABLE, DataError, most_bytes

_CHUNK = 1 << 16
_WORTH_ANOTHER_TRY = {408, 425, 429, 500, 502, 503, 504}


class DownloadError(DataError):
    """A download that failed; the message says why, for each address."""


def download(
    urls: Sequence[str],
    target: str | Path,
    sha256: str,
    *,
    timeout: float = 30.0,
    deadline: float = 3600.0,
    retries: int = 2,
    pause: float = 1.0,
    show_progress: bool = True,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Bring the file with this sha256 to ``target`` from the first address that has it.

    A file of more bytes than `driftgames.datasets.files.MOST_BYTES` is given up.

    Parameters
    ----------
    urls : sequence of str
        Addresses of the same bytes, tried in turn.
    target : path
        The file. It appears whole and checked, or not at all.
    sha256 : str
        Of the bytes as they are served. Other bytes are thrown away, and this address is not
        asked again.
    timeout : float
        Seconds that the server may stay silent.
    deadline : float
        Seconds after which the download is given up, with all its addresses and tries.
    retries : int
        How often an address is tried again after a time-out, a cut-off body, a refused
        connection or a busy server. There are ``pause`` seconds before the first retry, and
        twice as many before each one after it.
    """
    path = Path(target)
    ready_folder(path.parent)
    failures: list[str] = []
    ends = time.monotonic() + check_positive("deadline", deadline)
    for url in urls:
        for attempt in range(retries + 1):
            if attempt:
                sleep(pause * 2 ** (attempt - 1))
            failure, may_pass = _attempt(url, path, sha256, timeout, ends, show_progress)
            if not failure:
                return path
            if not may_pass or time.monotonic() > ends:
                break
        failures.append(f"{url}: {failure}")
        if time.monotonic() > ends:
            failures.append(f"not done within {deadline:g} s")
            break
    raise DownloadError(f"{path.name} could not be downloaded: " + "; ".join(failures))


def ready_folder(folder: Path) -> None:
    """Make a folder of the cache, or say that nothing can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):  # the folder may exist and be read-only
            pass
    except OSError as error:
        raise DownloadError(
            f"{folder}: nothing can be written there ({CACHE_VARIABLE} names another folder): "
            f"{error.strerror}"
        ) from error


def _attempt(
    url: str, path: Path, sha256: str, timeout: float, ends: float, show_progress: bool
) -> tuple[str, bool]:
    """Download once; return why it failed, empty if it did not, and whether that may pass."""
    import pooch
    from urllib3.exceptions import HTTPError

    def write(address: str, output: str, _: object) -> None:
        with open(output, "wb") as file:
            for chunk in _chunks(address, path.name, timeout, ends, show_progress):
                file.write(chunk)

    try:
        with _quiet(pooch.get_logger()):
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=write)
    except ValueError as error:  # another sha256, a bad header, too many bytes, or not http
        return str(error), False
    except (OSError, HTTPError) as error:
        response = getattr(error, "response", None)  # errors of requests have one after an answer
        if response is not None:
            status = response.status_code
            return f"HTTP {status} {response.reason}", status in _WORTH_ANOTHER_TRY
        silent = "timed out" in str(error)
        return f"no answer within {timeout:g} s" if silent else str(error), True
    return "", False


def _chunks(
    url: str, name: str, timeout: float, ends: float, show_progress: bool
) -> Iterator[bytes]:
    """Yield the bytes of an address as they come, up to the limit and until the time ``ends``."""
    import requests

    most = most_bytes()
    with requests.get(url, timeout=timeout, stream=True) as response:
        response.raise_for_status()
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdecimal() else 0  # a bad header: the sha256 decides
        done = 0
        with progress(name, total, "bytes", show=show_progress and total > 0) as advance:
            # one read of the line at a time: a server may send single bytes for hours
            while chunk := response.raw.read1(_CHUNK, decode_content=True):
                done += len(chunk)
                if max(done, total) > most:
                    raise ValueError(
                        f"more than {most:,} bytes; {LIMIT_VARIABLE} sets another limit"
                    )
                if time.monotonic() > ends:
                    raise OSError(f"{done:,} bytes when the time was over")
                advance(len(chunk))
                yield chunk


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence the messages of pooch; the bar shows the download."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def host_of(url: str) -> str:
    """Return the host of an address, with its port if it has one.

    >>> host_of("https://archive.ics.uci.edu/ml/adult.data")
    'archive.ics.uci.edu'
    """
    return urlsplit(url).netloc


def answering(urls: Iterable[str], *, within: float = 5.0) -> frozenset[str]:
    """Return the hosts that answer within ``within`` seconds; any answer counts, an error too.

    The call ends in time even if the system's look-up of a name hangs: a thread asks each host,
    and a thread that is late is left behind.
    """
    answered: list[str] = []

    def ask(host: str, url: str) -> None:
        import requests

        with contextlib.suppress(OSError, ValueError):
            requests.head(url, timeout=within)
            answered.append(host)

    asked = {host_of(url): url for url in urls}
    threads = [threading.Thread(target=ask, args=each, daemon=True) for each in asked.items()]
    ends = time.monotonic() + within
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, ends - time.monotonic()))
    return frozenset(answered)


def out_of_reach(entry: Entry, hosts: Collection[str]) -> str:
    """Return the host that a set needs and that is not among ``hosts``; empty if none is."""
    for remote in entry.remotes:
        own = [host_of(url) for url in remote.urls]
        if not set(own) & set(hosts):
            return " and ".join(own)
    return ""
