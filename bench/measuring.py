"""What is measured of a library on a split of a set: how well it predicts, times and memory.

Times are of the processor, which counts all threads, and of the clock on the wall. A library fits
small sets first, so that what is loaded or compiled once is not charged.
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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bench.harness import forget_peak, resident_memory
from bench.libraries import Library
from bench.results import Row
from bench.set_table import Source
from bench.sets import Examples, read

LEAST_SHARE = 1e-15
"""Probabilities below this one count as this one in the log-loss."""

Titles = Mapping[str, tuple[str, str]]
"""Of a figure: its name in a row of the file, its title, and how numbers are written."""


SUMS: Titles = {
    "fit": ("fits, s", ",.1f"),
    "fit_wall": ("on the wall, s", ",.1f"),
    "predict": ("predictions, s", ",.2f"),
    "size": ("models", "B"),
}
"""What is summed over the sets; times are of the processor, if not said otherwise."""


@dataclass(frozen=True)
class Kind:
    """What is measured of a fitted model, and how tables show it.

    Parameters
    ----------
    assess : callable
        Returns the figures of a fitted model on test examples and labels of a set.
    small : callable
        Returns the small sets that a library fits first.
    measures : mapping
        What ranks are made of.
    learnt : mapping
        Something is learnt on a set if a library is below this share of what knowing no example
        would give, by one of these measures.
    means : mapping
        What is shown beside the ranks: means over the sets.
    sums : mapping
        What is summed over the sets.
    is_relative : bool
        Whether a library is behind the best by a share rather than by a difference.
    """

    assess: Callable[[Any, Any, Any, Examples], Row]
    small: Callable[[], tuple[Examples, ...]]
    measures: Titles
    learnt: Mapping[str, float]
    means: Titles = field(default_factory=dict)
    sums: Titles = field(default_factory=lambda: SUMS)
    is_relative: bool = False


def measure(library: Library, examples: Examples, seed: int, kind: Kind) -> Row:
    """Return the figures of a library on a split; one that fails or takes too long says so."""
    key = {"set": examples.name, "split": seed, "library": library.name}
    start: Row = {**key, "version": library.version}
    if library.limit is not None:
        return start | _limited(library, examples, seed, kind)
    return start | _tried(library, examples, seed, kind)


def log_loss(y: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]) -> float:
    r"""Return the mean log-loss, :math:`-\frac1n \sum_i \ln p_{i y_i}`, of clipped probabilities.

    >>> log_loss(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])) == math.log(2)
    True
    """
    clipped = np.clip(shares, LEAST_SHARE, None)
    chosen = clipped[np.arange(y.size), y] / clipped.sum(axis=1)
    return -float(np.mean(np.log(chosen)))


def assess_classes(model: Any, X: Any, y: Any, examples: Examples) -> Row:
    """Return error in per cent, log-loss and AUC of a classifier, and the time of predictions."""
    from sklearn.metrics import roc_auc_score

    answer, seconds, wall = timed(lambda: model.predict_proba(X))
    predicted = np.asarray(model.predict(X)).ravel().astype(np.int64)
    shares = np.asarray(answer, dtype=np.float64)
    if shares.shape != (y.size, examples.n_classes):
        raise ValueError(
            f"predict_proba returned the shape {shares.shape} for {y.size} rows and "
            f"{examples.n_classes} classes"
        )
    scores = shares[:, 1] if examples.n_classes == 2 else shares / shares.sum(axis=1)[:, None]
    return {
        "error": 100.0 * float(np.mean(predicted != y)),
        "log_loss": log_loss(y, shares),
        "auc": float(roc_auc_score(y, scores, multi_class="ovr")),
        "predict": seconds,
        "predict_wall": wall,
    }


@functools.cache
def _small_classes() -> tuple[Examples, ...]:
    """Return small sets of two and three classes, of numbers alone and with text."""
    cases = itertools.product((2, 3), (False, True))
    return tuple(small(np.arange(90) % k, with_text=with_text) for k, with_text in cases)


def small(y: npt.NDArray[Any], *, with_text: bool) -> Examples:
    """Return a small set with these labels, on request with text and missing values."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"first": y + rng.normal(size=y.size), "second": rng.normal(size=y.size)})
    if with_text:
        frame["missing"] = np.where(np.arange(y.size) % 7 == 0, math.nan, frame["first"])
        frame["text"] = pd.Series(rng.choice(list("abc"), y.size)).astype("category")
    return Examples("small", frame, y)


CLASSES = Kind(
    assess_classes,
    _small_classes,
    measures={
        "error": ("error, %", ",.2f"),
        "log_loss": ("log-loss", ",.4f"),
        "auc": ("AUC", ",.4f"),
    },
    learnt={"error": 0.9, "log_loss": 0.95},
)
"""Classification."""


def _tried(library: Library, examples: Examples, seed: int, kind: Kind) -> Row:
    try:
        warm_up(library, kind)
        return _figures(library, examples, seed, kind)
    except Exception as error:  # whatever a peer raises is a result
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}


def _figures(library: Library, examples: Examples, seed: int, kind: Kind) -> Row:
    X, y, X_test, y_test = examples.split(seed)
    X, X_test = library.form(X, X_test)
    with _quiet(library.n_threads):
        model = library.make()
        forget_peak()
        before = resident_memory("VmRSS")
        fitted, fit_seconds, fit_wall = timed(lambda: library.fit(model, X, y))
        memory = resident_memory() - before
        figures = kind.assess(fitted, X_test, y_test, examples)
        size = library.size(fitted)
    return {**figures, "fit": fit_seconds, "fit_wall": fit_wall, "memory": memory, "size": size}


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what work returns, and its seconds of the processor and on the wall."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return result, time.process_time() - processor, time.perf_counter() - wall


@contextmanager
def _quiet(n_threads: int) -> Iterator[None]:
    with warnings.catch_warnings(), threadpool_limits(n_threads):
        warnings.simplefilter("ignore")
        yield


_warm: set[tuple[str, object]] = set()


def warm_up(library: Library, kind: Kind) -> None:
    """Fit a library to the small sets of its kind, once in a process."""
    if (library.name, kind.assess) in _warm:
        return
    library.prepare()
    for examples in kind.small():
        _figures(library, examples, seed=0, kind=kind)
    _warm.add((library.name, kind.assess))


def _limited(library: Library, examples: Examples, seed: int, kind: Kind) -> Row:
    """Measure in a process of its own, which ends after the library's limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    case = (sender, library, examples.name, examples.source, seed, kind)
    child = context.Process(target=_measure_there, args=case)
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


def _measure_there(
    sender: Connection, library: Library, name: str, source: Source, seed: int, kind: Kind
) -> None:
    import resource

    examples = read(name, source)
    warm_up(library, kind)
    assert library.limit is not None
    end = math.ceil(time.process_time() + library.limit)
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 10))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sender.send(_tried(library, examples, seed, kind))
