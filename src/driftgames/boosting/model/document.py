"""The fitted part of a model file: a model and its record as JSON, as docs/model_format.md says."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import CHOSEN_NUMBERS, Choice, Trial
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.held_out_losses import VOTE_RULES
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.training_record import (
    COLUMNS,
    Fitted,
    HeldOut,
    Member,
    TrainingRecord,
)
from driftgames.boosting.model.trees import Trees
from driftgames.certificates.margins import Margins
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.core.checks import shown
from driftgames.core.typing import Content


def encode_fitted(model: FittedModel, record: TrainingRecord) -> Content:
    """Return the members of a document that describe a model and its fit."""
    names, margins, calibration = model.feature_names, record.margins, model.calibration
    return {
        "classes": _encode_labels(model.classes),
        "n_features_in": int(model.n_features),
        "feature_names_in": None if names is None else [str(name) for name in names],
        **({} if model.encoder is None else {"categories": model.encoder.encode()}),
        **_encode_hypotheses(model),
        "estimator_weights": model.vote_weights.tolist(),
        "history": {name: values.tolist() for name, values in record.history.items()},
        "ended_early": bool(record.ended_early),
        "margins": None
        if margins is None
        else {"values": margins.values.tolist(), "masses": margins.masses.tolist()},
        "default_vote": model.default_vote.tolist(),
        "calibration": None if calibration is None else _encode_calibration(calibration),
        **_encode_choice(record),
    }


def _encode_calibration(calibration: Calibration) -> Content:
    """Return the numbers of a sigmoid; intercepts of classes only if there are any."""
    numbers: Content = {"slope": calibration.slope, "intercept": calibration.intercept}
    if calibration.class_intercepts:
        numbers["class_intercepts"] = list(calibration.class_intercepts)
    return numbers


def _decode_calibration(content: Content, class_weighted: bool) -> Calibration:
    intercepts = tuple(map(float, content.get("class_intercepts", ())))
    return Calibration(content["slope"], content["intercept"], intercepts, class_weighted)


def _encode_choice(record: TrainingRecord) -> Content:
    """Return what was chosen and held out, and the members of a mean: only if there is any.

    How long a choice took is left out: the same fit gives the same file.
    """
    content: Content = {}
    if (choice := record.choice) is not None:
        content["chosen"] = {name: getattr(choice, name) for name in CHOSEN_NUMBERS}
        content["chosen"]["trials"] = [list(trial) for trial in choice.trials]
    if record.held_out is not None:
        n_examples, n_errors, losses, n_rules, _ = record.held_out
        content["held_out"] = [list(each) for each in zip(n_examples, n_errors, strict=True)]
        if n_rules != VOTE_RULES:
            content["held_out_rules"] = n_rules
        if losses:
            content["held_out_losses"] = [[mean, list(map(list, pairs))] for mean, pairs in losses]
    if record.members:
        content["members"] = [list(member) for member in record.members]
        content["mean_error"] = record.mean_error
    return content


def _decode_choice(content: Content) -> dict[str, Any]:
    results: dict[str, Any] = {"mean_error": content.get("mean_error")}
    if "chosen" in content:
        numbers = {name: content["chosen"][name] for name in CHOSEN_NUMBERS}
        trials = tuple(Trial(*each) for each in content["chosen"]["trials"])
        results["choice"] = Choice(**numbers, trials=trials)
    if "held_out" in content:
        n_examples, n_errors = zip(*content["held_out"], strict=True)
        losses = tuple(
            LossCounts(float(mean), tuple((level, n) for level, n in pairs))
            for mean, pairs in content.get("held_out_losses", [])
        )
        if losses and [part.n_examples for part in losses] != list(n_examples):
            raise ValueError("held_out_losses must count the examples of held_out")
        n_rules = content.get("held_out_rules", VOTE_RULES)
        results["held_out"] = HeldOut(n_examples, n_errors, losses, n_rules)
    results["members"] = tuple(Member(*each) for each in content.get("members", []))
    return results


def decode_fitted(content: Content, settings: Mapping[str, Any]) -> Fitted:
    """Return what `encode_fitted` describes, of a fit with these settings."""
    hypotheses: Stumps | Trees
    if "trees" in content:
        n_classes, votes = len(content["classes"]["values"]), content["trees"]["vote"]
        if n_classes > 2:
            votes = [vote if vote else [0] * n_classes for vote in votes]
        arrays = {n: _numbers(each) for n, each in content["trees"].items() if n != "vote"}
        hypotheses = Trees(**arrays, vote=np.array(votes))
    else:
        hypotheses = Stumps(**{n: _numbers(each) for n, each in content["stumps"].items()})
    names, margins = content["feature_names_in"], content["margins"]
    calibration, categories = content["calibration"], content.get("categories")
    class_weighted = settings.get("class_weight") is not None
    model = FittedModel(
        _decode_labels(content["classes"]),
        content["n_features_in"],
        hypotheses,
        _numbers(content["estimator_weights"]),
        _numbers(content["default_vote"]),
        None if names is None else np.array(names, dtype=object),
        None if categories is None else CategoryEncoder.decode(categories),
        None if calibration is None else _decode_calibration(calibration, class_weighted),
    )
    record = TrainingRecord(
        {name: _numbers(content["history"][name]) for name in COLUMNS},
        None
        if margins is None
        else Margins(_numbers(margins["values"]), np.array(margins["masses"])),
        settings,
        content["ended_early"],
        **_decode_choice(content),
    )
    return Fitted(model, record)


def _encode_hypotheses(model: FittedModel) -> Content:
    """Return the stumps or the trees of a model; infinity is written as a string."""
    trees = model.trees
    kind, kept = ("trees", trees) if len(trees) else ("stumps", model.stumps)
    arrays = {each.name: getattr(kept, each.name).tolist() for each in fields(kept)}
    if kind == "trees" and trees.vote.ndim == 2:
        asks = trees.left > 0
        arrays["vote"] = [0 if a else v for a, v in zip(asks, arrays["vote"], strict=True)]
    arrays["threshold"] = ["inf" if x == np.inf else x for x in arrays["threshold"]]
    return {kind: arrays}


def _numbers(values: list[Any]) -> Array:
    return np.array([float(value) for value in values])


def _encode_labels(labels: Array) -> Content:
    values = labels.tolist()
    plain = all(isinstance(value, (bool, int, float, str)) for value in values)
    if not plain or labels.dtype.kind not in "biufUO":
        raise ValueError(f"classes must be numbers or strings to be saved; got {shown(values)}")
    return {"dtype": labels.dtype.str, "values": values}


def _decode_labels(encoded: Content) -> Array:
    values = encoded["values"]
    try:
        labels = np.array(values, dtype=np.dtype(encoded["dtype"]))
        same = repr(np.unique(labels).tolist()) == repr(values)  # True, 1 and 1.0 differ
    except (OverflowError, TypeError, ValueError):
        same = False
    if not same:
        raise ValueError(
            f"classes.values must be {'two' if len(values) == 2 else len(values)} labels of type "
            f"{encoded['dtype']}, the lesser first; "
            f"got {reprlib.repr(values)}"
        )
    return labels
