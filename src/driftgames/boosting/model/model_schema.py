"""The schema of a model file: one requirement for each member, as docs/model_format.md says.

A member of a member has a dotted name, such as ``stumps.feature``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.choice import CHOSEN, CHOSEN_NUMBERS, OUTCOMES
from driftgames.boosting.model.training_record import COLUMNS
from driftgames.core.checks import is_real
from driftgames.core.schema import (
    LARGEST,
    LIST,
    NULL,
    SHARE,
    STRING,
    Requirement,
    between,
    dotted,
    integer,
    list_of,
    one_of,
)
from driftgames.core.typing import Content

_MOST_FEATURES = 2**31 - 1  # what the stumps' feature numbers can hold
_MOST_BYTES = 2**20  # of a label: a file must not ask for more memory than it is long


def check_model(
    content: Content, estimators: Mapping[str, Mapping[str, Requirement]], left_out: Iterable[str]
) -> None:
    """Raise `ValueError` for the first member of a model that is missing, unknown or wrong.

    ``estimators`` gives the parameters of each class that a file can hold. Those that are
    ``left_out`` need not be there.
    """
    members = dotted(content)
    # the other requirements depend on these
    one_of(*estimators).check("estimator", members.get("estimator"))
    _FEATURES.check("n_features_in", members.get("n_features_in"))
    if "categories" in members:
        list_of(members["n_features_in"], _CATEGORIES).check("categories", members["categories"])
    for name in ("trees.n_nodes", "trees.feature") if "trees" in content else ("stumps.feature",):
        LIST.check(name, members.get(name))
    parameters = estimators[members["estimator"]]
    schema = _schema(members) | {f"parameters.{name}": rule for name, rule in parameters.items()}
    optional = {
        "categories",
        "calibration.class_intercepts",
        *_CHOICE,
        *(f"parameters.{name}" for name in left_out),
    }
    for name in schema:
        if name not in members and name not in optional:
            raise ValueError(f"{name} is missing")
    for name, value in members.items():
        if name not in schema:
            raise ValueError(f"{name} is not a member of such a model")
        schema[name].check(name, value)
    if "chosen" in content:
        _check_chosen(members)
    if "members" in content or "mean_error" in content:
        _check_members(members)


def _check_chosen(members: dict[str, Any]) -> None:
    """Raise ValueError unless one trial of a table was chosen, and the numbers are those of it."""
    for name in ("trials", *CHOSEN_NUMBERS):
        if f"chosen.{name}" not in members:
            raise ValueError(f"chosen.{name} is missing")
    won = [trial[:2] for trial in members["chosen.trials"] if trial[4] == CHOSEN]
    size = [members["chosen.max_leaves"], members["chosen.n_estimators"]]
    if won != [size]:
        raise ValueError(f"chosen.trials must have one chosen trial, that of {size}; got {won}")


def _check_members(members: dict[str, Any]) -> None:
    """Raise ValueError unless members make up the rounds and have seen the examples of a mean."""
    for name in ("members", "mean_error"):
        if name not in members:
            raise ValueError(f"{name} is missing")
    boosters = members["members"]
    n_rounds = len(members["estimator_weights"])
    if sum(each[0] for each in boosters) != n_rounds or not n_rounds:
        raise ValueError(f"members must have {n_rounds} rounds in all, at least 1; got {boosters}")
    n_folds = 1 + max(each[2] for each in boosters)
    folds = [each[2] for each in boosters]
    if folds != [k % n_folds for k in range(len(boosters))] or len(boosters) % n_folds:
        raise ValueError(f"members must have the folds 0, 1, ... in turn; got {folds}")
    if n_folds == 1 < len(boosters):
        raise ValueError(f"members must be of two folds or more, or one; got {boosters}")
    # every example is held out once, but for a single member, which tells what it has seen
    n_classes = len(members["classes.values"])
    copies = 1 if n_classes == 2 else 2 * (n_classes - 1)
    seen = copies * sum(each[1] for each in boosters[:n_folds])
    mass = max(n_folds - 1, 1) * sum(members["margins.masses"])
    if seen != mass:
        raise ValueError(
            f"members must have seen the examples of margins.masses, {mass} in all; got {seen}"
        )


def _schema(members: dict[str, Any]) -> dict[str, Requirement]:
    """Return the requirements on all members but the parameters."""
    n_features, labels = members["n_features_in"], members.get("classes.values")
    n_classes = len(labels) if isinstance(labels, list) else 2
    n_columns = n_features  # that stumps and trees may ask about
    if "categories" in members:
        n_columns = CategoryEncoder.decode(members["categories"]).n_columns
    if "trees.n_nodes" in members:
        n_rounds, n_nodes = len(members["trees.n_nodes"]), len(members["trees.feature"])
        hypotheses = _tree_schema(n_rounds, n_nodes, n_columns, n_classes)
    else:
        if n_classes > 2:  # stumps have one vote
            list_of(0, LABEL).check("stumps.feature", members["stumps.feature"])
        n_rounds = len(members["stumps.feature"])
        hypotheses = {
            "stumps.feature": list_of(n_rounds, integer(0, n_columns - 1)),
            "stumps.threshold": list_of(n_rounds, _THRESHOLD),
            "stumps.left_vote": list_of(n_rounds, one_of(1, -1)),
            "stumps.missing_vote": list_of(n_rounds, one_of(1, -1)),
        }
    margins = members.get("margins.values")
    n_margins = len(margins) if isinstance(margins, list) else 0
    weighed = members["estimator"] == "AdaBoostClassifier" or "members" in members
    vote_weight = _WEIGHT if weighed else _UNIT
    return {
        "estimator": STRING,
        "classes.dtype": _LABEL_TYPE,
        "classes.values": _LABELS,
        "n_features_in": _FEATURES,
        "feature_names_in": list_of(n_features, STRING).or_null,
        "categories": list_of(n_features, _CATEGORIES),
        **hypotheses,
        "estimator_weights": list_of(n_rounds, vote_weight),
        **{f"history.{name}": list_of(n_rounds, SHARE) for name in COLUMNS},
        "history.edge": list_of(n_rounds, _EDGE),
        "ended_early": one_of(True, False),
        **_CHOICE,
        "default_vote": list_of(1 if n_classes == 2 else n_classes, between(-1, 1)),
        **({"calibration": NULL} if "calibration" in members else _SIGMOID),
        "calibration.class_intercepts": list_of(n_classes, _SIGMOID["calibration.intercept"]),
        **(
            {"margins.values": _MARGINS, "margins.masses": _masses(n_margins)}
            if n_rounds
            else {"margins": NULL}
        ),
    }


def _masses(n_margins: int) -> Requirement:
    """Require as many masses as margins; an int64 holds their sum."""
    masses = list_of(n_margins, integer(1))
    return Requirement(
        f"{masses.words} with a sum below 2**62",
        lambda v: masses.allows(v) and sum(each for each in v if type(each) is int) < 2**62,
        masses.entry,
    )


def _tree_schema(
    n_rounds: int, n_nodes: int, n_columns: int, n_classes: int
) -> dict[str, Requirement]:
    """Return the requirements on each node; `Trees` checks that nodes make up trees."""
    return {
        "trees.n_nodes": list_of(n_rounds, integer(1, n_nodes)),
        "trees.feature": list_of(n_nodes, integer(-1, n_columns - 1)),
        "trees.threshold": list_of(n_nodes, _THRESHOLD),
        "trees.missing_left": list_of(n_nodes, one_of(0, 1)),
        "trees.left": list_of(n_nodes, integer(0, n_nodes)),
        "trees.vote": list_of(n_nodes, one_of(0, 1, -1) if n_classes == 2 else _votes(n_classes)),
        "trees.gain": list_of(n_nodes, SHARE),
    }


def _votes(n_classes: int) -> Requirement:
    """Return the requirement on the vote of a node where there are more than two classes."""
    question, votes = one_of(0), list_of(n_classes, one_of(1, -1))
    return Requirement(
        f"0 or {votes.words} votes of 1 or -1",
        lambda v: question.allows(v) or (votes.allows(v) and all(map(one_of(1, -1).allows, v))),
    )


def _is_label_type(value: Any) -> bool:
    try:
        dtype = np.dtype(value)
    except TypeError:
        return False
    return isinstance(value, str) and dtype.kind in "biufUO" and dtype.itemsize <= _MOST_BYTES


def _is_ascending(value: Any) -> bool:
    if not isinstance(value, list) or not value or not all(map(is_real, value)):
        return False
    return value[0] >= -1 and value[-1] <= 1 and all(x < y for x, y in pairwise(value))


def _is_category_column(value: Any) -> bool:
    """Whether the types are right; `CategoryColumn` checks what values and ranks must be."""
    if not isinstance(value, dict) or set(value) - {"ordered"} != {"values", "missing", "ranks"}:
        return False
    if value.get("ordered", True) is not True:
        return False
    lists = [value["values"], value["ranks"], *(value["ranks"] or ())]
    if not all(isinstance(each, list) for each in lists):
        return False
    return (
        all(isinstance(each, str | bool) or is_real(each) for each in value["values"])
        and type(value["missing"]) is bool
        and all(type(rank) is int for ranks in value["ranks"] for rank in ranks)
    )


LABEL = Requirement("a number, a string, true or false", lambda v: isinstance(v, (int, float, str)))
_LABELS = Requirement(
    "a list of two labels or more", lambda v: isinstance(v, list) and len(v) > 1, LABEL
)
_LABEL_TYPE = Requirement("the NumPy type of numbers or of strings", _is_label_type)
_FEATURES = integer(1, _MOST_FEATURES)
_MARGINS = Requirement("a list of ascending numbers in [-1, 1]", _is_ascending)
_TRIAL = Requirement(
    "a list of leaves, rounds, log-loss, standard error and outcome",
    lambda v: (
        isinstance(v, list)
        and len(v) == 5
        and all(type(each) is int and each >= 0 for each in v[:2])
        and all(is_real(each) and 0 <= each <= LARGEST for each in v[2:4])
        and v[4] in OUTCOMES
    ),
)
_COUNTS = integer(0)
_HELD_OUT = Requirement(
    "a number of examples from 1 to 2**40, and how many of them were wrong",
    lambda v: (
        isinstance(v, list)
        and len(v) == 2
        and all(type(each) is int for each in v)
        and 0 <= v[1] <= v[0] <= 2**40
        and v[0] > 0
    ),
)
_LOSSES = Requirement(
    "a mean log-loss up to 5, and pairs of a level up to 255, ascending, and a number of examples",
    lambda v: (
        isinstance(v, list)
        and len(v) == 2
        and is_real(v[0])
        and 0 <= v[0] <= 5
        and isinstance(v[1], list)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in v[1])
        and all(type(each) is int for pair in v[1] for each in pair)
        and all(0 <= level <= 255 and 0 < n <= 2**40 for level, n in v[1])
        and all(one[0] < other[0] for one, other in pairwise(v[1]))
    ),
)
_CHOICE = {
    **{f"chosen.{name}": _COUNTS for name in CHOSEN_NUMBERS},
    "chosen.trials": Requirement("a list of trials", LIST.allows, _TRIAL),
    "held_out": Requirement("a list of pairs", LIST.allows, _HELD_OUT),
    "held_out_losses": Requirement("a list of losses", LIST.allows, _LOSSES),
    "members": Requirement("a list of members", LIST.allows, list_of(3, _COUNTS)),
    "held_out_rules": integer(0, 2**30),
    "mean_error": SHARE,
}
_EDGE = Requirement("a number in (0, 0.5]", lambda v: is_real(v) and 0 < v <= 0.5)
_UNIT = Requirement("1", lambda v: is_real(v) and v == 1)
_WEIGHT = Requirement("a number in (0, 2**53]", lambda v: is_real(v) and 0 < v <= 2**53)
_THRESHOLD = Requirement(
    'a finite number or "inf"',
    lambda v: v == "inf" or (is_real(v) and -LARGEST <= v <= LARGEST),
)
_CATEGORIES = Requirement("an object of values, missing and ranks", _is_category_column).or_null
_SIGMOID = {
    "calibration.slope": between(0, LARGEST),
    "calibration.intercept": between(-LARGEST, LARGEST),
}
