"""How good a booster predicts: error, AUC and log-loss, on a file or over folds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from driftgames.cli._examples import Examples
from driftgames.cli._output import say
from driftgames.core.progress import progress
from driftgames.tables import Column, Row, Table

COLUMNS = (
    Column("fold"),
    Column("examples", ","),
    Column("rounds", ","),
    Column("error", ".2%"),
    Column("AUC", ".4f"),
    Column("log-loss", ".4f"),
)


def score(booster: Any, X: Any, y: Any) -> tuple[float, float, float]:
    """Return error, AUC and log-loss; with more than two classes the mean AUC of each to the rest.

    The AUC is NaN if a class is missing from ``y``.
    """
    classes, p = booster.classes_, booster.predict_proba(X)
    error = float(np.mean(booster.predict(X) != y))
    area = math.nan
    if np.unique(y).size == classes.size:
        votes = booster.decision_function(X) if classes.size == 2 else p
        area = float(roc_auc_score(y, votes, multi_class="ovr", labels=classes))
    return error, area, float(log_loss(y, p, labels=classes))


def cross_validate(booster: Any, examples: Examples, folds: int, seed: int, name: str) -> Table:
    """Fit on all folds but one, score on that one, and so on; the last rows are mean and spread.

    Every fold has the same share of each class, as far as possible.
    """
    X, y = examples.X, examples.y
    assert y is not None
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        rare = classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"--folds must be at most the number of examples of every class; got {folds}, and "
            f"class {rare!r} has {counts.min()}"
        )
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(np.zeros(y.size), y)
    rows: list[Row] = []
    with progress("folds", folds) as advance:
        for k, (learn, test) in enumerate(splits, start=1):
            fitted = clone(booster).fit(X[learn], y[learn])
            rows.append((str(k), test.size, fitted.n_iter_, *score(fitted, X[test], y[test])))
            advance(1)
    scores = np.array([row[3:] for row in rows], dtype=np.float64)
    mean, spread = scores.mean(axis=0), scores.std(axis=0, ddof=1)
    rows.append(("mean", y.size, None, *mean.tolist()))
    rows.append(("standard deviation", None, None, *spread.tolist()))
    return Table(f"{folds} folds of {name}", COLUMNS, tuple(rows))


def say_scores(before: str, booster: Any, X: Any, y: Any) -> None:
    """Say error, AUC and log-loss on standard error."""
    error, area, loss = score(booster, X, y)
    ranks = "" if area != area else f", AUC {area:.4f}"  # NaN without examples of each class
    line = f"error {error:.2%} on {y.size:,} examples{ranks}, log-loss {loss:.4f}"
    say(before + line, err=True)


def say_best_round(valid: str, booster: Any) -> None:
    """Say after which round the log-loss of the best sigmoid was lowest, if it was followed."""
    followed = getattr(booster, "evals_result_", {}).get("valid", {}).get("log_loss", [])
    if len(followed):
        best = min(range(len(followed)), key=followed.__getitem__)
        say(f"{valid}: the lowest log-loss was after {best + 1} rounds", err=True)
