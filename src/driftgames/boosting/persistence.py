"""Models as files: a documented JSON document, checked when it is read, without pickle.

The format is described in ``docs/model_format.md``. A loaded model predicts bit for bit what
the saved one did.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from driftgames.boosting.by_name import BOOSTERS
from driftgames.boosting.data.checks import plain_constraints
from driftgames.boosting.model.document import check_model, decode_fitted, encode_fitted
from driftgames.boosting.model.tree_document import pack_trees, unpack_trees, upgrade_trees
from driftgames.boosting.parameters import LEFT_OUT, PARAMETERS, RETIRED
from driftgames.core.checks import shown
from driftgames.core.description import encode, is_described, restore
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.schema import one_of
from driftgames.core.typing import Content, Path
from driftgames.potentials import Potential

if TYPE_CHECKING:
    from driftgames.boosting import BaseBooster

FORMAT = "driftgames.boosting"
VERSION = 5

ADVICE = {"driftgames.regression": "it is a regressor: NHBoostDTRegressor.load reads it"}
"""What to do with a file of another kind of model."""

UPGRADES = {4: upgrade_trees}
"""Version 5 packs trees into arrays; those of version 4 are lists."""

_CLASSES = {each.__name__: each for each in BOOSTERS.values()}


def save_model(model: BaseBooster, path: Path) -> None:
    """Write a fitted booster to ``path``, atomically."""
    write_document(path, FORMAT, VERSION, encode_model(model))


def load_model(path: Path) -> BaseBooster:
    """Return the booster that `save_model` wrote, ready to predict.

    A file that is cut short, changed, of another version or of another kind raises
    `DocumentError`, which says which of these it is.
    """
    content = read_document(path, FORMAT, VERSION, UPGRADES, ADVICE)
    try:
        return decode_model(content)
    except ValueError as error:
        raise DocumentError(f"{path}: not a model that can be read: {error}") from error


def encode_model(model: BaseBooster) -> Content:
    """Return a fitted booster as the content of a document."""
    fitted = encode_fitted(model.model_, model.record_)
    _check_settings(model)
    parameters = {
        name: _encode_parameter(name, value)
        for name, value in model.get_params(deep=False).items()
        if not (name in LEFT_OUT and np.array_equal(value, LEFT_OUT[name]))
    }
    content: Content = {
        "estimator": type(model).__name__,
        "parameters": dict(sorted((parameters | RETIRED).items())),
        **fitted,
    }
    _check(content)  # a file that would be refused is not written
    return pack_trees(content)


def decode_model(content: Content) -> BaseBooster:
    """Return the booster of a document's content; raise ValueError for a member that is wrong."""
    content = unpack_trees(content)
    _check(content)
    parameters = {
        name: _decode_parameter(name, value)
        for name, value in content["parameters"].items()
        if name not in RETIRED
    }
    booster = _CLASSES[content["estimator"]](**parameters)
    return booster.adopt(decode_fitted(content, booster.binding_settings()))


def _check_settings(booster: BaseBooster) -> None:
    """Raise ValueError if settings were changed after the fit: the file could not tell which."""
    for name, now in booster.binding_settings().items():
        was = booster.record_.settings[name]
        if not (now is was or now == was):
            raise ValueError(
                f"{name} was {shown(was)} in the rounds played already, and they depend on it; "
                f"got {shown(now)}"
            )


def _check(content: Content) -> None:
    retired = {name: one_of(value) for name, value in RETIRED.items()}
    rules = {
        name: {each: PARAMETERS[each].stored for each in kind().get_params()} | retired
        for name, kind in _CLASSES.items()
    }
    check_model(content, rules, LEFT_OUT)


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
