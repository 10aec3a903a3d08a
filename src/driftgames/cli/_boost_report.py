"""What ``driftgames boost`` shows of a model: what it holds, its predictions and their scores."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames._kernels.elementary import log_all
from driftgames.boosting import DataWarning
from driftgames.certificates.new_examples import FOLDS, NewExamples, name_boosters
from driftgames.certificates.new_log_loss import CLIP, LossCounts, NewLogLoss
from driftgames.cli._examples import Examples
from driftgames.cli._output import say
from driftgames.cli._scores import log_loss, mean_area
from driftgames.core.progress import progress
from driftgames.core.text import listed, shown
from driftgames.core.typing import IntArray
from driftgames.tables import Column, Row, Table, counted

COLUMNS = (
    Column("fold"),
    Column("examples", ","),
    Column("leaves", ","),
    Column("rounds", ","),
    Column("error", ".2%"),
    Column("AUC", ".4f"),
    Column("log-loss", ".4f"),
)


def chosen_line(choice: Any) -> str:
    """Return in one line what a race chose."""
    best = next(each for each in choice.trials if each.outcome == "chosen")
    return (
        f"{choice.size}, of {counted(len(choice.trials), 'trial')} on "
        f"{counted(choice.n_folds, 'fold')}, held-out log-loss {best.log_loss:.4f}"
    )


def race_of(choice: Any) -> Table:
    """Return the table of a race."""
    columns = (
        Column("leaves", ","),
        Column("rounds", ","),
        Column("held-out log-loss", ".4f"),
        Column("standard error", ".4f"),
        Column("outcome"),
    )
    rows = tuple(
        (
            each.max_leaves or None,
            each.n_estimators,
            each.log_loss,
            None if each.outcome == "chosen" else each.standard_error,
            each.outcome,
        )
        for each in choice.trials
    )
    folds, n_examples = counted(choice.n_folds, "fold"), counted(choice.n_examples, "example")
    return Table(f"The race of sizes: {folds}, {n_examples} held out", columns, rows)


def training_error(booster: Any) -> float:
    """Return the share of the weight of the training examples that a model gets wrong."""
    error = booster.record_.training_error
    if error is not None:
        return float(error)
    vote = booster.model_.default_vote
    return float((1 - max(abs(vote[0]) if vote.size == 1 else vote.max(), 0.0)) / 2)


def facts_of(booster: Any) -> dict[str, Any]:
    """Return the facts of a model by their names."""
    history = booster.history_
    facts = {
        "algorithm": type(booster).__name__,
        "classes": booster.classes_.tolist(),
        **_size_of(booster),
        "features": int(booster.n_features_in_),
        "features that vote": int(np.unique(_asked(booster)).size),
    }
    if booster.n_iter_:
        facts |= {
            "smallest edge": float(min(history["edge"])),
            "mean share of zero weights": float(np.mean(history["zero_fraction"])),
            "training error": training_error(booster),
        }
    return facts


def _size_of(booster: Any) -> dict[str, int]:
    """Return how many boosters and rounds a model has, and how large its trees may be."""
    facts = {"rounds": int(booster.n_iter_)}
    if len(booster.record_.members) > 1:
        facts = {"boosters": len(booster.record_.members), "rounds of all": facts["rounds"]}
    leaves, _ = size_of(booster)
    name = "most leaves of a tree" if booster.record_.choice is None else "leaves chosen"
    return facts if leaves is None else {**facts, name: leaves}


def size_of(booster: Any) -> tuple[int | None, int]:
    """Return the leaves and the rounds: those that were chosen, or those of the settings."""
    choice = booster.record_.choice
    if choice is not None:
        return choice.max_leaves or None, choice.n_estimators
    leaves = booster.max_leaves
    return leaves if isinstance(leaves, int) else None, int(booster.n_iter_)


def summary_of(path: Path, facts: dict[str, Any]) -> Table:
    """Return the facts of a model as a table of texts."""
    forms = {"smallest edge": ".4f", "mean share of zero weights": ".1%", "training error": ".2%"}
    texts = {**facts, "classes": listed(facts["classes"])}
    rows = [
        (name, value if isinstance(value, str) else format(value, forms.get(name, ",")))
        for name, value in texts.items()
    ]
    return Table(str(path), (Column("model"), Column("", flush_right=True)), tuple(rows))


def features_of(booster: Any, top: int) -> Table:
    """Return the features that vote most."""
    names = getattr(booster, "feature_names_in_", None)
    if len(booster.trees_):
        importances, asked = booster.feature_importances_, _asked(booster)
        used = sorted(set(asked.tolist()), key=lambda j: (-importances[j], j))[:top]
        shares = tuple(
            (feature_name(names, j), int((asked == j).sum()), float(importances[j])) for j in used
        )
        heads = (Column("feature"), Column("questions"), Column("importance", ".4f"))
        return Table("The features that have most of the edges", heads, shares)
    # missing values vote too, as the scorecard shows
    votes_of = {j: [*each.values, each.missing] for j, each in booster.shape_functions_.items()}
    order = sorted(votes_of, key=lambda j: -float(np.ptp(votes_of[j])))[:top]
    rows = tuple(
        (
            feature_name(names, j),
            int((_asked(booster) == j).sum()),
            float(min(votes_of[j])),
            float(max(votes_of[j])),
            float(votes_of[j][-1]),
        )
        for j in order
    )
    votes = (Column(name, "+.4f") for name in ("lowest vote", "highest vote", "if missing"))
    columns = (Column("feature"), Column("stumps"), *votes)
    return Table("The features that move the decision most", columns, rows)


def _asked(booster: Any) -> Any:
    """Return the feature of every question of a model; both of a question about a pair."""
    trees, owners = booster.trees_, booster.model_.owners
    asked = trees.feature[trees.left > 0] if len(trees) else booster.stumps_.feature
    paired = asked[owners[0][asked] != owners[-1][asked]]
    return np.append(owners[0][asked], owners[-1][paired])


def feature_name(names: Any, feature: int) -> str:
    return f"x{feature}" if names is None else str(names[feature])


def margins_on(name: str, margins: Any) -> Table:
    """Return the quantiles of the margins of examples."""
    shares = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    rows = tuple((f"{share:.0%}", float(np.quantile(margins, share))) for share in shares)
    columns = (Column("share of examples"), Column("margin at most", "+.4f"))
    return Table(f"Margins on {name}", columns, rows)


def predictions_of(booster: Any, X: Any) -> dict[str, Any]:
    """Return the labels, votes and probabilities of examples as plain data."""
    votes, p = booster.decision_function(X), booster.predict_proba(X)
    columns = booster.predict(X).tolist(), votes.tolist(), p.tolist()
    rows = zip(*columns, strict=True)
    names = ("label", "score", "probabilities")
    return {
        "classes": booster.classes_.tolist(),
        "predictions": [dict(zip(names, row, strict=True)) for row in rows],
    }


def line_of(answer: Any) -> str:
    """Return a prediction as text: one value, or a column for each class."""
    return " ".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def score(booster: Any, X: Any, y: Any) -> tuple[float, float, float]:
    """Return error, AUC and log-loss; with more than two classes the mean AUC of each to the rest.

    The AUC is NaN if a class is missing from ``y``.
    """
    classes, p = booster.classes_, booster.predict_proba(X)
    error = float(np.mean(booster.predict(X) != y))
    area = math.nan
    if np.unique(y).size == classes.size:
        votes = booster.decision_function(X) if classes.size == 2 else p
        area = mean_area(y, votes, classes)
    return error, area, log_loss(y, p, classes)


def cross_validate(
    booster: Any, examples: Examples, folds: int, seed: int, name: str
) -> tuple[Table, NewExamples]:
    """Fit on all folds but one, score on that one, and so on; the last rows are mean and spread.

    Every fold has the same share of each class, as far as possible. What the folds held out chose
    nothing, so that they promise something about new examples.
    """
    from sklearn.base import clone

    X, y = examples.X, examples.y
    assert y is not None
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < folds:
        rare = classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"--folds must be at most the number of examples of every class; got {folds}, and "
            f"class {shown(rare)} has {counts.min()}"
        )
    fold_of = deal_folds(y, folds, seed)
    rows: list[Row] = []
    wrong: list[int] = []
    losses: list[LossCounts] = []
    with progress("cross-validating", folds, "folds") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # our own lines say it
        for k in range(folds):
            learn, test = np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)
            fitted = clone(booster).fit(X[learn], y[learn])
            scores_of_fold = score(fitted, X[test], y[test])
            rows.append((str(k + 1), test.size, *size_of(fitted), *scores_of_fold))
            wrong.append(round(scores_of_fold[0] * test.size))
            p = fitted.predict_proba(X[test])
            own = p[np.arange(test.size), np.searchsorted(classes, y[test])]
            losses.append(LossCounts.of(-log_all(np.maximum(own, CLIP))))
            advance(1)
    scores = np.array([row[4:] for row in rows], dtype=np.float64)
    mean, spread = scores.mean(axis=0), scores.std(axis=0, ddof=1)
    rows.append(("mean", y.size, None, None, *mean.tolist()))
    rows.append(("standard deviation", None, None, None, *spread.tolist()))
    sizes = tuple(np.bincount(fold_of).tolist())
    log_loss = NewLogLoss(tuple(losses), name_boosters(FOLDS, folds), classes.size)
    promise = NewExamples(sizes, tuple(wrong), FOLDS, log_loss=log_loss)
    return Table(f"{folds} folds of {name}", COLUMNS, tuple(rows)), promise


def deal_folds(y: npt.NDArray[Any], folds: int, seed: int) -> IntArray:
    """Return the fold of each example, from 0: shuffled in each class, then dealt in turn.

    Every fold has as many examples as another, and as many of each class, or one more.

    >>> deal_folds(np.array(["a", "b", "a", "b", "a", "b"]), 3, seed=0)
    array([1, 1, 2, 2, 0, 0])
    """
    shuffled = np.random.default_rng(seed).permutation(y.size)
    fold_of = np.empty(y.size, dtype=np.int64)
    fold_of[np.lexsort((shuffled, y))] = np.arange(y.size) % folds
    return fold_of


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
