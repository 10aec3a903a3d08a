"""Fits that go on (``warm_start``): with the same examples and settings, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.training_record import COLUMNS, History
from driftgames.boosting.weights.example_chips import Round
from driftgames.core.checks import shown

if TYPE_CHECKING:
    from driftgames.boosting.face.booster_input import BoosterInput
    from driftgames.boosting.model.categories import CategoryEncoder
    from driftgames.boosting.weights.example_chips import ExampleChips

_ROUNDING = 1e-9  # the difference between edges that are added up in different orders


def check_continuation(booster: BoosterInput, classes: Array, n_estimators: int | None) -> None:
    """Raise ValueError unless a fitted booster can go on with these classes and settings."""
    if booster.record_.members:
        raise ValueError(
            "warm_start goes on with a booster of all examples; this one held some out: fit it "
            "with ensemble=False"
        )
    if not np.array_equal(classes, booster.classes_):
        raise ValueError(
            f"warm_start goes on with the classes {booster.classes_.tolist()}; "
            f"got {classes.tolist()}"
        )
    if n_estimators is not None and n_estimators < booster.n_iter_:
        raise ValueError(
            f"n_estimators must be at least {booster.n_iter_}, the rounds played already, "
            f"with warm_start; got {n_estimators}"
        )
    of_stumps = booster.model_.estimators is None
    if of_stumps != (booster.estimator is None):
        began = "the built-in stump" if of_stumps else "an estimator"
        raise ValueError(
            f"warm_start goes on with {began}, as it began; got "
            f"estimator={shown(booster.estimator)}"
        )
    check_settings(booster)


def check_categories(booster: BoosterInput, encoder: CategoryEncoder | None) -> None:
    """Raise ValueError if the examples have other categories than those of the earlier fit."""
    if encoder != booster.encoder_:
        raise ValueError(
            "warm_start goes on with the examples of the earlier fit: these have other categories, "
            "or other labels for them"
        )


def check_names(was: Array | None, now: Sequence[str]) -> None:
    """Raise ValueError if the features of an earlier fit had other names, or none."""
    if was is None or was.tolist() != list(now):
        before = "no names" if was is None else f"the names {was.tolist()}"
        raise ValueError(f"warm_start goes on with the same features; they had {before}; got {now}")


def check_settings(booster: BoosterInput) -> None:
    """Raise ValueError if the rounds played already were played with other settings."""
    for name, now in booster.binding_settings().items():
        was = booster.record_.settings[name]
        if not (now is was or now == was):
            raise ValueError(
                f"{name} was {shown(was)} in the rounds played already, and they depend on it; "
                f"got {shown(now)}"
            )


def replay(chips: ExampleChips, hypotheses: Sequence[Any], history: History) -> list[Round]:
    """Play the rounds of an earlier fit again; raise ValueError if they come out differently.

    The chips end where they stood, so that the next round is the same as in a fit without a
    break. On other examples edges or errors differ, and the certificate would be invalid.
    """
    rounds = []
    for t, hypothesis in enumerate(hypotheses):
        edge = float(history["edge"][t])
        played, anew = chips.replay(hypothesis, edge)
        for name in COLUMNS:
            was = float(history[name][t])
            now, tolerance = (anew, _ROUNDING) if name == "edge" else (getattr(played, name), 0.0)
            if abs(now - was) > tolerance:
                raise ValueError(
                    "warm_start goes on with the examples of the earlier fit: after round "
                    f"{t + 1} the {name} is {now:g}, expected {was:g}"
                )
        rounds.append(played)
    return rounds
