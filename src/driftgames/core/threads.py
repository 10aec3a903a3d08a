"""How many threads a call may use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend


def count_threads(n_jobs: int | None) -> int:
    """Return ``n_jobs`` as joblib counts it; the default is 1, or the number of its backend.

    Inside a worker of joblib or Dask it is 1, because the workers share the cores already.
    """
    return 1 if _in_worker() else int(effective_n_jobs(n_jobs))


def run_in_threads(task: Callable[[int], object], starts: range, n_threads: int) -> None:
    """Call ``task`` with every start; each thread takes several of them at a time."""

    def run(some: range) -> None:
        for start in some:
            task(start)

    several = max(-(-len(starts) // (4 * n_threads)), 1)
    groups = [starts[k : k + several] for k in range(0, len(starts), several)]
    if min(n_threads, len(groups)) > 1:
        with ThreadPoolExecutor(min(n_threads, len(groups))) as pool:
            list(pool.map(run, groups))
    else:
        run(starts)


def _in_worker() -> bool:
    """Return whether a worker of joblib or Dask runs this call."""
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
