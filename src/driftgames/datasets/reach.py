"""Which hosts answer: asked all at once, so that a machine without a network waits once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from driftgames.datasets.catalogue import Entry


def host_of(url: str) -> str:
    """Return the host of an address, with its port if it has one.

    >>> host_of("https://archive.ics.uci.edu/ml/adult.data")
    'archive.ics.uci.edu'
    """
    return urlsplit(url).netloc


def answering(urls: Iterable[str], *, within: float = 5.0) -> frozenset[str]:
    """Return the hosts that answer within so many seconds; any answer counts, an error too.

    The call ends in time even if the system's look-up of a name hangs: a thread asks each host,
    and a thread that is late is left behind.
    """
    answered: list[str] = []
    asked = {host_of(url): url for url in urls}
    threads = [
        threading.Thread(target=_ask, args=(host, url, within, answered), daemon=True)
        for host, url in asked.items()
    ]
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


def _ask(host: str, url: str, within: float, answered: list[str]) -> None:
    import requests

    with contextlib.suppress(OSError, ValueError):
        requests.head(url, timeout=within)
        answered.append(host)
