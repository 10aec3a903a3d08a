"""Downloads by pooch: checked against a sha256, written in one step, tried again on bad lines."""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from driftgames.core.progress import progress
from driftgames.datasets.files import DataError
from driftgames.datasets.search_path import CACHE_VARIABLE

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
        The file. It appears whole and checked, or not at all.
    sha256 : str
        Of the bytes as they are served. Other bytes are thrown away, and this address is not
        asked again.
    timeout : float
        Seconds that the server may stay silent.
    retries : int
        How often an address is tried again after a time-out, a cut-off body, a refused
        connection or a busy server. There are ``pause`` seconds before the first retry, and
        twice as many before each one after it.
    """
    path = Path(target)
    ready_folder(path.parent)
    failures: list[str] = []
    for url in urls:
        for attempt in range(retries + 1):
            if attempt:
                sleep(pause * 2 ** (attempt - 1))
            failure, may_pass = _attempt(url, path, sha256, timeout, show_progress)
            if not failure:
                return path
            if not may_pass:
                break
        failures.append(f"{url}: {failure}")
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
    url: str, path: Path, sha256: str, timeout: float, show_progress: bool
) -> tuple[str, bool]:
    """Download once; return why it failed, empty if it did not, and whether that may pass."""
    import pooch

    bar = _Bar(path.name, show_progress)
    downloader = pooch.HTTPDownloader(timeout=timeout, chunk_size=_CHUNK, progressbar=bar)
    try:
        with bar, _quiet(pooch.get_logger()):
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=downloader)
    except ValueError as error:  # another sha256, or an address that is not http
        return str(error), False
    except OSError as error:
        response = getattr(error, "response", None)  # errors of requests have one after an answer
        if response is not None:
            status = response.status_code
            return f"HTTP {status} {response.reason}", status in _WORTH_ANOTHER_TRY
        silent = "timed out" in str(error)
        return f"no answer within {timeout:g} s" if silent else str(error), True
    return "", False


@contextlib.contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence the messages of pooch; the bar shows the download."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


class _Bar(contextlib.ExitStack):
    """Our progress bar, with the members that pooch uses: total, update, reset and close."""

    def __init__(self, name: str, show: bool) -> None:
        super().__init__()
        self.name, self.show, self.total = name, show, 0
        self._advance: Callable[[int], None] | None = None

    def update(self, size: int) -> None:
        """Move on by so many bytes; without an announced total there is no bar."""
        if self._advance is None:
            bar = progress(self.name, self.total, show=self.show and self.total > 0)
            self._advance = self.enter_context(bar)
        self._advance(size)

    def reset(self) -> None:
        """Begin again, as pooch does when all bytes have come."""
        self.close()
        self._advance = None
