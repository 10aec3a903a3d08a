"""The files of the library that a call passes through.

``python tools/walk.py`` prints the walks of one `Hedge.update` and of a `NHBoostDTClassifier.fit`
of two rounds without calibration, after a warm-up: each visited file in order with its number of
calls, then the number of calls, of switches between files, and of distinct files. A kernel that
Python calls is seen; what it calls in turn is not.
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


def boosting_fit() -> list[str]:
    """Return the walk of a `NHBoostDTClassifier.fit` of two rounds."""
    X = np.random.default_rng(0).random((200, 4))
    y = X[:, 0] + X[:, 1] > 1.0
    booster = driftgames.NHBoostDTClassifier(2, calibrate=False).fit(X, y)
    return walk(lambda: booster.fit(X, y))


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
    """Print both walks."""
    for title, visited in (
        ("Hedge.update", hedge_update()),
        ("NHBoostDTClassifier.fit, 2 rounds", boosting_fit()),
    ):
        sys.stdout.write("\n".join(lines(title, visited)) + "\n")


if __name__ == "__main__":
    main()
