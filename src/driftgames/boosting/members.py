"""What every member of a model file must be: one table of rules, and the walk that applies it.

A member of a member has a dotted name, such as ``stumps.feature``. The table is what
``docs/model_format.md`` says in words.
"""

from __future__ import annotations

import json
import reprlib
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.boosting.binning import MOST_BINS
from driftgames.boosting.rounds import COLUMNS
from driftgames.core.checks import is_real
from driftgames.core.typing import Content

_LARGEST = sys.float_info.max
_MOST_FEATURES = 2**31 - 1  # what the stumps' feature numbers can hold
_MOST_BYTES = 2**20  # of a label: a file must not ask for more memory than it is long


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and as a test; for a list, also what each entry must be."""

    words: str
    allows: Callable[[Any], bool]
    entry: Rule | None = None

    def check(self, name: str, value: Any) -> None:
        """Name a value that breaks the rule, or the first entry of a list that does."""
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.words}; got {reprlib.repr(value)}")
        if self.entry is not None and value is not None:
            for i, each in enumerate(value):
                self.entry.check(f"{name}[{i}]", each)

    @property
    def or_null(self) -> Rule:
        """The rule that also allows no value."""
        return Rule(f"{self.words}, or null", lambda v: v is None or self.allows(v), self.entry)


def check_members(content: Content, estimators: dict[str, Iterable[str]]) -> None:
    """Raise `ValueError` for the first member of a model that is missing, unknown or wrong.

    ``estimators`` gives the names of the parameters of each class that a file can hold.
    """
    members = _by_name(content)
    # what the other rules hang on comes first
    _one_of(*estimators).check("estimator", members.get("estimator"))
    _FEATURES.check("n_features_in", members.get("n_features_in"))
    _LIST.check("stumps.feature", members.get("stumps.feature"))
    parameters = estimators[members["estimator"]]
    rules = _rules(members) | {f"parameters.{name}": _PARAMETERS[name] for name in parameters}
    for name in rules:
        if name not in members:
            raise ValueError(f"{name} is missing")
    for name, value in members.items():
        if name not in rules:
            raise ValueError(f"{name} is not a member of such a model")
        rules[name].check(name, value)


def _by_name(content: Content) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            members |= {f"{name}.{part}": each for part, each in value.items()}
        else:
            members[name] = value
    return members


def _rules(members: dict[str, Any]) -> dict[str, Rule]:
    """Return the rules of a model of so many features and rounds; parameters are apart."""
    n_features, n_rounds = members["n_features_in"], len(members["stumps.feature"])
    thetas = members.get("certificate.thetas")
    n_thetas = len(thetas) if isinstance(thetas, list) else 0
    vote_weight = _WEIGHT if members["estimator"] == "AdaBoostClassifier" else _UNIT
    rules = {
        "estimator": _STRING,
        "classes.dtype": _LABEL_TYPE,
        "classes.values": _list(2, _LABEL),
        "n_features_in": _FEATURES,
        "feature_names_in": _list(n_features, _STRING).or_null,
        "stumps.feature": _list(n_rounds, _whole(0, n_features - 1)),
        "stumps.threshold": _list(n_rounds, _THRESHOLD),
        "stumps.left_vote": _list(n_rounds, _one_of(1, -1)),
        "stumps.missing_vote": _list(n_rounds, _one_of(1, -1)),
        "estimator_weights": _list(n_rounds, vote_weight),
        **{f"history.{name}": _list(n_rounds, _SHARE) for name in COLUMNS},
        "history.edge": _list(n_rounds, _EDGE),
        "ended_early": _one_of(True, False),
    }
    if n_rounds == 0:
        return rules | {"certificate": _NULL}
    return rules | {
        "certificate.title": _STRING,
        "certificate.n_rounds": _one_of(n_rounds),
        "certificate.thetas": Rule(_LIST.words, _LIST.allows, _between(-1, 1)),
        "certificate.realised": _list(n_thetas, _SHARE),
        "certificate.promised": _list(n_thetas, _SHARE),
        "certificate.training_error": _SHARE,
        "certificate.error_bound": _SHARE,
        "certificate.caveat": _STRING,
    }


def _one_of(*values: Any) -> Rule:
    kinds = {type(value) for value in values}  # JSON's true is not its 1
    words = " or ".join(json.dumps(value) for value in values)
    return Rule(words, lambda v: type(v) in kinds and v in values)


def _whole(low: int, high: int | None = None) -> Rule:
    words = f"a whole number from {low}" + ("" if high is None else f" to {high}")
    return Rule(words, lambda v: type(v) is int and low <= v and (high is None or v <= high))


def _between(low: float, high: float) -> Rule:
    return Rule(f"a number in [{low}, {high}]", lambda v: is_real(v) and low <= v <= high)


def _list(length: int, entry: Rule) -> Rule:
    return Rule(f"a list of {length}", lambda v: isinstance(v, list) and len(v) == length, entry)


def _is_label_type(value: Any) -> bool:
    try:
        dtype = np.dtype(value)
    except TypeError:
        return False
    return isinstance(value, str) and dtype.kind in "biufUO" and dtype.itemsize <= _MOST_BYTES


_LIST = Rule("a list", lambda v: isinstance(v, list))
_NULL = Rule("null", lambda v: v is None)
_STRING = Rule("a string", lambda v: isinstance(v, str))
_LABEL = Rule("a number, a string, true or false", lambda v: isinstance(v, (int, float, str)))
_LABEL_TYPE = Rule("the NumPy type of numbers or of strings", _is_label_type)
_FEATURES = _whole(1, _MOST_FEATURES)
_SHARE = _between(0, 1)
_EDGE = Rule("a number in (0, 0.5]", lambda v: is_real(v) and 0 < v <= 0.5)
_UNIT = Rule("1", lambda v: is_real(v) and v == 1)
_WEIGHT = Rule("a number in (0, 2**53]", lambda v: is_real(v) and 0 < v <= 2**53)
_THRESHOLD = Rule(
    'a finite number or "inf"',
    lambda v: v == "inf" or (is_real(v) and -_LARGEST <= v <= _LARGEST),
)
_PARAMETERS = {
    "d": Rule("a finite number > 0", lambda v: is_real(v) and 0 < v <= _LARGEST),
    "edge": Rule("a number in (0, 0.5)", lambda v: is_real(v) and 0 < v < 0.5),
    "estimator": _NULL,
    "horizon": _whole(1).or_null,
    "max_bins": _whole(2, MOST_BINS),
    "n_estimators": _whole(1),
    "n_jobs": Rule("a whole number other than 0", lambda v: type(v) is int and v != 0).or_null,
    "potential": Rule("a potential", lambda v: isinstance(v, dict)).or_null,
    "random_state": _whole(0).or_null,
    "verbose": Rule("a whole number, true or false", lambda v: isinstance(v, int)),
    "warm_start": Rule("true or false", lambda v: v in (True, False)),
}
