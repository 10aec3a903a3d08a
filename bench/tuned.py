"""Our default beside tuned peers, on the sets to report on.

``python -m bench tuned``. A tuned library tries its default and random settings of its `Space`, on
five folds of the training part, and fits the setting of the least log-loss to all of that part. The
number of settings falls with the rows (`COUNTS`); CatBoost and EBM, which take longest, try fewer.
ChimeraBoost is not searched: it has its highest quality. EBM has a limit of time. The time of a fit
is that of search and fit together, of the processor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from bench.accuracy import Study, run_study
from bench.accuracy_options import AccuracyOptions
from bench.harness import Tell, silent
from bench.libraries import LIBRARIES, OURS, Library, Made
from bench.measuring import log_loss
from bench.set_table import TABLE
from bench.sets import QUICK, folds, half
from driftgames.tables import Table


@dataclass(frozen=True)
class Between:
    """Numbers between two ends, on request by their logarithms or whole."""

    low: float
    high: float
    is_log: bool = False
    is_whole: bool = False

    def draw(self, rng: np.random.Generator) -> float | int:
        """Return a number."""
        if self.is_log:
            number = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = rng.uniform(self.low, self.high)
        return round(number) if self.is_whole else number

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{' (log)' if self.is_log else ''}"


Space = Mapping[str, Between]
"""What a search draws from, by the name of the parameter."""

Counts = Mapping[int, int]
"""How many settings are tried up to a number of training rows; the last holds above too."""

COUNTS: Counts = {4_000: 40, 20_000: 20, 100_000: 8}
FEW: Counts = {4_000: 10, 20_000: 5, 100_000: 3}
FEWEST: Counts = {4_000: 5, 20_000: 3, 100_000: 2}
QUICK_COUNTS: Counts = {100_000: 2}
EBM_LIMIT = 3600.0

_ROUNDS = Between(50, 1_000, is_log=True, is_whole=True)
_RATE = Between(0.01, 0.3, is_log=True)
_SHARE = Between(0.5, 1.0)
_RIDGE = Between(0.001, 10.0, is_log=True)

SPACES: dict[str, tuple[Space, Counts]] = {
    "LightGBM": (
        {
            "n_estimators": _ROUNDS,
            "learning_rate": _RATE,
            "num_leaves": Between(4, 128, is_log=True, is_whole=True),
            "min_child_samples": Between(2, 100, is_log=True, is_whole=True),
            "subsample": _SHARE,
            "subsample_freq": Between(1, 1, is_whole=True),  # without it rows are not sampled
            "colsample_bytree": _SHARE,
            "reg_lambda": _RIDGE,
        },
        COUNTS,
    ),
    "XGBoost": (
        {
            "n_estimators": _ROUNDS,
            "learning_rate": _RATE,
            "max_depth": Between(2, 10, is_whole=True),
            "min_child_weight": Between(0.1, 20.0, is_log=True),
            "subsample": _SHARE,
            "colsample_bytree": _SHARE,
            "reg_lambda": _RIDGE,
        },
        COUNTS,
    ),
    "CatBoost": (
        {
            "depth": Between(4, 8, is_whole=True),
            "learning_rate": Between(0.02, 0.2, is_log=True),
            "l2_leaf_reg": Between(1.0, 10.0, is_log=True),
        },
        FEW,
    ),
    "EBM": (
        {
            "learning_rate": Between(0.005, 0.1, is_log=True),
            "interactions": Between(0, 20, is_whole=True),
            "max_leaves": Between(2, 4, is_whole=True),
            "min_samples_leaf": Between(2, 20, is_log=True, is_whole=True),
        },
        FEWEST,
    ),
}
"""What is searched for each library, and how many settings are tried."""


class RandomSearch:
    """A classifier that chooses its settings by five folds of the rows that it is fitted to.

    Parameters
    ----------
    library : Library
        What is tuned; it makes a `Made` estimator.
    space : mapping
        What settings are drawn from. The first setting is the default.
    counts : mapping
        How many settings are tried, by the number of rows.
    """

    def __init__(self, library: Library, space: Space, counts: Counts) -> None:
        self.library = library
        self.space = space
        self.counts = counts

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then fit the best setting to all rows."""
        rng = np.random.default_rng(0)
        n_settings = n_tried(self.counts, y.size)
        settings: list[dict[str, Any]] = [{}]
        while len(settings) < n_settings:
            settings.append({name: each.draw(rng) for name, each in self.space.items()})
        parts = folds(X, y)
        best = 0
        if n_settings > 1:
            losses = [[self._loss(each, *part) for part in parts] for each in settings]
            best = int(np.argmin(np.mean(losses, axis=1)))
        self.chosen_ = settings[best]
        self.model_ = self._fitted(self.chosen_, X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the classes that the best setting predicts."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities that the best setting predicts."""
        return self.model_.predict_proba(X)

    def _fitted(self, settings: dict[str, Any], X: Any, y: Any) -> Any:
        make = self.library.make
        assert isinstance(make, Made)
        return self.library.fit(make.with_settings(**settings)(), X, y)

    def _loss(self, settings: dict[str, Any], X: Any, y: Any, X_test: Any, y_test: Any) -> float:
        shares = self._fitted(settings, X, y).predict_proba(X_test)
        return log_loss(y_test, np.asarray(shares, dtype=np.float64))


def n_tried(counts: Counts, n_rows: int) -> int:
    """Return how many settings are tried on so many rows.

    >>> n_tried(COUNTS, 5_000)
    20
    """
    return next((counts[most] for most in counts if n_rows <= most), [*counts.values()][-1])


def tuned(library: Library, space: Space, counts: Counts) -> Library:
    """Return a library that searches its settings."""
    return replace(
        library,
        name=f"{library.name}, tuned",
        make=partial(RandomSearch, library, space, counts),
        fit=_fit_search,
        size=partial(_size, library),
    )


def _fit_search(search: RandomSearch, X: Any, y: Any) -> RandomSearch:
    return search.fit(X, y)


def _size(library: Library, search: RandomSearch) -> int:
    return library.size(search.model_)


def highest_quality(library: Library) -> Library:
    """Return ChimeraBoost with the mean of eight boosters, in one thread."""
    assert isinstance(library.make, Made)
    make = library.make.with_settings(quality=5, ensemble_n_jobs=1)
    return replace(library, name=f"{library.name}, quality 5", make=make)


def run(
    *, quick: bool = False, tell: Tell = silent, options: AccuracyOptions | None = None
) -> list[Table]:
    """Measure what the file of results lacks, and return the tables.

    ``quick`` tries two settings on the small sets, and has a file of results of its own.
    """
    spaces = SPACES
    if quick:
        spaces = {
            name: (space, QUICK_COUNTS)
            for name, (space, _) in SPACES.items()
            if LIBRARIES[name].limit is None
        }
    searched = [tuned(LIBRARIES[name], *space) for name, space in spaces.items()]
    searched = [replace(each, limit=EBM_LIMIT) if each.limit else each for each in searched]
    table = {name: source for name, source in TABLE.items() if half(name) == "report"}
    study = Study(
        "tuned_quick" if quick else "tuned",
        table,
        [LIBRARIES[OURS], *searched, highest_quality(LIBRARIES["ChimeraBoost"])],
        quick=QUICK,
        splits=(0,),
        heading="the sets of tuned peers",
        title="the sets to {} on, peers tuned",
        notes=tuple(
            f"{name} tries {_listed(counts)}: the default and random ones of "
            + ", ".join(f"{key} {each}" for key, each in space.items())
            for name, (space, counts) in spaces.items()
        ),
    )
    return run_study(study, quick=quick, tell=tell, options=options)


def _listed(counts: Counts) -> str:
    """Return counts as a text.

    >>> _listed({4_000: 10, 20_000: 5})
    '10 settings (up to 4,000 training rows), 5 (up to 20,000)'
    """
    first, *others = counts.items()
    texts = [f"{first[1]} settings (up to {first[0]:,} training rows)"]
    return ", ".join(texts + [f"{count} (up to {rows:,})" for rows, count in others])
