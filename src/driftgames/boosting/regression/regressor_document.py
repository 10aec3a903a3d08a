"""The files of regressors, as docs/model_format.md says: JSON that is checked when it is read.

A stage is written as a classifier is, whose labels are the thresholds. The vote of a leaf is its
position among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.document import check_model, decode_fitted, encode_fitted
from driftgames.boosting.model.sigmoids import Sigmoids
from driftgames.boosting.model.tree_document import (
    pack_trees,
    smallest,
    unpack_trees,
    upgrade_trees,
)
from driftgames.boosting.parameters import Parameter
from driftgames.boosting.regression.conformal import Places
from driftgames.boosting.regression.outcome_thresholds import Thresholds
from driftgames.boosting.regression.stages import HeldOutScores, NumberStage, StagedModel
from driftgames.certificates.new_numbers import ASKED, NewNumbers
from driftgames.core.checks import shown
from driftgames.core.documents import DocumentError, read_document, write_document
from driftgames.core.schema import (
    LIST,
    NUMBER,
    OBJECT,
    SHARE,
    STRING,
    Requirement,
    check_members,
    integer,
    list_of,
    one_of,
)
from driftgames.core.typing import Content, Path

if TYPE_CHECKING:
    from driftgames.boosting import NHBoostDTRegressor

FORMAT = "driftgames.regression"
VERSION = 2

_KIND = "NHBoostDTRegressor"
_MOST_STAGES = 1000
_EXPONENT = integer(-1100, 1100)  # of any float


def save_regressor(booster: NHBoostDTRegressor, path: Path) -> None:
    """Write a fitted regressor to ``path``, atomically."""
    write_document(path, FORMAT, VERSION, encode_regressor(booster))


def encode_regressor(booster: NHBoostDTRegressor) -> Content:
    """Return a fitted regressor as the content of a document."""
    model, scores = booster.model_, booster.scores_
    for stage in model.stages:
        if stage.record.settings != booster.binding_settings():
            raise ValueError(
                f"settings were changed after the fit, from {shown(dict(stage.record.settings))} "
                f"to {shown(booster.binding_settings())}, and a file holds one of them"
            )
    names = getattr(booster, "feature_names_in_", None)
    parameters = {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in booster.get_params(deep=False).items()
    }
    return {
        "estimator": _KIND,
        "parameters": parameters,
        "n_features_in": booster.n_features_in_,
        "feature_names_in": None if names is None else [str(name) for name in names],
        "exponent": model.exponent,
        "origin": model.origin,
        "averaged": list(model.averaged),
        "stages": [_encode_stage(stage) for stage in model.stages],
        "held_out": _encode_scores(scores),
    }


def load_regressor(
    kind: type[NHBoostDTRegressor], rules: Mapping[str, Parameter], path: Path
) -> NHBoostDTRegressor:
    """Return the regressor that `save_regressor` wrote, ready to predict."""
    advice = {"driftgames.boosting": "it is a classifier: NHBoostDTClassifier.load reads it"}
    content = read_document(path, FORMAT, VERSION, UPGRADES, advice)
    try:
        return _decode(kind, rules, content)
    except ValueError as error:
        raise DocumentError(f"{path}: not a regressor that can be read: {error}") from error


def _decode(
    kind: type[NHBoostDTRegressor], rules: Mapping[str, Parameter], content: Content
) -> NHBoostDTRegressor:
    check_members(content, _SCHEMA)
    check_members(content["parameters"], {name: each.stored for name, each in rules.items()})
    if unknown := set(content["parameters"]) - set(rules):
        raise ValueError(f"parameters.{min(unknown)} is not a parameter of {_KIND}")
    list_of(content["n_features_in"], STRING).or_null.check(
        "feature_names_in", content["feature_names_in"]
    )
    booster = kind(**content["parameters"])
    n_features = content["n_features_in"]
    stages = tuple(
        _decode_stage(each, n_features + (number > 0), booster.binding_settings())
        for number, each in enumerate(content["stages"])
    )
    averaged = tuple(content["averaged"])
    if bool(stages) != bool(averaged) or not set(averaged) <= set(range(len(stages))):
        raise ValueError(f"averaged must be numbers of the {len(stages)} stages; got {averaged}")
    model = StagedModel(stages, averaged, content["exponent"], float(content["origin"]))
    held_out = _decode_scores(content["held_out"], model.exponent)
    names = content["feature_names_in"]
    return booster.adopt(
        model, held_out, n_features, None if names is None else np.array(names, dtype=object)
    )


def _encode_stage(stage: NumberStage) -> Content:
    """Return a stage: its booster without the sigmoid, and what makes numbers of its votes."""
    encoded = encode_fitted(replace(stage.model, calibration=None), stage.record)
    positions = (encoded["trees"]["vote"] > 0).sum(axis=1)
    encoded["trees"]["vote"] = smallest(positions)
    thresholds = {
        each.name: getattr(stage.thresholds, each.name).tolist() for each in fields(Thresholds)
    }
    sigmoids = stage.sigmoids
    return {
        "booster": pack_trees(encoded),
        "thresholds": thresholds,
        "sigmoids": {
            "slopes": sigmoids.slopes.tolist(),
            "intercepts": sigmoids.intercepts.tolist(),
        },
    }


def _decode_stage(content: Content, n_features: int, settings: Mapping[str, Any]) -> NumberStage:
    check_members(content, dict.fromkeys(("booster", "thresholds", "sigmoids"), OBJECT))
    thresholds = _decode_thresholds(content["thresholds"])
    check_members(
        content["sigmoids"],
        {
            "slopes": list_of(thresholds.size, _NOT_NEGATIVE),
            "intercepts": list_of(thresholds.size, NUMBER),
        },
    )
    booster = dict(content["booster"])
    if booster.get("n_features_in") != n_features:
        raise ValueError(
            f"n_features_in of a stage must be {n_features}; got {booster.get('n_features_in')}"
        )
    booster = unpack_trees(booster)
    OBJECT.check("trees", booster.get("trees"))
    trees = dict(booster["trees"])
    positions = trees.get("vote", np.zeros(0))
    _POSITIONS.check("trees.vote", positions)
    if positions.max(initial=0) > thresholds.size:
        raise ValueError(
            f"trees.vote must be positions from 0 to {thresholds.size}; got {positions.max()}"
        )
    above = np.arange(thresholds.size) < positions[:, None]
    trees["vote"] = np.where(above, 1, -1).astype(np.int8)
    booster |= {"trees": trees, "estimator": _KIND, "parameters": {}}
    check_model(booster, {_KIND: {}}, (), pairs_of_example=int(thresholds.gaps.sum()))
    fitted = decode_fitted(booster, settings)
    if not np.array_equal(fitted.model.classes, thresholds.values):
        raise ValueError("classes.values must be the thresholds")
    sigmoids = Sigmoids(*(_array(content["sigmoids"][name]) for name in ("slopes", "intercepts")))
    model = replace(fitted.model, calibration=cast(Any, sigmoids))
    return NumberStage(model, fitted.record, thresholds)


def _decode_thresholds(content: Content) -> Thresholds:
    """Return thresholds, checked: bins have knots that do not fall."""
    check_members(content, {"values": _list(NUMBER)})
    n = len(content["values"])
    check_members(
        content,
        {
            "gaps": list_of(n, integer(1, 2**20)),
            "means": list_of(n + 1, NUMBER),
            "knots": _list(NUMBER),
            "starts": list_of(n + 2, integer(0)),
        },
    )
    values, means, knots = (_array(content[name]) for name in ("values", "means", "knots"))
    starts = np.array(content["starts"], dtype=np.int64)
    if n < 3 or (np.diff(values) <= 0).any():
        raise ValueError("thresholds.values must be three ascending numbers or more")
    ends = starts[0] == 0 and starts[-1] == knots.size and (np.diff(starts) >= 2).all()
    if not ends or (np.diff(knots) < 0).any():
        raise ValueError("thresholds.knots must ascend, two or more for each bin")
    return Thresholds(values, np.array(content["gaps"], dtype=np.int64), means, knots, starts)


def _encode_scores(scores: HeldOutScores) -> Content:
    """Return scores and places; a place at an infinite level is null."""
    places, new = scores.places, scores.new_examples
    return {
        "crps": list(scores.crps),
        "mae": scores.mae,
        "n_examples": scores.n_examples,
        "low": [each if math.isfinite(each) else None for each in places.low.tolist()],
        "high": [each if math.isfinite(each) else None for each in places.high.tolist()],
        "new_examples": None if new is None else {name: getattr(new, name) for name in _NEW},
    }


def _decode_scores(content: Content, exponent: int) -> HeldOutScores:
    """Return scores, checked: places ascend, as many of both kinds."""
    check_members(content, _SCORES)
    low = [-math.inf if each is None else float(each) for each in content["low"]]
    high = [math.inf if each is None else float(each) for each in content["high"]]
    new = content["new_examples"]
    if new is not None:
        check_members(new, _NEW)
    n_examples = content["n_examples"] if new is None else new["n_examples"]
    if not content["crps"] or not 0 < len(low) == len(high) <= n_examples:
        raise ValueError(
            f"held_out must have a CRPS, and as many low as high places; got {len(low)} and "
            f"{len(high)} of {n_examples} examples"
        )
    if low != sorted(low) or high != sorted(high):
        raise ValueError("held_out.low and held_out.high must ascend")
    places = Places(np.array(low), np.array(high), exponent, promised=new is not None)
    return HeldOutScores(
        tuple(map(float, content["crps"])),
        float(content["mae"]),
        int(content["n_examples"]),
        places,
        None if new is None else NewNumbers(**new, coverage=places.promise(ASKED)),
    )


def _list(entry: Requirement) -> Requirement:
    return Requirement(f"a list of {entry.words}", LIST.allows, entry)


def _array(values: list[Any]) -> Array:
    return np.array(values, dtype=np.float64)


_PLACES = _list(NUMBER.or_null)
_NOT_NEGATIVE = Requirement("a finite number >= 0", lambda v: NUMBER.allows(v) and v >= 0)
_POSITIONS = Requirement(
    "an array of unsigned integers",
    lambda v: isinstance(v, np.ndarray) and v.ndim == 1 and v.dtype.kind == "u",
)
_SCHEMA = {
    "estimator": one_of(_KIND),
    "parameters": OBJECT,
    "n_features_in": integer(1, 2**31 - 1),
    "feature_names_in": LIST.or_null,
    "exponent": _EXPONENT,
    "origin": NUMBER,
    "averaged": _list(integer(0, _MOST_STAGES)),
    "stages": _list(OBJECT),
    "held_out": OBJECT,
}
_SCORES = {
    "crps": _list(NUMBER),
    "mae": NUMBER,
    "n_examples": integer(0),
    "low": _PLACES,
    "high": _PLACES,
    "new_examples": OBJECT.or_null,
}
_NEW = {
    "n_examples": integer(1),
    "low": NUMBER,
    "high": NUMBER,
    "crps": _NOT_NEGATIVE,
    "mae": _NOT_NEGATIVE,
    "crps_high": _NOT_NEGATIVE,
    "mae_high": _NOT_NEGATIVE,
    "delta": SHARE,
}


def _upgrade(content: Content) -> Content:
    """Return the content of version 2: trees are packed; no examples were held out of all."""
    stages = [each | {"booster": upgrade_trees(each["booster"])} for each in content["stages"]]
    return {
        **content,
        "parameters": {**content["parameters"], "validation_fraction": None},
        "held_out": {**content["held_out"], "new_examples": None},
        "stages": stages,
    }


UPGRADES = {1: _upgrade}
