"""A loop in threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


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
