"""``driftgames boost`` on numbers: fits, scores and shows a regressor."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from driftgames.boosting import NHBoostDTRegressor, NoEdgeWarning
from driftgames.cli import INTERRUPTED
from driftgames.cli._boost_options import Settings
from driftgames.cli._boost_report import feature_name
from driftgames.cli._examples import Examples
from driftgames.cli._output import fail, say
from driftgames.core.cells import as_numbers
from driftgames.core.progress import progress
from driftgames.core.text import shown
from driftgames.core.typing import FloatArray
from driftgames.datasets.files import DataError
from driftgames.tables import Column, Row, Table, counted

PREDICTED = ("mean", "low_90", "high_90")
"""The columns of predictions."""

_SCORES = (
    Column("R2", ".4f"),
    Column("mean absolute error", ".4g"),
    Column("CRPS", ".4g"),
    Column("within 90 %", ".1%"),
)


def make_regressor(settings: Settings, n_jobs: int) -> NHBoostDTRegressor:
    """Return the regressor that the options ask for; those of classifiers are refused."""
    classes_only = ("class_weight", "depth", "early_stopping", "edge", "ensemble", "pairs")
    for name in (*classes_only, "patience"):
        if getattr(settings, name) is not None:
            fail(f"--{name.replace('_', '-')} does not go with regression")
    if settings.algorithm not in (None, "nh-boost.dt"):
        fail(f"regression is by nh-boost.dt; got --algorithm {settings.algorithm}")
    return NHBoostDTRegressor(n_jobs=n_jobs, **settings.parameters())


def numbers_of(data: str, examples: Examples) -> FloatArray:
    """Return labels as numbers; raise DataError for one that is none."""
    assert examples.y is not None
    numbers = as_numbers(examples.y.tolist())
    if numbers is None or not np.isfinite(numbers).all():
        bad = next(each for each in examples.y.tolist() if not _is_finite(each))
        raise DataError(f"{data}: label {shown(bad)} is not a finite number, as regression needs")
    return numbers


def _is_finite(label: Any) -> bool:
    number = as_numbers([label])
    return number is not None and bool(np.isfinite(number).all())


def fit_regressor(booster: NHBoostDTRegressor, data: str, examples: Examples, path: Path) -> None:
    """Fit, then write the model, and say what came of it."""
    y = numbers_of(data, examples)
    booster.set_params(categorical_features=list(examples.categories) or "from_dtype", verbose=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)  # the scores say it
        try:
            booster.fit(examples.X, y)
        except KeyboardInterrupt:
            say(f"stopped; nothing was written to {path}", err=True)
            raise typer.Exit(INTERRUPTED) from None
    booster.set_params(verbose=0)
    name_columns(booster, examples.names)
    booster.save(path)
    name_columns(booster, None)  # columns are matched here
    say(f"{path}: {_size_of(booster)}")


def name_columns(booster: NHBoostDTRegressor, names: list[str] | None) -> None:
    """Let a fitted regressor know its columns by these names, or by none."""
    titles = None if names is None else np.array(names, dtype=object)
    booster.adopt(booster.model_, booster.scores_, booster.n_features_in_, titles)


def columns_of(booster: NHBoostDTRegressor) -> dict[str, Any]:
    """Return what `read_examples` must know of a regressor; take its names."""
    names, stages = getattr(booster, "feature_names_in_", None), booster.model_.stages
    encoder = stages[0].model.encoder if stages else None
    categories = () if encoder is None else encoder.categories
    name_columns(booster, None)
    return {
        "names": None if names is None else [str(name) for name in names],
        "n_features": booster.n_features_in_,
        "categories": [j for j, each in enumerate(categories) if each and isinstance(each[0], str)],
    }


def _size_of(booster: NHBoostDTRegressor) -> str:
    """Return in words how many stages and rounds a model has."""
    stages = booster.model_.stages
    if not stages:
        return "all outcomes are equal, and so are all predictions"
    rounds = sum(stage.model.n_rounds for stage in stages)
    return f"{counted(len(stages), 'stage')}, {rounds:,} rounds in all"


def predict_rows(booster: NHBoostDTRegressor, X: Any) -> FloatArray:
    """Return the columns `PREDICTED`."""
    return np.column_stack([booster.predict(X), booster.predict_interval(X, 0.9)])


def text_of(rows: FloatArray) -> str:
    """Return predictions as the text of a table, titles first."""
    lines = (",".join(map(repr, row)) for row in rows.tolist())
    return "".join(f"{line}\n" for line in (",".join(PREDICTED), *lines))


def records_of(rows: FloatArray) -> list[dict[str, float]]:
    """Return predictions as plain data."""
    return [dict(zip(PREDICTED, row, strict=True)) for row in rows.tolist()]


def score(
    booster: NHBoostDTRegressor, X: Any, y: npt.NDArray[Any]
) -> tuple[float, float, float, float]:
    """Return R2, mean absolute error, CRPS, and the share of outcomes within the intervals."""
    rows = booster.predict_distribution(X)
    low, high = booster.predict_interval(X, 0.9).T
    error = float(np.mean(np.abs(y - rows.median())))
    covered = float(np.mean((low <= y) & (y <= high)))
    return booster.score(X, y), error, float(np.mean(rows.crps(y))), covered


def say_scores(before: str, booster: NHBoostDTRegressor, X: Any, y: npt.NDArray[Any]) -> None:
    """Say the scores on standard error."""
    r2, error, crps, covered = score(booster, X, y)
    say(
        f"{before}R2 {r2:.4f} on {y.size:,} examples, mean absolute error {error:.4g}, "
        f"CRPS {crps:.4g}, {covered:.1%} within the 90 % intervals",
        err=True,
    )


def cross_validate(
    booster: NHBoostDTRegressor, data: str, examples: Examples, folds: int, seed: int
) -> Table:
    """Fit on all folds but one, score on that one, and so on; the last rows are mean and spread."""
    from sklearn.base import clone

    X, y = examples.X, numbers_of(data, examples)
    booster.set_params(categorical_features=list(examples.categories) or "from_dtype")
    if folds > y.size // 2:
        raise ValueError(
            f"--folds must leave two examples in each; got {folds} for {y.size} examples"
        )
    fold_of = np.empty(y.size, dtype=np.int64)
    fold_of[np.random.default_rng(seed).permutation(y.size)] = np.arange(y.size) % folds
    rows: list[Row] = []
    with progress("cross-validating", folds, "folds") as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)
        for k in range(folds):
            test = fold_of == k
            fitted = clone(booster).fit(X[~test], y[~test])
            n_stages, scores = len(fitted.model_.stages), score(fitted, X[test], y[test])
            rows.append((str(k + 1), int(test.sum()), n_stages, *scores))
            advance(1)
    found = np.array([row[3:] for row in rows], dtype=np.float64)
    rows.append(("mean", y.size, None, *found.mean(axis=0).tolist()))
    rows.append(("standard deviation", None, None, *found.std(axis=0, ddof=1).tolist()))
    columns = (Column("fold"), Column("examples", ","), Column("stages", ","), *_SCORES)
    return Table(f"{folds} folds of {data}", columns, tuple(rows))


def facts_of(booster: NHBoostDTRegressor) -> dict[str, Any]:
    """Return the facts of a regressor by their names."""
    scores, stages = booster.scores_, booster.model_.stages
    return {
        "algorithm": type(booster).__name__,
        "features": int(booster.n_features_in_),
        "thresholds": max((stage.thresholds.size for stage in stages), default=0),
        "rounds of all": sum(stage.model.n_rounds for stage in stages),
        "held-out examples": scores.n_examples,
        "held-out CRPS": scores.crps[-1],
        "held-out mean absolute error": scores.mae,
    }


def summary_of(path: Path, facts: dict[str, Any]) -> Table:
    """Return the facts of a regressor as a table of texts."""
    forms = {int: ",", float: ".4g", str: ""}
    rows = ((name, format(value, forms[type(value)])) for name, value in facts.items())
    return Table(str(path), (Column("model"), Column("", flush_right=True)), tuple(rows))


def stages_of(booster: NHBoostDTRegressor) -> Table:
    """Return the stages: their sizes, their scores and which of them are averaged."""
    rows = []
    for number, stage in enumerate(booster.model_.stages):
        choice = stage.record.choice
        leaves = booster.max_leaves if choice is None else choice.max_leaves
        crps, used = booster.scores_.crps[number], number in booster.model_.averaged
        rows.append(
            (
                number + 1,
                leaves,
                len(stage.record.members),
                stage.model.n_rounds,
                crps,
                "yes" if used else "no",
            )
        )
    columns = (
        Column("stage", ","),
        Column("leaves", ","),
        Column("boosters", ","),
        Column("rounds of all", ","),
        Column("held-out CRPS", ".4g"),
        Column("averaged"),
    )
    return Table(
        "The stages: each learns what the mean of the one before leaves", columns, tuple(rows)
    )


def features_of(booster: NHBoostDTRegressor, top: int) -> Table:
    """Return the features that have most of the edges."""
    names, shares = getattr(booster, "feature_names_in_", None), booster.feature_importances_
    order = [j for j in np.argsort(-shares, kind="stable").tolist() if shares[j] > 0][:top]
    rows = tuple((feature_name(names, j), float(shares[j])) for j in order)
    columns = (Column("feature"), Column("importance", ".4f"))
    return Table("The features that have most of the edges", columns, rows)
