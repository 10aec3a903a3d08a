"""The files of the library that a call passes through.

``python tools/walk.py`` prints walks after a warm-up: of one `Hedge.update`; of default fits of
`NHBoostDTClassifier` of two rounds, in memory, in batches and on a Dask cluster (what the client
does); of a fit of `NHBoostDTRegressor`; of `predict_proba`; and of a fit of two stumps without
calibration. Each visited file stands in order with its number of calls, then the number of calls,
of switches between files, and of distinct files. A kernel that Python calls is seen; what it calls
in turn is not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import driftgames

SOURCE = Path(driftgames.__file__).parent


def walk(call: Callable[[], Any]) -> list[str]:
    """Return the file of every Python call below ``call`` that lies in the library, in order."""
    visited: list[str] = []

    def observe(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                visited.append(str(path.relative_to(SOURCE)))

    sys.setprofile(observe)
    try:
        call()
    finally:
        sys.setprofile(None)
    return visited


def hedge_update() -> list[str]:
    """Return the walk of one `Hedge.update`."""
    learner, losses = driftgames.Hedge(10), np.full(10, 0.5)
    learner.update(losses)
    return walk(lambda: learner.update(losses))


def boosting_fit(**settings: Any) -> list[str]:
    """Return the walk of a `NHBoostDTClassifier.fit` of two rounds."""
    X, y = _examples()
    booster = driftgames.NHBoostDTClassifier(2, n_jobs=1, **settings).fit(X, y)
    return walk(lambda: booster.fit(X, y))


def stump_fit() -> list[str]:
    """Return the walk of a fit of two stumps without calibration."""
    return boosting_fit(max_leaves=2, calibrate=False)


def batch_fit() -> list[str]:
    """Return the walk of a `NHBoostDTClassifier.fit_batches` of two rounds."""
    X, y = _examples()
    batches = [(X[:90], y[:90]), (X[90:], y[90:])]
    booster = driftgames.NHBoostDTClassifier(2, n_jobs=1).fit_batches(batches)
    return walk(lambda: booster.fit_batches(batches))


def dask_fit() -> list[str]:
    """Return the walk of the client in a fit of two rounds on a cluster of one worker."""
    import dask.array as da
    from distributed import Client

    from driftgames.dask import DaskNHBoostDTClassifier

    X, y = (da.from_array(each, chunks=100) for each in _examples())
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None):
        booster = DaskNHBoostDTClassifier(2, n_jobs=1).fit(X, y)
        return walk(lambda: booster.fit(X, y))


def regression_fit() -> list[str]:
    """Return the walk of a `NHBoostDTRegressor.fit` of two rounds and one stage."""
    X, _ = _examples()
    booster = driftgames.NHBoostDTRegressor(2, max_leaves=4, n_stages=1, n_jobs=1)
    booster.fit(X, X[:, 0])
    return walk(lambda: booster.fit(X, X[:, 0]))


def probabilities() -> list[str]:
    """Return the walk of `NHBoostDTClassifier.predict_proba` after a default fit of two rounds."""
    X, y = _examples()
    booster = driftgames.NHBoostDTClassifier(2).fit(X, y)
    booster.predict_proba(X)
    return walk(lambda: booster.predict_proba(X))


def _examples() -> tuple[Any, Any]:
    X = np.random.default_rng(0).random((200, 4))
    return X, X[:, 0] + X[:, 1] > 1.0


def lines(title: str, visited: list[str]) -> Iterator[str]:
    """Yield a walk as text."""
    stops = [(path, len(list(calls))) for path, calls in groupby(visited)]
    yield title
    yield from (f"  {path} ({calls})" for path, calls in stops)
    yield (
        f"  {len(visited)} calls, {len(stops) - 1} switches between files, "
        f"{len(set(visited))} distinct files"
    )


def main() -> None:
    """Print the walks."""
    for title, visited in (
        ("Hedge.update", hedge_update()),
        ("NHBoostDTClassifier.fit, 2 rounds", boosting_fit()),
        ("NHBoostDTClassifier.fit_batches, 2 rounds", batch_fit()),
        ("DaskNHBoostDTClassifier.fit, 2 rounds, the client", dask_fit()),
        ("NHBoostDTRegressor.fit, 2 rounds, 1 stage", regression_fit()),
        ("NHBoostDTClassifier.predict_proba", probabilities()),
        ("NHBoostDTClassifier.fit, 2 stumps without calibration", stump_fit()),
    ):
        sys.stdout.write("\n".join(lines(title, visited)) + "\n")


if __name__ == "__main__":
    main()
