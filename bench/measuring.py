"""What is measured of a library on a split of a set: error, log-loss, AUC, times and size.

Times are of the processor, which counts all threads, and of the clock on the wall. A library fits a
small set first, so that what is loaded or compiled once is not charged.
"""

from __future__ import annotations

import functools
import gc
import itertools
import math
import multiprocessing
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bench.libraries import LIBRARIES, Library
from bench.results import Row
from bench.sets import Examples, load

LEAST_SHARE = 1e-15
"""Probabilities below this one count as this one in the log-loss."""


def measure(library: Library, examples: Examples, seed: int) -> Row:
    """Return the figures of a library on a split; one that fails or takes too long says so."""
    key = {"set": examples.name, "split": seed, "library": library.name}
    start: Row = {**key, "version": library.version}
    if library.limit is not None:
        return start | _limited(library, examples.name, seed)
    return start | _tried(library, examples, seed)


def log_loss(y: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> float:
    r"""Return the mean log-loss, :math:`-\frac1n \sum_i \ln p_{i y_i}`, of clipped probabilities.

    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])) == math.log(2)
    True
    """
    clipped = np.clip(shares, LEAST_SHARE, None)
    chosen = clipped[np.arange(y.size), y] / clipped.sum(axis=1)
    return -float(np.mean(np.log(chosen)))


def _tried(library: Library, examples: Examples, seed: int) -> Row:
    try:
        warm_up(library)
        return _figures(library, examples, seed)
    except Exception as error:  # whatever a peer raises is a result
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def _figures(library: Library, examples: Examples, seed: int) -> Row:
    from sklearn.metrics import roc_auc_score

    X, y, X_test, y_test = examples.split(seed)
    X, X_test = library.form(X, X_test)
    with _quiet():
        model = library.make()
        fitted, fit_seconds, fit_wall = _timed(lambda: library.fit(model, X, y))
        answer, seconds, wall = _timed(lambda: fitted.predict_proba(X_test))
        predicted = np.asarray(fitted.predict(X_test)).ravel().astype(np.int64)
        size = library.size(fitted)
    shares = np.asarray(answer, dtype=np.float64)
    if shares.shape != (y_test.size, examples.n_classes):
        raise ValueError(
            f"predict_proba returned the shape {shares.shape} for {y_test.size} rows and "
            f"{examples.n_classes} classes"
        )
    scores = shares[:, 1] if examples.n_classes == 2 else shares / shares.sum(axis=1)[:, None]
    return {
        "error": 100.0 * float(np.mean(predicted != y_test)),
        "log_loss": log_loss(y_test, shares),
        "auc": float(roc_auc_score(y_test, scores, multi_class="ovr")),
        "fit": fit_seconds,
        "fit_wall": fit_wall,
        "predict": seconds,
        "predict_wall": wall,
        "size": size,
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what work returns, and its seconds of the processor and on the wall."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - processor, time.perf_counter() - wall


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        yield


_warm: set[str] = set()


def warm_up(library: Library) -> None:
    """Fit a library to small sets, once in a process: two and three classes, numbers and text."""
    if library.name in _warm:
        return
    for n_classes, with_text in itertools.product((2, 3), (False, True)):
        _figures(library, _small(n_classes, with_text=with_text), seed=0)
    _warm.add(library.name)


@functools.cache
def _small(n_classes: int, *, with_text: bool) -> Examples:
    import pandas as pd

    rng = np.random.default_rng(0)
    y = np.arange(90) % n_classes
    frame = pd.DataFrame({"first": y + rng.normal(size=90), "second": rng.normal(size=90)})
    if with_text:
        frame["missing"] = np.where(np.arange(90) % 7 == 0, math.nan, frame["first"])
        frame["text"] = pd.Series(rng.choice(list("abc"), 90)).astype("category")
    return Examples("small", frame, y)


def _limited(library: Library, name: str, seed: int) -> Row:
    """Measure in a process of its own, which ends after the library's limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_measure_there, args=(sender, library.name, name, seed))
    child.start()
    sender.close()
    try:
        answer: Row = receiver.recv()
    except EOFError:
        child.join()
        if child.exitcode == -signal.SIGXCPU:
            return {"skipped": f"more than {library.limit:g} s"}
        return {"failed": f"its process ended with code {child.exitcode}"}
    child.join()
    return answer


def _measure_there(sender: Connection, library_name: str, name: str, seed: int) -> None:
    import resource

    library, examples = LIBRARIES[library_name], load(name)
    warm_up(library)
    assert library.limit is not None
    end = math.ceil(time.process_time() + library.limit)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 10))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sender.send(_tried(library, examples, seed))
