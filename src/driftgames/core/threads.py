"""How many threads, and a loop in threads."""

from __future__ import annotations

import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from typing import Any

from driftgames.core.text import shown

MOST_JOBS = 2**31 - 1
"""The largest ``n_jobs`` that makes sense as an argument; threads are as many as processors."""


def count_processors() -> int:
    """Return how many processors this process may use: at least 1."""
    if hasattr(os, "sched_getaffinity"):
        return max(len(os.sched_getaffinity(0)), 1)
    return os.cpu_count() or 1


def count_jobs(n_jobs: object, *, default: int = 1) -> int:
    """Return the number of threads that ``n_jobs`` asks for, at most one for each processor.

    None is the ``default``. -1 is all processors, -2 all but one, and so on, but at least one
    thread. 0 and what is no integer are refused.

    >>> count_jobs(None), count_jobs(1), count_jobs(10_000) == count_jobs(-1)
    (1, 1, True)
    >>> count_jobs(0)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs must be None or an integer other than 0, at most 2147483647; got 0
    """
    jobs = default if n_jobs is None else n_jobs
    if not is_jobs(jobs):
        raise ValueError(
            f"n_jobs must be None or an integer other than 0, at most {MOST_JOBS}; "
            f"got {shown(n_jobs)}"
        )
    asked: int = int(jobs)  # type: ignore[call-overload]
    processors = count_processors()
    return max(1, min(asked, processors) if asked > 0 else processors + 1 + asked)


def is_jobs(value: object) -> bool:
    """Whether a value is a number of jobs: an integer other than 0, of reasonable size."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and value != 0 and abs(int(value)) <= MOST_JOBS  # type: ignore[call-overload]


def run_in_threads(task: Callable[[int], object], starts: range, n_threads: int) -> None:
    """Call ``task`` with every start; each thread takes several of them at a time."""

    def run(some: range) -> None:
        for start in some:
            task(start)

    several = max(-(-len(starts) // (16 * n_threads)), 1)
    groups = [starts[k : k + several] for k in range(0, len(starts), several)]
    if min(n_threads, len(groups)) > 1:
        with ThreadPoolExecutor(min(n_threads, len(groups))) as pool:
            list(pool.map(run, groups))
    else:
        run(starts)


_worker = threading.local()


def _join_pool(given_up: threading.Event) -> None:
    _worker.given_up = given_up


@contextmanager
def open_threads(n_jobs: Any) -> Iterator[tuple[ThreadPoolExecutor | None, int]]:
    """Give a pool of threads, or None for one thread, and their number.

    After an error or an interruption its tasks end where they next call `stop_if_given_up`.
    """
    n_threads, given_up = count_threads(n_jobs), threading.Event()
    pool = None
    if n_threads > 1:
        pool = ThreadPoolExecutor(n_threads, initializer=_join_pool, initargs=(given_up,))
    with pool or nullcontext():
        try:
            yield pool, n_threads
        except BaseException as error:
            given_up.set()
            if pool is not None:
                pool.shutdown(wait=False, cancel_futures=True)  # begin nothing more
            if isinstance(error.__context__, KeyboardInterrupt):  # it broke a lock of the pool
                raise error.__context__ from None
            raise


def stop_if_given_up() -> None:
    """Raise CancelledError in a thread whose pool was given up; long tasks call it now and then."""
    given_up = getattr(_worker, "given_up", None)
    if given_up is not None and given_up.is_set():
        raise CancelledError


def count_threads(n_jobs: Any) -> int:
    """Return the threads that ``n_jobs`` asks for; the default is 1, or that of joblib's backend.

    There are at most as many as processors. Inside a worker of joblib or Dask there is one, because
    the workers share the cores already.
    """
    from joblib import effective_n_jobs  # slow to import

    n_threads = count_jobs(n_jobs, default=int(effective_n_jobs(None)))
    return 1 if _in_worker() else n_threads


def _in_worker() -> bool:
    """Return whether a worker of joblib or Dask runs this call."""
    from joblib.parallel import get_active_backend

    if (get_active_backend()[0].nesting_level or 0) > 0:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True
