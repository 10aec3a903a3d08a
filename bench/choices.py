"""What each part of the default brings, on thirty of the sets to choose on.

``python -m bench choices`` measures our booster with one part of the default changed. It prints the
mean error and log-loss, and the sums of time; its results stand in ``build/choices.jsonl``.
`bench.accuracy` compares the same ``SETTINGS`` with the peers (``--settings bench/choices.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self
from unittest.mock import patch

import numpy as np

from bench.accuracy import fill, libraries_of, plan
from bench.accuracy_tables import Facts
from bench.harness import Tell, silent
from bench.results import ResultsFile
from bench.sets import QUICK, sets
from driftgames import NHBoostDTClassifier
from driftgames.boosting.fit import choosing, race
from driftgames.boosting.model.training_record import Fitted
from driftgames.tables import Column, Row, Table

RESULTS = "build/choices.jsonl"
SETS = [
    "pension plans",
    "health insurance",
    "light chains",
    "affairs",
    "arrests",
    "spam",
    "credit",
    "birth control",
    "computing jobs",
    "email",
    "pitches",
    "head injuries",
    "personality",
    "image segments",
    "ocr49",
    "British election",
    "titanic",
    "phishing",
    "fishing",
    "splice",
    "hawks",
    "labour force",
    "biopsies",
    "breast cancer",
    "addictions",
    "Alzheimer",
    "wine",
    "scat",
    "late payers",
    "part time",
]
"""Sets to choose on; the largest ones and those of many classes are left out."""


class _Changed(NHBoostDTClassifier):
    """The default with a part of its rule changed; it is saved as the default."""

    def save(self, path: Any) -> None:
        """Write the model."""
        plain = NHBoostDTClassifier(**self.get_params(deep=False))
        plain.adopt(Fitted(self.model_, self.record_)).save(path)


class TenFolds(_Changed):
    """The default with ten folds instead of five."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with ten folds."""
        with patch.object(choosing, "N_FOLDS", 10):
            return super().fit(X, y, *args, **settings)


class OneRace(_Changed):
    """The default with one race only, however few values there are."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with one choice of folds."""
        with patch.object(choosing, "N_REPEATS", 1):
            return super().fit(X, y, *args, **settings)


class AllFoldsRace(_Changed):
    """The default without a scout: all folds race together."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with all folds from the first stage on."""
        with patch.object(choosing, "SCOUTED", 10**9):
            return super().fit(X, y, *args, **settings)


class AllTrials(_Changed):
    """The default without its race: all sizes play all rounds."""

    def fit(self, X: Any, y: Any, *args: Any, **settings: Any) -> Self:
        """Fit with a whole table of trials."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(race.Entrant, "ended", False))
            stack.enter_context(patch.object(race.Entrant, "is_behind", lambda *_: False))
            stack.enter_context(patch.object(race, "PATIENCE", len(race.STAGES)))
            return super().fit(X, y, *args, **settings)


def _with(**settings: Any) -> Callable[[], NHBoostDTClassifier]:
    return lambda: NHBoostDTClassifier(n_jobs=1, **settings)


SETTINGS: dict[str, Callable[[], Any]] = {
    "default": _with(),
    "one booster": _with(ensemble=False),
    "8 leaves": _with(max_leaves=8),
    "200 rounds": _with(n_estimators=200),
    "8 leaves and 200 rounds": _with(max_leaves=8, n_estimators=200),
    "2 leaves and 200 rounds": _with(max_leaves=2, n_estimators=200),
    "one race": lambda: OneRace(n_jobs=1),
    "no scout": lambda: AllFoldsRace(n_jobs=1),
    "ten folds": lambda: TenFolds(n_jobs=1),
    "all trials": lambda: AllTrials(n_jobs=1),
}
"""Our booster, and with one part of the default changed."""


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Measure what the file of results lacks; ``quick`` takes the small sets among them."""
    names = tuple(name for name in SETS if not quick or name in QUICK)
    facts = {each.name: Facts.of(each) for each in sets(names, tell)}
    file, libraries = ResultsFile(RESULTS), list(libraries_of(SETTINGS).values())
    fill(file, plan(facts, libraries, (0,), file.rows()), tell)
    rows: list[Row] = []
    for name in SETTINGS:
        found = [file.rows()[each, 0, name] for each in facts]
        means = [float(np.mean([row[what] for row in found])) for what in ("error", "log_loss")]
        sums = [float(sum(row[what] for row in found)) for what in ("fit", "predict", "size")]
        rows.append((name, *means, *sums[:2], sums[2] / len(found) / 1000))
    columns = (
        Column("setting"),
        Column("error, %", ".2f"),
        Column("log-loss", ".4f"),
        Column("fits, s", ".1f"),
        Column("predictions, s", ".2f"),
        Column("model, kB", ".0f"),
    )
    notes = (f"Means over {len(facts)} sets, one split; times of the processor are sums.",)
    return [Table("What each part of the default brings", columns, tuple(rows), notes)]
