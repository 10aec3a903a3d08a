"""Models as files: a documented JSON document, checked when it is read, without pickle.

The format is described in ``docs/model_format.md``. A loaded model predicts bit for bit what
the saved one did, and goes on fitting (``warm_start``) as the saved one would have.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting import BOOSTERS
from driftgames.boosting.data.bins import Array
from driftgames.boosting.data.categories import CategoryEncoder
from driftgames.boosting.data.monotonic import plain_constraints
from driftgames.boosting.estimators.base import BaseBooster
from driftgames.boosting.fit.calibration import Calibration
from driftgames.boosting.fit.warm_start import check_settings
from driftgames.boosting.model.model_schema import LEFT_OUT, check_model
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.trees import NO_TREES, Trees
from driftgames.boosting.weights.example_chips import COLUMNS
from driftgames.certificates.margins import Margins
from driftgames.core.checks import shown
from driftgames.core.description import encode, is_described, restore
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.typing import Content, Path
from driftgames.potentials import Potential

FORMAT = "driftgames.boosting"
VERSION = 3

_CLASSES = {each.__name__: each for each in BOOSTERS.values()}


def save_model(model: BaseBooster, path: Path) -> None:
    """Write a fitted booster of stumps or trees to ``path``, atomically.

    A booster of other weak learners is refused: they have no documented form.
    """
    write_document(path, FORMAT, VERSION, encode_model(model))


def load_model(path: Path) -> BaseBooster:
    """Return the booster that `save_model` wrote, ready to predict or to go on.

    A file that is cut short, changed, of another version or of another kind raises
    `DocumentError`, which says which of these it is.
    """
    content = read_document(path, FORMAT, VERSION)
    try:
        return decode_model(content)
    except ValueError as error:
        raise DocumentError(f"{path}: not a model that can be read: {error}") from error


def encode_model(model: BaseBooster) -> Content:
    """Return a fitted booster as the content of a document."""
    check_is_fitted(model)
    if hasattr(model, "estimators_"):
        raise ValueError(
            "only boosters of the built-in stump or tree can be saved; this one was fitted with "
            "another estimator, which has no documented form"
        )
    check_settings(model)  # the file could not tell which settings the hypotheses are from
    names = getattr(model, "feature_names_in_", None)
    margins, calibration = model._margins, model.calibration_
    content: Content = {
        "estimator": type(model).__name__,
        "parameters": {
            name: _encode_parameter(name, value)
            for name, value in model.get_params(deep=False).items()
            if not (name in LEFT_OUT and np.array_equal(value, LEFT_OUT[name]))
        },
        "classes": _encode_labels(model.classes_),
        "n_features_in": int(model.n_features_in_),
        "feature_names_in": None if names is None else [str(name) for name in names],
        **({} if model.encoder_ is None else {"categories": model.encoder_.encode()}),
        **_encode_hypotheses(model),
        "estimator_weights": model.estimator_weights_.tolist(),
        "history": {name: values.tolist() for name, values in model.history_.items()},
        "ended_early": bool(model.ended_early_),
        "margins": None
        if margins is None
        else {"values": margins.values.tolist(), "masses": margins.masses.tolist()},
        "default_vote": model._default_vote.tolist(),
        "calibration": None if calibration is None else asdict(calibration),
    }
    _check(content)  # a file that would be refused is not written
    return content


def decode_model(content: Content) -> BaseBooster:
    """Return the booster of a document's content; raise ValueError for a member that is wrong."""
    _check(content)
    parameters = {
        name: _decode_parameter(name, value) for name, value in content["parameters"].items()
    }
    model = _CLASSES[content["estimator"]](**parameters)
    model.encoder_ = None
    if "categories" in content:
        model.encoder_ = CategoryEncoder.decode(content["categories"])
    model.stumps_, model.trees_ = Stumps.none(), NO_TREES
    if "trees" in content:
        n_classes, votes = len(content["classes"]["values"]), content["trees"]["vote"]
        if n_classes > 2:
            votes = [vote if vote else [0] * n_classes for vote in votes]
        arrays = {n: _numbers(each) for n, each in content["trees"].items() if n != "vote"}
        model.trees_ = Trees(**arrays, vote=np.array(votes))
    else:
        model.stumps_ = Stumps(**{n: _numbers(each) for n, each in content["stumps"].items()})
    model.estimator_weights_ = _numbers(content["estimator_weights"])
    model.history_ = {name: _numbers(content["history"][name]) for name in COLUMNS}
    model.n_iter_ = len(model.stumps_) + len(model.trees_)
    model.ended_early_ = content["ended_early"]
    model._margins = None
    if (margins := content["margins"]) is not None:
        model._margins = Margins(_numbers(margins["values"]), np.array(margins["masses"]))
    model._default_vote = _numbers(content["default_vote"])
    model.calibration_ = None
    if (calibration := content["calibration"]) is not None:
        model.calibration_ = Calibration(**calibration)
    model.n_features_in_ = content["n_features_in"]
    if content["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(content["feature_names_in"], dtype=object)
    model.classes_ = _decode_labels(content["classes"])
    model._settings = model._binding_settings()
    model._add_up()
    return model


def _encode_hypotheses(model: BaseBooster) -> Content:
    """Return the stumps or the trees of a booster; infinity is written as a string."""
    kind, kept = ("trees", model.trees_) if len(model.trees_) else ("stumps", model.stumps_)
    arrays = {each.name: getattr(kept, each.name).tolist() for each in fields(kept)}
    if kind == "trees" and model.trees_.vote.ndim == 2:
        asks = model.trees_.left > 0
        arrays["vote"] = [0 if a else v for a, v in zip(asks, arrays["vote"], strict=True)]
    arrays["threshold"] = ["inf" if x == np.inf else x for x in arrays["threshold"]]
    return {kind: arrays}


def _check(content: Content) -> None:
    check_model(content, {name: each().get_params() for name, each in _CLASSES.items()})


def _encode_parameter(name: str, value: Any) -> Any:
    """Return a parameter as JSON: a plain value, or a potential by its name and arguments."""
    if name == "monotonic_cst":
        return plain_constraints(value)
    if name == "class_weight" and isinstance(value, Mapping):
        value = [list(pair) for pair in value.items()]
    try:
        encoded = encode(value.tolist() if isinstance(value, np.ndarray) else value)
    except TypeError:
        encoded = {"arguments": None}
    if isinstance(encoded, dict) and encoded["arguments"] is None:
        raise ValueError(f"{name} must be a value that a file can hold; got {shown(value)}")
    return encoded


def _decode_parameter(name: str, value: Any) -> Any:
    if name == "monotonic_cst":
        return value
    if name == "class_weight" and isinstance(value, list):
        return dict(value)
    if not is_described(value):
        return value
    try:
        potential = restore(value, name)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a potential that can be made; got {reprlib.repr(value)} ({error})"
        ) from error
    if not isinstance(potential, Potential):
        raise ValueError(f"{name} must be a potential; got {reprlib.repr(value)}")
    return potential


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
