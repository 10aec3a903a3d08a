"""The schema of a model file: one requirement for each member, as docs/model_format.md says.

A member of a member has a dotted name, such as ``stumps.feature``.
"""

from __future__ import annotations

import json
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from driftgames.boosting.cuts import MOST_BINS
from driftgames.boosting.history import COLUMNS
from driftgames.boosting.parameters import LATER
from driftgames.boosting.tree_growth import CRITERIA, DEFAULTS
from driftgames.core.checks import is_real
from driftgames.core.description import is_described
from driftgames.core.typing import Content

_LARGEST = sys.float_info.max
_MOST_FEATURES = 2**31 - 1  # what the stumps' feature numbers can hold
_MOST_BYTES = 2**20  # of a label: a file must not ask for more memory than it is long


@dataclass(frozen=True)
class Requirement:
    """A condition on a value, in words and as a test; for a list, also one on its entries."""

    words: str
    allows: Callable[[Any], bool]
    entry: Requirement | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value, or the first entry of a list, that does not meet it."""
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.words}; got {reprlib.repr(value)}")
        if self.entry is not None and value is not None:
            for i, each in enumerate(value):
                self.entry.check(f"{name}[{i}]", each)

    @property
    def or_null(self) -> Requirement:
        """The same requirement, which null meets too."""
        words = f"{self.words}, or null"
        return Requirement(words, lambda v: v is None or self.allows(v), self.entry)


def check_model(content: Content, estimators: Mapping[str, Iterable[str]]) -> None:
    """Raise `ValueError` for the first member of a model that is missing, unknown or wrong.

    ``estimators`` gives the names of the parameters of each class that a file can hold.
    """
    members = _by_name(content)
    # the other requirements depend on these
    _one_of(*estimators).check("estimator", members.get("estimator"))
    _FEATURES.check("n_features_in", members.get("n_features_in"))
    if "trees" in content:
        for name in ("trees.n_nodes", "trees.feature"):
            _LIST.check(name, members.get(name))
    else:
        _LIST.check("stumps.feature", members.get("stumps.feature"))
    parameters = estimators[members["estimator"]]
    schema = _schema(members) | {f"parameters.{name}": _PARAMETERS[name] for name in parameters}
    optional = {f"parameters.{name}" for name in LEFT_OUT} | {"default_vote"}
    if "calibration" not in content:  # a file of version 2
        optional |= {"calibration.slope", "calibration.intercept"}
    for name in schema:
        if name not in members and name not in optional:
            raise ValueError(f"{name} is missing")
    for name, value in members.items():
        if name not in schema:
            raise ValueError(f"{name} is not a member of such a model")
        schema[name].check(name, value)


def _by_name(content: Content) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            members |= {f"{name}.{part}": each for part, each in value.items()}
        else:
            members[name] = value
    return members


def _schema(members: dict[str, Any]) -> dict[str, Requirement]:
    """Return the requirements on all members but the parameters."""
    n_features = members["n_features_in"]
    of_trees = "trees.n_nodes" in members
    n_rounds = len(members["trees.n_nodes" if of_trees else "stumps.feature"])
    margins = members.get("margins.values")
    n_margins = len(margins) if isinstance(margins, list) else 0
    vote_weight = _WEIGHT if members["estimator"] == "AdaBoostClassifier" else _UNIT
    schema = {
        "estimator": _STRING,
        "classes.dtype": _LABEL_TYPE,
        "classes.values": _list(2, _LABEL),
        "n_features_in": _FEATURES,
        "feature_names_in": _list(n_features, _STRING).or_null,
        **(_tree_schema(members, n_rounds) if of_trees else _stump_schema(n_features, n_rounds)),
        "estimator_weights": _list(n_rounds, vote_weight),
        **{f"history.{name}": _list(n_rounds, _SHARE) for name in COLUMNS},
        "history.edge": _list(n_rounds, _EDGE),
        "ended_early": _one_of(True, False),
        "default_vote": _between(-1, 1),
        **_calibration_schema(members),
    }
    if n_rounds == 0:
        return schema | {"margins": _NULL}
    return schema | {"margins.values": _MARGINS, "margins.masses": _list(n_margins, _integer(1))}


def _calibration_schema(members: dict[str, Any]) -> dict[str, Requirement]:
    if "calibration" in members:
        return {"calibration": _NULL}
    return {"calibration.slope": _list(1, _SLOPE), "calibration.intercept": _list(1, _FINITE)}


def _stump_schema(n_features: int, n_rounds: int) -> dict[str, Requirement]:
    return {
        "stumps.feature": _list(n_rounds, _integer(0, n_features - 1)),
        "stumps.threshold": _list(n_rounds, _THRESHOLD),
        "stumps.left_vote": _list(n_rounds, _one_of(1, -1)),
        "stumps.missing_vote": _list(n_rounds, _one_of(1, -1)),
    }


def _tree_schema(members: dict[str, Any], n_rounds: int) -> dict[str, Requirement]:
    """Return the requirements on each node; `Trees` checks that nodes make up trees."""
    n_nodes = len(members["trees.feature"])
    return {
        "trees.n_nodes": _list(n_rounds, _integer(1, n_nodes)),
        "trees.feature": _list(n_nodes, _integer(-1, members["n_features_in"] - 1)),
        "trees.threshold": _list(n_nodes, _THRESHOLD),
        "trees.missing_left": _list(n_nodes, _one_of(0, 1)),
        "trees.left": _list(n_nodes, _integer(0, n_nodes)),
        "trees.vote": _list(n_nodes, _one_of(0, 1, -1)),
        "trees.gain": _list(n_nodes, _SHARE),
    }


def _one_of(*values: Any) -> Requirement:
    kinds = {type(value) for value in values}  # JSON's true is not its 1
    words = " or ".join(json.dumps(value) for value in values)
    return Requirement(words, lambda v: type(v) in kinds and v in values)


def _integer(low: int, high: int | None = None) -> Requirement:
    words = f"an integer from {low}" + ("" if high is None else f" to {high}")
    return Requirement(words, lambda v: type(v) is int and low <= v and (high is None or v <= high))


def _between(low: float, high: float) -> Requirement:
    return Requirement(f"a number in [{low}, {high}]", lambda v: is_real(v) and low <= v <= high)


def _list(length: int, entry: Requirement) -> Requirement:
    return Requirement(
        f"a list of {length}", lambda v: isinstance(v, list) and len(v) == length, entry
    )


def _is_label_type(value: Any) -> bool:
    try:
        dtype = np.dtype(value)
    except TypeError:
        return False
    return isinstance(value, str) and dtype.kind in "biufUO" and dtype.itemsize <= _MOST_BYTES


def _is_class_weight(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not _LABEL.allows(value[0]):
        return False
    return is_real(value[1]) and 0 < value[1] <= _LARGEST


def _is_ascending(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(map(is_real, value)):
        return False
    return value[0] >= -1 and value[-1] <= 1 and all(x < y for x, y in pairwise(value))


LEFT_OUT = DEFAULTS | LATER
"""Parameters that a file leaves out where they have these default values."""

_LIST = Requirement("a list", lambda v: isinstance(v, list))
_NULL = Requirement("null", lambda v: v is None)
_STRING = Requirement("a string", lambda v: isinstance(v, str))
_LABEL = Requirement(
    "a number, a string, true or false", lambda v: isinstance(v, (int, float, str))
)
_LABEL_TYPE = Requirement("the NumPy type of numbers or of strings", _is_label_type)
_FEATURES = _integer(1, _MOST_FEATURES)
_SHARE = _between(0, 1)
_MARGINS = Requirement("a list of ascending numbers in [-1, 1]", _is_ascending)
_EDGE = Requirement("a number in (0, 0.5]", lambda v: is_real(v) and 0 < v <= 0.5)
_UNIT = Requirement("1", lambda v: is_real(v) and v == 1)
_WEIGHT = Requirement("a number in (0, 2**53]", lambda v: is_real(v) and 0 < v <= 2**53)
_THRESHOLD = Requirement(
    'a finite number or "inf"',
    lambda v: v == "inf" or (is_real(v) and -_LARGEST <= v <= _LARGEST),
)
_FINITE = _between(-_LARGEST, _LARGEST)
_SLOPE = _between(0, _LARGEST)
_PARAMETERS = {
    "calibrate": _one_of(True, False),
    "class_weight": Requirement(
        '"balanced", or a list of pairs of a label and a number',
        lambda v: v == "balanced" or (isinstance(v, list) and all(map(_is_class_weight, v))),
    ).or_null,
    "criterion": _one_of(*CRITERIA),
    "d": Requirement("a finite number > 0", lambda v: is_real(v) and 0 < v <= _LARGEST),
    "early_stopping": Requirement(
        'true, false or "auto"', lambda v: v in (True, False, "auto") and type(v) in (bool, str)
    ),
    "edge": Requirement("a number in (0, 0.5)", lambda v: is_real(v) and 0 < v < 0.5),
    "estimator": _NULL,
    "horizon": _integer(1).or_null,
    "max_bins": _integer(2, MOST_BINS),
    "max_depth": _integer(1).or_null,
    "max_leaves": _integer(2).or_null,
    "min_samples_leaf": _integer(1),
    "n_estimators": _integer(1),
    "n_iter_no_change": _integer(1),
    "n_jobs": Requirement("an integer other than 0", lambda v: type(v) is int and v != 0).or_null,
    "potential": Requirement("a potential", is_described).or_null,
    "random_state": _integer(0).or_null,
    "scoring": _STRING.or_null,
    "tol": _between(0, _LARGEST),
    "validation_fraction": Requirement(
        "a number in (0, 1) or an integer from 1",
        lambda v: is_real(v) and (0 < v < 1 or (type(v) is int and v >= 1)),
    ).or_null,
    "verbose": Requirement("an integer, true or false", lambda v: isinstance(v, int)),
    "warm_start": Requirement("true or false", lambda v: v in (True, False)),
}
