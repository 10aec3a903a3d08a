"""Models as files: a documented JSON document, checked when it is read, and no pickle.

The format is described in ``docs/model_format.md``. A loaded model predicts bit for bit what
the saved one did, and goes on fitting (``warm_start``) as the saved one would have.
"""

from __future__ import annotations

import dataclasses
import math
import os
import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftgames.boosting.members import check_members
from driftgames.boosting.rounds import COLUMNS
from driftgames.boosting.stumps import Stumps
from driftgames.certificates.margins import MarginCertificate
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.typing import Content, FloatArray
from driftgames.potentials import Potential
from driftgames.potentials.describe import build_potential, describe_potential

if TYPE_CHECKING:
    from driftgames.boosting.base import BaseBooster

FORMAT = "driftgames.boosting"
VERSION = 1

_STUMP_ARRAYS = tuple(field.name for field in dataclasses.fields(Stumps))


def save_model(model: BaseBooster, path: str | os.PathLike[str]) -> None:
    """Write a fitted booster of stumps to ``path``, whole or not at all.

    A booster of other weak learners is refused: they have no documented form.
    """
    write_document(path, FORMAT, VERSION, encode_model(model))


def load_model(path: str | os.PathLike[str]) -> BaseBooster:
    """Return the booster that `save_model` wrote, fitted and ready to predict or to go on.

    A file that is cut short, changed, of a newer format or of another kind raises
    `DocumentError`, which says which of these it is.
    """
    content = read_document(path, FORMAT, VERSION)
    try:
        return decode_model(content)
    except (KeyError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise DocumentError(f"{path}: not a model that can be read: {what}") from error


def encode_model(model: BaseBooster) -> Content:
    """Return a fitted booster as the content of a document."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if hasattr(model, "estimators_"):
        raise ValueError(
            "only boosters of the built-in stump can be saved; this one was fitted with "
            "another estimator, which has no documented form"
        )
    model._check_settings()  # the file could not say which settings the stumps are from
    parameters = model.get_params(deep=False)
    names = getattr(model, "feature_names_in_", None)
    certificate = model.certificate_
    content = {
        "estimator": type(model).__name__,
        "parameters": {name: _encode_value(name, value) for name, value in parameters.items()},
        "classes": _encode_labels(model.classes_),
        "n_features_in": int(model.n_features_in_),
        "feature_names_in": None if names is None else [str(name) for name in names],
        "stumps": {name: _encode_numbers(getattr(model.stumps_, name)) for name in _STUMP_ARRAYS},
        "estimator_weights": _encode_numbers(model.estimator_weights_),
        "history": {name: _encode_numbers(column) for name, column in model.history_.items()},
        "ended_early": bool(model.ended_early_),
        "certificate": None if certificate is None else _encode_fields(certificate),
    }
    _check(content)  # nothing is written that would be refused when it is read
    return content


def decode_model(content: Content) -> BaseBooster:
    """Return the booster of a document's content, or say which of its members is wrong."""
    _check(content)
    parameters = {name: _decode_value(name, each) for name, each in content["parameters"].items()}
    model = _estimators()[content["estimator"]](**parameters)
    arrays: Content = {name: _decode_numbers(content["stumps"][name]) for name in _STUMP_ARRAYS}
    model.stumps_ = Stumps(**arrays)
    model.estimator_weights_ = _decode_numbers(content["estimator_weights"])
    model.history_ = {name: _decode_numbers(content["history"][name]) for name in COLUMNS}
    model.n_iter_ = len(model.stumps_)
    model.ended_early_ = content["ended_early"]
    model.certificate_ = _decode_certificate(content["certificate"])
    model.n_features_in_ = content["n_features_in"]
    if content["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(content["feature_names_in"], dtype=object)
    model.classes_ = _decode_labels(content["classes"])
    model._settle()
    return model


def _check(content: Content) -> None:
    check_members(content, {name: cls().get_params() for name, cls in _estimators().items()})


def _estimators() -> dict[str, type[BaseBooster]]:
    from driftgames import boosting

    classes: tuple[type[BaseBooster], ...] = (
        boosting.AdaBoostClassifier,
        boosting.BoostByMajorityClassifier,
        boosting.NHBoostClassifier,
        boosting.NHBoostDTClassifier,
        boosting.PotentialBoostClassifier,
    )
    return {each.__name__: each for each in classes}


def _encode_value(name: str, value: Any) -> Any:
    """Return a parameter as JSON: a plain value, or a potential by its name and fields."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Potential):
        described = describe_potential(value)
        if described["parameters"] is None:
            raise ValueError(f"{name} must be a potential that a file can hold; got {value!r}")
        return described
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _encode_float(value)
    raise ValueError(f"{name} must be a number, a string or None to be saved; got {value!r}")


def _decode_value(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return build_potential(value)
    except (KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a potential that a file can hold; got {reprlib.repr(value)} ({error})"
        ) from error


def _encode_fields(record: Any) -> Content:
    """Return the fields of a dataclass of numbers, strings and arrays of numbers."""
    encoded: Content = {}
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        is_array = isinstance(value, np.ndarray)
        encoded[field.name] = (
            _encode_numbers(value) if is_array else _encode_value(field.name, value)
        )
    return encoded


def _decode_certificate(fields: Content | None) -> MarginCertificate | None:
    if fields is None:
        return None
    decoded: Content = {
        name: _decode_numbers(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    return MarginCertificate(**decoded)


def _encode_numbers(array: npt.NDArray[Any]) -> list[Any]:
    return [_encode_float(x) if isinstance(x, float) else x for x in array.tolist()]


def _decode_numbers(values: list[Any]) -> FloatArray:
    return np.array([float(value) for value in values])


def _encode_float(value: float) -> float | str:
    """Return a float that JSON has a number for, and any other by its name."""
    return value if math.isfinite(value) else str(value)


def _encode_labels(labels: npt.NDArray[Any]) -> Content:
    values = labels.tolist()
    plain = all(isinstance(value, (bool, int, float, str)) for value in values)
    if not plain or labels.dtype.kind not in "biufUO":
        raise ValueError(f"classes must be numbers or strings to be saved; got {values!r}")
    return {"dtype": labels.dtype.str, "values": values}


def _decode_labels(encoded: Content) -> npt.NDArray[Any]:
    values = encoded["values"]
    try:
        labels = np.array(values, dtype=np.dtype(encoded["dtype"]))
        same = repr(np.unique(labels).tolist()) == repr(values)  # True is not 1, and 1.0 neither
    except (OverflowError, TypeError, ValueError):
        same = False
    if not same:
        raise ValueError(
            f"classes.values must be two labels of type {encoded['dtype']}, the lesser first; "
            f"got {reprlib.repr(values)}"
        )
    return labels
