"""How ``driftgames boost`` reads examples, fits its models and writes them."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import typer

from driftgames.boosting import DataWarning, NHBoostDTRegressor, NoEdgeWarning
from driftgames.boosting.data.batch_readers import open_parquet
from driftgames.boosting.data.checks import MOST_NUMBERS, looks_like_quantity
from driftgames.boosting.data.frames import is_identifier
from driftgames.boosting.fit.fit_booster import MOST_WATCHED, USUAL_ROUNDS, heaviest
from driftgames.boosting.model.training_record import Fitted
from driftgames.boosting.persistence import load_model, save_model
from driftgames.boosting.regression.regressor_document import FORMAT as REGRESSION
from driftgames.cli import INTERRUPTED
from driftgames.cli import _boost_regression as regressors
from driftgames.cli._boost_options import ExampleReading, Settings, Training
from driftgames.cli._boost_report import (
    chosen_line,
    feature_name,
    training_error,
)
from driftgames.cli._examples import Examples
from driftgames.cli._output import fail, say
from driftgames.core.cells import counts_rows
from driftgames.core.documents import OtherFormatError
from driftgames.core.text import listed, shorten, shown
from driftgames.datasets.files import DataError
from driftgames.tables import counted

MOST_CELLS = 2**26
"""Parquet files with more cells than that are fitted in batches: half a GiB of numbers."""


def read_model(path: Path) -> Any:
    """Return the booster that a file holds: of classes, or of numbers."""
    try:
        return load_model(path)
    except OtherFormatError as other:
        if other.found != REGRESSION:
            raise
        return NHBoostDTRegressor.load(path)


def read_labelled(
    data: str, reading: ExampleReading, booster: Any, training: Training | None = None
) -> Examples:
    """Read examples for a booster, and say how they were read; all of them have labels.

    Without ``training`` the booster is fitted, and the examples are only scored.
    """
    fitted = booster.__sklearn_is_fitted__()
    columns = columns_of(booster) if fitted else {}
    if training is not None:
        columns = {"as_strings": training.categories}
    examples = reading.read(data, **columns)
    if examples.y is None:
        fail(f"{data}: has no labels, which are needed here")
    if training is not None:
        _say_label(data, examples, training)
    if not fitted and examples.categories:
        booster.set_params(categorical_features=list(examples.categories))
    for kind, found in (("categories", examples.categories), ("dates", examples.dates)):
        if found and not fitted:
            names = listed(feature_name(examples.names, j) for j in found)
            say(f"{data}: read as {kind}: {names}", err=True)
    n_lost = examples.X.shape[0] - examples.y.size
    if n_lost:
        say(f"{data}: {n_lost:,} rows without a label are left out", err=True)
    return examples.labelled()


def _say_label(data: str, examples: Examples, training: Training) -> None:
    """Say which column is the label, its classes or numbers, and the other columns."""
    assert examples.y is not None
    where = shorten(examples.label, 100)
    classes, counts = np.unique(examples.y, return_counts=True)
    regresses = is_regression(examples, training)
    if regresses:
        regressors.numbers_of(data, examples)  # which names a label that is none
        kind = f"{counted(classes.size, 'different number')}: regression"
        kind += "" if training.regression else " (--many-classes fits classes)"
    else:
        found = (f"{shorten(str(c), 60)} ({n:,})" for c, n in zip(classes, counts, strict=True))
        kind = f"{counted(classes.size, 'class')}: {listed(found)}"
    n_features = examples.X.shape[1]
    names = examples.names or [f"x{j}" for j in range(n_features)]
    say(
        f"{data}: label {where}; {kind}; {counted(n_features, 'feature')}: {listed(names, 6)}",
        err=True,
    )
    for j, name in enumerate(names):
        column = examples.X[:, j] if isinstance(examples.X, np.ndarray) else np.empty(0)
        if why := _why_no_feature(column, j in examples.categories):
            words = f"leave it out with --leave-out {shlex.quote(shorten(name, 60))}"
            say(f"{data}: column {shorten(name, 60)} {why}; {words}", err=True)
    if not regresses and classes.size > examples.y.size / 2:
        few = f"{data}: label {where} has fewer than 2 examples for each class on average"
        if classes.size > MOST_NUMBERS and not training.many_classes:
            raise DataError(
                f"{few}: it names the rows; say --many-classes to fit them all the same"
            )
        say(few, err=True)


def _why_no_feature(column: npt.NDArray[Any], holds_categories: bool) -> str:
    """Return why a column is likely a name or an index of its row; empty if it is not."""
    if not holds_categories:
        return "counts the rows" if counts_rows(column.astype(np.float64)) else ""
    known = [cell for cell in column if cell is not None]
    n_different = len(set(known))
    if not is_identifier(n_different, len(known)):
        return ""
    return f"has {n_different:,} different categories in {len(known):,} rows"


def is_regression(examples: Examples, training: Training) -> bool:
    """Whether labels are fitted as numbers: if asked for, or if they look like a quantity."""
    assert examples.y is not None
    return _are_numbers(np.unique(examples.y), training)


def _are_numbers(different: npt.NDArray[Any], training: Training) -> bool:
    if training.regression and training.many_classes:
        raise DataError("--regression fits numbers and --many-classes fits classes: choose one")
    if training.regression or training.many_classes:
        return training.regression
    return looks_like_quantity(different)


def read_valid(valid: str, reading: ExampleReading, like: Examples) -> Examples:
    """Read examples with the columns of others; all of them have labels."""
    n_features = like.X.shape[1]
    strings = [j for j in like.categories if any(isinstance(cell, str) for cell in like.X[:, j])]
    columns = {"names": like.names, "categories": strings}
    examples = reading.read(valid, n_features=n_features, **columns)
    if examples.y is None:
        fail(f"{valid}: has no labels, which are needed here")
    return examples.labelled()


def is_large(data: str) -> bool:
    """Whether parquet files have too many cells to be held at once."""
    if PurePath(data).suffix.lower() not in {".parquet", ".pq"}:
        return False
    try:
        source = open_parquet(data)
    except (ImportError, OSError, ValueError):  # the reader of tables says what is wrong
        return False
    return int(source.count_rows()) * len(source.schema.names) > MOST_CELLS


def chooses(booster: Any) -> bool:
    """Whether the examples choose a size: the leaves, the rounds or both."""
    open_leaves = booster.max_leaves == "auto" and booster.max_depth is None
    return bool(booster.n_estimators == "auto" or open_leaves)


def fit_at_once(booster: Any, examples: Examples, held_out: Examples | None, path: Path) -> None:
    """Fit, then write the model.

    Examples of --valid follow the rounds where that does not change the model: if nothing is
    chosen, or if they tell when to stop.
    """
    watched: dict[str, Any] = {}
    one = not chooses(booster) and booster.ensemble is not True
    if held_out is not None and (booster.early_stopping or one):
        watched = {"eval_set": [(held_out.X, held_out.y)], "eval_names": ["valid"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEdgeWarning)  # our own lines say it
        warnings.simplefilter("ignore", DataWarning)
        booster.set_params(verbose=1)
        try:
            booster.fit(examples.X, examples.y, **watched)
        except KeyboardInterrupt:
            say(f"stopped; nothing was written to {path}", err=True)
            raise typer.Exit(INTERRUPTED) from None
        booster.set_params(verbose=0)
    write_booster(booster, examples.names, path)
    say_end(booster)


def say_end(booster: Any) -> None:
    """Say why a fit has fewer rounds than were planned, if it has."""
    done, choice = booster.n_iter_, booster.record_.choice
    rounds, leaves = booster.n_estimators, booster.max_leaves
    if rounds == "auto":
        rounds = MOST_WATCHED if booster.early_stopping else USUAL_ROUNDS
    if choice is not None:
        leaves = choice.max_leaves
        rounds = choice.n_estimators if booster.n_estimators == "auto" else rounds
    if done >= rounds or len(booster.record_.members) > 1:
        return
    kind = "stump" if booster.max_depth == 1 or leaves == 2 else "tree"
    early = booster.ended_early_
    why = f"no {kind} has an edge" if early else f"the last {kind} makes no mistake"
    if booster.early_stopping and not early and done > 1:
        why = f"the log-loss has not fallen for {booster.n_iter_no_change} rounds"
    if done == 0:
        heavier = booster.classes_.tolist()[heaviest(booster.model_.default_vote)]
        why += f"; every prediction is {heavier}, the class of most weight"
    say(f"the fit ended after {done} of {rounds} rounds: {why}", err=True)


def fit_batches(
    booster: Any,
    data: str,
    label: str | None,
    training: Training,
    settings: Settings,
) -> None:
    """Fit parquet files in batches; the label is the last column if no other is named."""
    source = open_parquet(data)
    titles = source.schema.names
    if label is not None and label not in titles:
        raise DataError(f"{data}: there is no column {shown(label)}; it has {listed(titles)}")
    if training.categories is not None:
        raise DataError(f"{data}: is fitted in batches, which --categories does not go with")
    where = f"{titles[-1]} (the last column)" if label is None else label
    say(f"{data}: label {shorten(where, 100)}; {len(titles) - 1:,} features", err=True)
    labels = _labels_of(source, label or titles[-1])
    if _are_numbers(labels, training):
        raise DataError(
            f"{data}: label {where} holds numbers, and files that are fitted in batches hold "
            "classes; fit fewer rows, or say --many-classes if every number is a class"
        )
    settings.weigh(booster, labels)
    booster.set_params(verbose=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # our own lines say it
        booster.fit_batches(source, label=titles[-1] if label is None else label)
    booster.set_params(verbose=0)


def _labels_of(source: Any, label: str) -> npt.NDArray[Any]:
    """Return different labels of a parquet source, until there are too many to be classes."""
    found: set[Any] = set()
    for batch in source.to_batches(columns=[label]):
        found |= set(batch.column(0).unique().to_pylist()) - {None}
        if len(found) > MOST_NUMBERS:
            break
    return np.array(sorted(found, key=str))


def say_fitted(path: Path, booster: Any) -> None:
    """Say what was chosen, if anything was, and what the model is."""
    if booster.record_.choice is not None:
        say(f"chosen: {chosen_line(booster.chosen_)}")
    n_members = len(booster.record_.members)
    size = counted(booster.n_iter_, "round")
    if n_members > 1:
        sizes = " of the best sizes" if booster.record_.choice is not None else ""
        size = f"the mean of {n_members} boosters{sizes}, {booster.n_iter_:,} rounds in all"
    say(f"{path}: {size}, training error {training_error(booster):.2%}")


def write_booster(booster: Any, names: list[str] | None, path: Path) -> None:
    """Write the model as if it had been fitted on columns with these names."""
    if names is not None:
        give_names(booster, names)
    save_model(booster, path)
    take_names(booster)


def take_names(booster: Any) -> list[str] | None:
    """Remove the feature names from a booster and return them: columns are matched here."""
    names = booster.model_.feature_names
    if names is None:
        return None
    give_names(booster, None)
    return [str(name) for name in names]


def give_names(booster: Any, names: list[str] | None) -> None:
    """Let a fitted booster know its features by these names, or by none."""
    titles = None if names is None else np.array(names, dtype=object)
    model = replace(booster.model_, feature_names=titles)
    booster.adopt(Fitted(model, booster.record_))


def columns_of(booster: Any) -> dict[str, Any]:
    """Return what `read_examples` must know of a booster; take its names."""
    if isinstance(booster, NHBoostDTRegressor):
        return regressors.columns_of(booster)
    categories = () if booster.encoder_ is None else booster.encoder_.categories
    return {
        "names": take_names(booster),
        "n_features": booster.n_features_in_,
        "categories": [j for j, each in enumerate(categories) if each and isinstance(each[0], str)],
    }
